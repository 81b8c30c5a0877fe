"""Which role each RPC needs, written down a second time: a slip in the gate's own table shows as a difference."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from google.protobuf.message import Message as Proto

from memsidecar.access.policy import AccessRole
from memsidecar.v1.message_pb2 import SCOPE_NAMESPACE, SCOPE_SESSION
from tests.access.calls import SESSION, minimal

READING = (
    "GetAll GetRecent GetByRole Search Count BuildContext ListSessions GetSession Watch ListFacts ListArtifacts "
    "ListDocuments SearchDocuments GetSummary GetPatterns"
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
    """An RPC, a way to ask for it, and who may."""

    method: str
    needed: AccessRole
    how: str = ""

    def __str__(self) -> str:
        return f"{self.method} {self.how}".strip()

    def request(self, namespace: str, session_id: str = SESSION) -> Proto:
        request: Any = minimal(self.method, namespace, session_id)
        if self.how == "of all users":
            request.scope = SCOPE_NAMESPACE
        elif self.how == "of the session":
            request.scope = SCOPE_SESSION
        elif self.how == "of all sessions":
            request.ClearField("session_id")
        return request  # type: ignore[no-any-return]


def cases() -> Iterator[Case]:
    for method, needed in NEEDED.items():
        yield Case(method, needed)
    for method in ("Search", "BuildContext"):
        yield Case(method, AccessRole.ADMIN, "of all users")
        yield Case(method, AccessRole.READ, "of the session")
    yield Case("SetPolicy", AccessRole.ADMIN, "of all sessions")


CASES = list(cases())
