"""AccessPolicy, Role, Caller, TenantQuota."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import IntEnum, StrEnum
from typing import NamedTuple

from memsidecar.access import bearer_token
from memsidecar.domain.quota import NO_QUOTA, Quota

EVERY_NAMESPACE = "*"

_DUMMY_HASH = bearer_token.Token("nobody", "nobody").hash


class AccessRole(IntEnum):
    """Each includes those before it."""

    READ = 1
    WRITE = 2
    ADMIN = 3


ROLE_NAMES = tuple(role.name.lower() for role in AccessRole)


@dataclass(frozen=True)
class Caller:
    """Somebody whose credentials are good. `name` is for the audit log; two may share it while one is rotated."""

    name: str
    role: AccessRole
    namespaces: frozenset[str]

    def may_access(self, namespace: str) -> bool:
        return namespace in self.namespaces or EVERY_NAMESPACE in self.namespaces


ANONYMOUS = Caller("anybody", AccessRole.ADMIN, frozenset({EVERY_NAMESPACE}))
"Who calls where no access file is configured: whoever reaches the address."


@dataclass(frozen=True)
class NamespaceLimits:
    """`calls_per_second` may be passed for a moment, by what a second brings; 0: no limit."""

    calls_per_second: float = 0.0
    quota: Quota = NO_QUOTA


class NameKind(StrEnum):
    """Kept apart, because an authority that checks DNS names need not check what looks like a URI in one."""

    URI = "uri"
    DNS = "dns"


class CertificateName(NamedTuple):
    kind: NameKind
    name: str


@dataclass(frozen=True)
class StoredToken:
    id: str
    hash: str
    caller: Caller
    expires: datetime | None = None


@dataclass(frozen=True)
class AccessPolicy:
    tokens: Mapping[str, StoredToken] = field(default_factory=dict)
    certificates: Mapping[CertificateName, Caller] = field(default_factory=dict)
    namespace_limits: Mapping[str, NamespaceLimits] = field(default_factory=dict)

    @property
    def is_empty(self) -> bool:
        """A start with it is a mistake; while running, it is how the last token is taken back."""
        return not self.tokens and not self.certificates

    def by_token(self, text: str, now: datetime) -> Caller | None:
        """Whose token it is; None for one that is unknown, wrong or expired, which takes as long as a good one."""
        token = bearer_token.read_token(text) or bearer_token.Token("", text)
        known = self.tokens.get(token.id)
        right = bearer_token.matches(token, known.hash if known else _DUMMY_HASH)
        if known is None or not right or (known.expires is not None and known.expires <= now):
            return None
        return known.caller

    def by_certificate(self, names: Iterable[CertificateName]) -> Caller | None:
        """Whose certificate it is: the first of its names that is known."""
        return next((self.certificates[name] for name in names if name in self.certificates), None)
