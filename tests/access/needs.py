"""Which role each RPC needs, written down a second time: a slip in the gate's own table shows as a difference."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from google.protobuf.message import Message as Proto

from memsidecar.access.policy import Role
from memsidecar.v1.message_pb2 import SCOPE_NAMESPACE, SCOPE_SESSION
from tests.access.calling import SESSION, minimal

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
NEEDED: dict[str, Role] = {
    **dict.fromkeys(READING.split(), Role.READ),
    **dict.fromkeys(WRITING.split(), Role.WRITE),
    **dict.fromkeys(ERASING.split(), Role.ADMIN),
}


@dataclass(frozen=True)
class Case:
    """An RPC, a way to ask for it, and who may."""

    method: str
    needed: Role
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
        yield Case(method, Role.ADMIN, "of all users")
        yield Case(method, Role.READ, "of the session")
    yield Case("SetPolicy", Role.ADMIN, "of all sessions")


CASES = list(cases())
