"""A session that no test of this folder may change, and a monitor that checks it."""

from collections.abc import Iterator

import pytest
from google.protobuf.message import Message as Proto

from memsidecar.v1 import knowledge_pb2 as knowledge
from memsidecar.v1 import memory_pb2 as memory
from memsidecar.v1 import session_pb2 as session
from memsidecar.v1.message_pb2 import ROLE_ASSISTANT, ROLE_TOOL
from tests.bad_input.rpcs import KNOWN_MESSAGE, WATCHED, calls, send, valid_request
from tests.scenarios.index_readiness import until_index_is_ready
from tests.support.comparable import without_watermarks
from tests.support.process import Client, SidecarProcess


@pytest.fixture(scope="module")
def sidecar(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SidecarProcess]:
    """Start a sidecar with an index in RAM, and with the estimating tokenizer, because requests have megabytes."""
    data_dir = tmp_path_factory.mktemp("sidecar") / "data"
    with SidecarProcess(data_dir, "--index", "volatile", "--tokenizer", "chars4") as running:
        until_index_is_ready(running)
        yield running


@pytest.fixture(scope="module")
def connected(sidecar: SidecarProcess) -> Iterator[Client]:
    """Connect once for a module, because its tests are many and short."""
    with sidecar.client() as client:
        client.add(WATCHED, "hello", id=KNOWN_MESSAGE, user_id="watcher")
        client.add(WATCHED, "", role=ROLE_ASSISTANT, tool_calls=calls(1))
        client.add(WATCHED, "done", role=ROLE_TOOL, tool_call_id="call-0")
        client.add(WATCHED, "hello again")
        for name in ("PutDocument", "PutFacts", "PutArtifact"):
            send(client, name, valid_request(name))
        yield client


class Watch:
    """Compare the watched session, its knowledge, the documents of the namespace and all sessions, byte by byte.

    A response also shows that the sidecar runs.
    """

    def __init__(self, client: Client) -> None:
        self._client = client
        self._seen = self._read_all()

    @property
    def messages(self) -> bytes:
        """Return the watched session only; other sessions and the policy of the namespace may change."""
        request = memory.GetAllRequest(session_id=WATCHED, include_pruned=True)
        answer: Proto = self._client.memory.GetAll(request)
        return answer.SerializeToString(deterministic=True)

    def accept_changes(self) -> None:
        """Accept all changes until now."""
        self._seen = self._read_all()

    def is_unchanged(self) -> bool:
        """Return whether nothing changed since the last read."""
        before, self._seen = self._seen, self._read_all()
        return self._seen == before

    def _read_all(self) -> tuple[bytes, ...]:
        request = memory.GetAllRequest(session_id=WATCHED, include_pruned=True)
        answers: tuple[Proto, ...] = (
            self._client.memory.Count(memory.CountRequest(session_id=WATCHED)),
            self._client.memory.GetAll(request),
            *self._sessions(),
            send(self._client, "ListDocuments", knowledge.ListDocumentsRequest(session_id=WATCHED)),
            send(self._client, "ListDocuments", knowledge.ListDocumentsRequest()),
            send(self._client, "ListFacts", knowledge.ListFactsRequest(session_id=WATCHED, include_history=True)),
            send(self._client, "ListArtifacts", knowledge.ListArtifactsRequest(session_id=WATCHED)),
            send(self._client, "GetSummary", knowledge.GetSummaryRequest(session_id=WATCHED)),
            send(self._client, "GetPatterns", knowledge.GetPatternsRequest(session_id=WATCHED)),
        )
        return tuple(answer.SerializeToString(deterministic=True) for answer in answers)

    def _sessions(self) -> list[Proto]:
        watched = self._client.sessions.GetSession(session.GetSessionRequest(session_id=WATCHED)).session
        listed = self._client.sessions.ListSessions(session.ListSessionsRequest(page_size=1000))
        return [without_watermarks(each) for each in (watched, *listed.sessions)]


@pytest.fixture(scope="module")
def watch(connected: Client) -> Watch:
    return Watch(connected)
