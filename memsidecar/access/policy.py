"""Access policy: who may do what in which namespaces, and the limits of each namespace."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import IntEnum, StrEnum
from typing import NamedTuple

from memsidecar.access import bearer_token
from memsidecar.domain.quota import NO_QUOTA, Quota

EVERY_NAMESPACE = "*"

_DUMMY_HASH = bearer_token.Token("dummy", "dummy").hash


class AccessRole(IntEnum):
    """Each role includes the lower ones."""

    READ = 1
    WRITE = 2
    ADMIN = 3


ROLE_NAMES = tuple(role.name.lower() for role in AccessRole)


@dataclass(frozen=True)
class Caller:
    """An authenticated client. `name` is for the audit log; two tokens share it while one replaces the other."""

    name: str
    role: AccessRole
    namespaces: frozenset[str]

    def may_access(self, namespace: str) -> bool:
        return namespace in self.namespaces or EVERY_NAMESPACE in self.namespaces


ANONYMOUS = Caller("anonymous", AccessRole.ADMIN, frozenset({EVERY_NAMESPACE}))
"The caller of every call while no access file is configured."


class NameKind(StrEnum):
    """Kind of a name in a certificate. An authority that verifies DNS names need not verify URIs."""

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
class NamespaceLimits:
    """Limits of one namespace. `calls_per_second` allows a burst of one second of calls; 0 is no limit."""

    calls_per_second: float = 0.0
    quota: Quota = NO_QUOTA


@dataclass(frozen=True)
class AccessPolicy:
    """The contents of an access file."""

    tokens: Mapping[str, StoredToken] = field(default_factory=dict)
    certificates: Mapping[CertificateName, Caller] = field(default_factory=dict)
    namespace_limits: Mapping[str, NamespaceLimits] = field(default_factory=dict)

    @property
    def is_empty(self) -> bool:
        """True without any caller. An error at start; while the server runs, it revokes the last token."""
        return not self.tokens and not self.certificates

    def by_token(self, text: str, now: datetime) -> Caller | None:
        """Return the caller; None for an unknown, wrong or expired token, which takes as long as a valid one."""
        token = bearer_token.read_token(text) or bearer_token.Token("", text)
        stored = self.tokens.get(token.id)
        is_right = bearer_token.matches(token, stored.hash if stored else _DUMMY_HASH)
        if stored is None or not is_right or (stored.expires is not None and stored.expires <= now):
            return None
        return stored.caller

    def by_certificate(self, names: Iterable[CertificateName]) -> Caller | None:
        """Return the caller of the first known name."""
        return next((self.certificates[name] for name in names if name in self.certificates), None)


class LimitTable:
    """The limits of every namespace: those of the access file where it has any, else the default.

    Read from any thread. `replace` swaps in the limits of a reloaded access file.
    """

    def __init__(self, default: NamespaceLimits, by_namespace: Mapping[str, NamespaceLimits] | None = None) -> None:
        self._default = default
        self._by_namespace = by_namespace or {}

    def of(self, namespace: str) -> NamespaceLimits:
        return self._by_namespace.get(namespace, self._default)

    def quota(self, namespace: str) -> Quota:
        return self.of(namespace).quota

    def replace(self, by_namespace: Mapping[str, NamespaceLimits]) -> None:
        self._by_namespace = by_namespace
