"""Credentials of a stream are checked again: for each request, and of an export about once a second."""

import queue
import time
from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from typing import Any, Self

import grpc
import pytest

from memsidecar.access.policy import AccessRole
from memsidecar.api.admission.admission import RECHECK_SECONDS
from memsidecar.v1 import memory_pb2 as memory
from memsidecar.v1.knowledge_pb2 import Artifact, PutArtifactRequest
from memsidecar.v1.message_pb2 import ROLE_USER, Message
from memsidecar.v1.session_pb2 import ExportRequest
from tests.access.access_files import Grant
from tests.access.calls import bearer
from tests.access.restricted_sidecar import RestrictedSidecar, restricted_sidecar
from tests.support.process import CALL_SECONDS, Refusal

HOME, AWAY = "home", "away"
KEEPER = Grant("keeper", ("*",), AccessRole.ADMIN)
EXPIRES_IN_SECONDS = 2.0
ARTIFACTS, TEXT = 24, "some text\n" * 100_000
_numbers = count()


@pytest.fixture(scope="module")
def restricted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RestrictedSidecar]:
    with restricted_sidecar(tmp_path_factory.mktemp("streams"), [KEEPER]) as opened:
        yield opened


@pytest.fixture
def session_id() -> str:
    return f"session {next(_numbers)}"


class OpenStream:
    """An AddStream whose messages are sent one by one."""

    def __init__(self, restricted: RestrictedSidecar, grant: Grant, session_id: str) -> None:
        self._session_id = session_id
        self._requests: queue.Queue[memory.AddStreamRequest | None] = queue.Queue()
        requests = iter(self._requests.get, None)
        self._answers = restricted.client.memory.AddStream(requests, metadata=bearer(grant.text), timeout=CALL_SECONDS)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._requests.put(None)
        self._answers.cancel()

    def send(self, content: str, namespace: str = HOME) -> None:
        message = Message(id=content, role=ROLE_USER, content=content)
        self._requests.put(memory.AddStreamRequest(namespace=namespace, session_id=self._session_id, message=message))

    def acknowledged(self) -> str:
        return str(next(self._answers).result.message_id)

    def send_and_wait(self, content: str) -> None:
        self.send(content)
        assert self.acknowledged() == content

    def end(self) -> tuple[grpc.StatusCode, str]:
        """Return the status of the stream, which must have ended."""
        with pytest.raises(grpc.RpcError) as refused:
            self.acknowledged()
        refusal = Refusal(refused.value)
        return refusal.code, refusal.reason


def stored(restricted: RestrictedSidecar, session_id: str, namespace: str = HOME) -> list[str]:
    request = memory.GetAllRequest(namespace=namespace, session_id=session_id)
    answer: Any = restricted.client.memory.GetAll(request, metadata=bearer(KEEPER.text), timeout=CALL_SECONDS)
    return [message.content for message in answer.messages]


UNAUTHENTICATED = (grpc.StatusCode.UNAUTHENTICATED, "UNAUTHENTICATED")
DENIED = (grpc.StatusCode.PERMISSION_DENIED, "PERMISSION_DENIED")


def test_a_token_that_expires_ends_its_stream(restricted: RestrictedSidecar, session_id: str) -> None:
    grant = Grant("guest", (HOME,))
    restricted.add_grants(grant)
    with OpenStream(restricted, grant, session_id) as stream:
        stream.send_and_wait("in time")
        restricted.change(grant, grant.expiring_in(EXPIRES_IN_SECONDS), lambda: not restricted.admits(grant))
        stream.send("too late")
        assert stream.end() == UNAUTHENTICATED
    assert stored(restricted, session_id) == ["in time"]


def test_a_revoked_token_ends_its_stream(restricted: RestrictedSidecar, session_id: str) -> None:
    grant = Grant("guest", (HOME,))
    restricted.add_grants(grant)
    with OpenStream(restricted, grant, session_id) as stream:
        stream.send_and_wait("while it was good")
        restricted.revoke(grant)
        stream.send("afterwards")
        assert stream.end() == UNAUTHENTICATED
    assert stored(restricted, session_id) == ["while it was good"]


