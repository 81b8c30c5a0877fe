"""Authentication of a call, and the role that each RPC requires."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from memsidecar.access.policy import ANONYMOUS, AccessPolicy, AccessRole, Caller, CertificateName, NameKind
from memsidecar.api.interceptors.call import Context
from memsidecar.domain.errors import Unauthenticated
from memsidecar.v1.message_pb2 import Scope

HEADER = "authorization"
_SCHEME = "bearer "
# Keys under which gRPC's auth context holds the names of a verified certificate.
_CERTIFICATE_KEYS = (("peer_uri", NameKind.URI), ("peer_dns", NameKind.DNS))

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
    "ListUsers": _READ,
    "GetUsage": _READ,
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
    """Finds the caller of a call by its bearer token or its client certificate."""

    policy: Callable[[], AccessPolicy] | None
    "Returns the current policy, which changes with the access file. None: no access file, every call is anonymous."

    def authenticate(self, context: Context) -> Caller:
        """Return the caller, or raise Unauthenticated. An invalid token is not outweighed by a valid certificate."""
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
    """Return the authorization header; None without one, and empty for several or a binary one."""
    values = [value for key, value in context.invocation_metadata() or () if key == HEADER]
    if not values:
        return None
    return values[0] if len(values) == 1 and isinstance(values[0], str) else ""


def _bearer(header: str) -> str:
    return header[len(_SCHEME) :].strip() if header[: len(_SCHEME)].lower() == _SCHEME else ""


def _certificate_names(context: Context) -> Iterator[CertificateName]:
    auth_context = context.auth_context()
    for key, kind in _CERTIFICATE_KEYS:
        for name in auth_context.get(key, ()):
            text = name.decode("utf-8", "replace")
            yield CertificateName(kind, text.lower() if kind is NameKind.DNS else text)


def required_role(method: str, request: Any) -> AccessRole:
    """Return the RPC's role, or a higher one for a request that stores, erases or concerns the whole namespace."""
    if method == "GetPatterns" and request.refresh:
        return _WRITE
    if method == "SetPolicy" and request.policy.HasField("retention"):
        return _ADMIN  # it erases
    return _ADMIN if _concerns_whole_namespace(method, request) else ROLES[method]


def _concerns_whole_namespace(method: str, request: Any) -> bool:
    if method in ("Search", "BuildContext"):
        return bool(request.scope == Scope.SCOPE_NAMESPACE)
    # Without a session, the policy applies to all sessions of the namespace that have none of their own.
    return method == "SetPolicy" and not request.session_id
