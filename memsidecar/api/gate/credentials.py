"""From what a call brings to who calls: a bearer token, else the certificate of the connection."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from memsidecar.access.policy import ANYBODY, AccessPolicy, Caller, CertificateName, NameKind
from memsidecar.api.interceptors import Context
from memsidecar.domain.errors import BadCredentials

HEADER = "authorization"
_SCHEME = "bearer "
# As gRPC calls the names in a certificate that it has verified.
_NAMES = (("peer_uri", NameKind.URI), ("peer_dns", NameKind.DNS))


@dataclass(frozen=True)
class Credentials:
    """`policy` is asked anew at every call, because the access file may have changed; None: everybody may come in."""

    policy: Callable[[], AccessPolicy] | None

    def caller(self, context: Context) -> Caller:
        """Raises BadCredentials. A token that is not good is not made good by a certificate."""
        if self.policy is None:
            return ANYBODY
        policy, header = self.policy(), _header(context)
        if header is None:
            caller = policy.by_certificate(_certificate_names(context))
        else:
            caller = policy.by_token(_bearer(header), datetime.now(UTC))
        if caller is None:
            raise BadCredentials()
        return caller


def _header(context: Context) -> str | None:
    found = [value for key, value in context.invocation_metadata() or () if key == HEADER]
    if not found:
        return None
    return found[0] if len(found) == 1 and isinstance(found[0], str) else ""


def _bearer(header: str) -> str:
    return header[len(_SCHEME) :].strip() if header[: len(_SCHEME)].lower() == _SCHEME else ""


def _certificate_names(context: Context) -> Iterator[CertificateName]:
    shown = context.auth_context()
    for key, kind in _NAMES:
        for name in shown.get(key, ()):
            text = name.decode("utf-8", "replace")
            yield CertificateName(kind, text.lower() if kind is NameKind.DNS else text)