def test_a_revoked_token_ends_its_export(restricted: RestrictedSidecar, session_id: str) -> None:
    grant = Grant("guest", (HOME,), AccessRole.ADMIN)
    restricted.add_grants(grant)
    for _ in range(ARTIFACTS):  # more than the transport takes while the client does not read
        request = PutArtifactRequest(namespace=HOME, session_id=session_id, artifact=Artifact(content=TEXT))
        restricted.client.knowledge.PutArtifact(request, metadata=bearer(KEEPER.text), timeout=CALL_SECONDS)
    export = ExportRequest(namespace=HOME, session_id=session_id)
    records = restricted.client.sessions.Export(export, metadata=bearer(grant.text), timeout=CALL_SECONDS)
    next(records)
    restricted.revoke(grant)
    time.sleep(RECHECK_SECONDS)
    with pytest.raises(grpc.RpcError) as refused:
        list(records)
    assert (Refusal(refused.value).code, Refusal(refused.value).reason) == UNAUTHENTICATED


def test_a_role_that_is_lowered_ends_a_stream_that_needs_more(restricted: RestrictedSidecar, session_id: str) -> None:
    grant = Grant("guest", (HOME,), AccessRole.WRITE)
    restricted.add_grants(grant)
    with OpenStream(restricted, grant, session_id) as stream:
        stream.send_and_wait("as a writer")
        reader = replace(grant, role=AccessRole.READ)
        restricted.change(
            grant, reader, lambda: restricted.ask("Add", HOME, grant).code is grpc.StatusCode.PERMISSION_DENIED
        )
        stream.send("as a reader")
        assert stream.end() == DENIED
    assert stored(restricted, session_id) == ["as a writer"]


def test_a_stream_continues_when_another_token_is_revoked(restricted: RestrictedSidecar, session_id: str) -> None:
    kept, other = Grant("guest", (HOME,)), Grant("guest", (HOME,))
    restricted.add_grants(kept, other)
    with OpenStream(restricted, kept, session_id) as stream:
        stream.send_and_wait("before")
        restricted.revoke(other)
        stream.send_and_wait("after")
    assert stored(restricted, session_id) == ["before", "after"]


def test_a_message_to_a_denied_namespace_ends_the_stream_and_acknowledged_messages_stay(
    restricted: RestrictedSidecar, session_id: str
) -> None:
    grant = Grant("guest", (HOME,))
    restricted.add_grants(grant)
    with OpenStream(restricted, grant, session_id) as stream:
        stream.send_and_wait("one")
        stream.send_and_wait("two")
        stream.send("over the fence", AWAY)
        stream.send("and back", HOME)
        assert stream.end() == DENIED
    time.sleep(0.1)  # what had slipped through would be there by now
    assert stored(restricted, session_id) == ["one", "two"] and stored(restricted, session_id, AWAY) == []


def test_messages_before_a_denied_one_are_acknowledged_however_fast_it_follows(
    restricted: RestrictedSidecar, session_id: str
) -> None:
    grant = Grant("guest", (HOME,))
    restricted.add_grants(grant)
    with OpenStream(restricted, grant, session_id) as stream:
        for at in range(20):
            stream.send(str(at))
        stream.send("over the fence", AWAY)
        assert [stream.acknowledged() for _ in range(20)] == [str(at) for at in range(20)]
        assert stream.end() == DENIED
    assert stored(restricted, session_id) == [str(at) for at in range(20)]


def test_a_stream_may_write_to_all_namespaces_of_its_token(restricted: RestrictedSidecar, session_id: str) -> None:
    grant = Grant("guest", (HOME, AWAY))
    restricted.add_grants(grant)
    with OpenStream(restricted, grant, session_id) as stream:
        stream.send_and_wait("here")
        stream.send("there", AWAY)
        assert stream.acknowledged() == "there"
    assert stored(restricted, session_id) == ["here"] and stored(restricted, session_id, AWAY) == ["there"]
