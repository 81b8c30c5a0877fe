"""What the access file says, ready to be asked at every call."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from memsidecar.access import secret
from memsidecar.access.allowance import Allowance
from memsidecar.access.rights import Caller

_NOBODYS_HASH = secret.Token("nobody", "nobody").hash


class NameKind(StrEnum):
    """Kept apart, because an authority that checks DNS names need not check what looks like a URI in one."""

    URI = "uri"
    DNS = "dns"


class CertificateName(NamedTuple):
    kind: NameKind
    name: str


@dataclass(frozen=True)
class KnownToken:
    id: str
    hash: str
    caller: Caller
    expires: datetime | None = None


@dataclass(frozen=True)
class AccessPolicy:
    tokens: Mapping[str, KnownToken] = field(default_factory=dict)
    certificates: Mapping[CertificateName, Caller] = field(default_factory=dict)
    allowances: Mapping[str, Allowance] = field(default_factory=dict)

    @property
    def lets_nobody_in(self) -> bool:
        """A start with it is a mistake; while running, it is how the last token is taken back."""
        return not self.tokens and not self.certificates

    def by_token(self, text: str, now: datetime) -> Caller | None:
        """Whose token it is; None for one that is unknown, wrong or expired, which takes as long as a good one."""
        token = secret.read_token(text) or secret.Token("", text)
        known = self.tokens.get(token.id)
        right = secret.matches(token, known.hash if known else _NOBODYS_HASH)
        if known is None or not right or (known.expires is not None and known.expires <= now):
            return None
        return known.caller

    def by_certificate(self, names: Iterable[CertificateName]) -> Caller | None:
        """Whose certificate it is: the first of its names that is known."""
        return next((self.certificates[name] for name in names if name in self.certificates), None)
