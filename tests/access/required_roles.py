"""The role that each RPC needs, stated independently of the table under test."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from google.protobuf.message import Message as Proto

from memsidecar.access.policy import AccessRole
from memsidecar.v1.message_pb2 import SCOPE_NAMESPACE, SCOPE_SESSION
from tests.access.calls import SESSION, minimal

READING = (
    "GetAll GetRecent GetByRole Search Count BuildContext ListSessions GetSession ListUsers GetUsage Watch ListFacts "
    "ListArtifacts ListDocuments SearchDocuments GetSummary GetPatterns"
)
WRITING = (
    "Add AddBatch AddStream StoreInteraction Annotate ReportUsage Prune SetPolicy PutFacts PutArtifact PutDocument "
    "Summarize"
)
ERASING = (
    "Clear DeleteSession DeleteFact DeleteArtifact DeleteDocument ForgetMessage ForgetUser "
    "Export Import"  # all that a namespace holds, out or in
)
NEEDED: dict[str, AccessRole] = {
    **dict.fromkeys(READING.split(), AccessRole.READ),
    **dict.fromkeys(WRITING.split(), AccessRole.WRITE),
    **dict.fromkeys(ERASING.split(), AccessRole.ADMIN),
}


@dataclass(frozen=True)
class Case:
    """An RPC, a variant of its request, and the role that it needs."""

    method: str
    needed: AccessRole
    variant: str = ""

    def __str__(self) -> str:
        return f"{self.method} {self.variant}".strip()

    def request(self, namespace: str, session_id: str = SESSION) -> Proto:
        request: Any = minimal(self.method, namespace, session_id)
        if self.variant == "of all users":
            request.scope = SCOPE_NAMESPACE
        elif self.variant == "of the session":
            request.scope = SCOPE_SESSION
        elif self.variant == "of all sessions":
            request.ClearField("session_id")
        elif self.variant == "with a retention":
            request.session_id += " retained"  # the others' policy is replaced without the role admin
            request.policy.retention.SetInParent()
        return request  # type: ignore[no-any-return]


def cases() -> Iterator[Case]:
    for method, needed in NEEDED.items():
        yield Case(method, needed)
    for method in ("Search", "BuildContext"):
        yield Case(method, AccessRole.ADMIN, "of all users")
        yield Case(method, AccessRole.READ, "of the session")
    yield Case("SetPolicy", AccessRole.ADMIN, "of all sessions")
    yield Case("SetPolicy", AccessRole.ADMIN, "with a retention")


CASES = list(cases())
