"""Authentication; role required by each RPC."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from memsidecar.access.policy import ANONYMOUS, AccessPolicy, AccessRole, Caller, CertificateName, NameKind
from memsidecar.api.interceptors import Context
from memsidecar.domain.errors import Unauthenticated
from memsidecar.v1.message_pb2 import Scope

HEADER = "authorization"
_SCHEME = "bearer "
# As gRPC calls the names in a certificate that it has verified.
_NAMES = (("peer_uri", NameKind.URI), ("peer_dns", NameKind.DNS))

_READ, _WRITE, _ADMIN = AccessRole.READ, AccessRole.WRITE, AccessRole.ADMIN

ROLES: dict[str, AccessRole] = {
    "Add": _WRITE,
    "AddBatch": _WRITE,
    "AddStream": _WRITE,
    "StoreInteraction": _WRITE,
    "Annotate": _WRITE,
    "GetAll": _READ,
    "GetRecent": _READ,
    "GetByRole": _READ,
    "Search": _READ,
    "Count": _READ,
    "BuildContext": _READ,
    "ReportUsage": _WRITE,
    "Prune": _WRITE,
    "Clear": _ADMIN,
    "ListSessions": _READ,
    "GetSession": _READ,
    "SetPolicy": _WRITE,
    "DeleteSession": _ADMIN,
    "ForgetMessage": _ADMIN,
    "ForgetUser": _ADMIN,
    "Export": _ADMIN,
    "Import": _ADMIN,
    "Watch": _READ,
    "PutFacts": _WRITE,
    "ListFacts": _READ,
    "DeleteFact": _ADMIN,
    "PutArtifact": _WRITE,
    "ListArtifacts": _READ,
    "DeleteArtifact": _ADMIN,
    "PutDocument": _WRITE,
    "ListDocuments": _READ,
    "DeleteDocument": _ADMIN,
    "SearchDocuments": _READ,
    "GetSummary": _READ,
    "Summarize": _WRITE,
    "GetPatterns": _READ,
}


@dataclass(frozen=True)
class Authenticator:
    """`policy` is asked anew at every call, because the access file may have changed; None: everybody may come in."""

    policy: Callable[[], AccessPolicy] | None

    def authenticate(self, context: Context) -> Caller:
        """Raises BadCredentials. A token that is not good is not made good by a certificate."""
        if self.policy is None:
            return ANONYMOUS
        policy, header = self.policy(), _header(context)
        if header is None:
            caller = policy.by_certificate(_certificate_names(context))
        else:
            caller = policy.by_token(_bearer(header), datetime.now(UTC))
        if caller is None:
            raise Unauthenticated()
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


def required_role(method: str, request: Any) -> AccessRole:
    """More than the RPC's own where the request reaches for all users of the namespace at once, or stores something."""
    if method == "GetPatterns" and request.refresh:
        return _WRITE
    return _ADMIN if _is_for_everybody(method, request) else ROLES[method]


def _is_for_everybody(method: str, request: Any) -> bool:
    if method in ("Search", "BuildContext"):
        return bool(request.scope == Scope.SCOPE_NAMESPACE)
    # Without a session it is the policy of all sessions that have none of their own.
    return method == "SetPolicy" and not request.session_id
