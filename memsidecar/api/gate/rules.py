"""Which role each RPC needs. An RPC that is not listed here stops the server from starting."""

from typing import Any

from memsidecar.access.policy import Role
from memsidecar.v1.message_pb2 import Scope

_READ, _WRITE, _ADMIN = Role.READ, Role.WRITE, Role.ADMIN

ROLES: dict[str, Role] = {
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


def needed_role(method: str, request: Any) -> Role:
    """More than the RPC's own where the request reaches for all users of the namespace at once, or stores something."""
    if method == "GetPatterns" and request.refresh:
        return _WRITE
    return _ADMIN if _is_for_everybody(method, request) else ROLES[method]


def _is_for_everybody(method: str, request: Any) -> bool:
    if method in ("Search", "BuildContext"):
        return bool(request.scope == Scope.SCOPE_NAMESPACE)
    # Without a session it is the policy of all sessions that have none of their own.
    return method == "SetPolicy" and not request.session_id
