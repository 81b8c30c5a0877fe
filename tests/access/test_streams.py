"""A stream is looked at again with each message: what was good at its beginning need not be good at its end."""

import queue
import time
from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from typing import Any, Self

import grpc
import pytest

from memsidecar.access.policy import AccessRole
from memsidecar.v1 import memory_pb2 as memory
from memsidecar.v1.message_pb2 import ROLE_USER, Message
from tests.access.access_files import Grant
from tests.access.calls import bearer
from tests.access.restricted_sidecar import Guarded, guarded
from tests.support.process import CALL_SECONDS, Refusal

HOME, AWAY = "home", "away"
KEEPER = Grant("keeper", ("*",), AccessRole.ADMIN)
EXPIRES_IN_SECONDS = 2.0
_numbers = count()


@pytest.fixture(scope="module")
def door(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guarded]:
    with guarded(tmp_path_factory.mktemp("streams"), [KEEPER]) as opened:
        yield opened


@pytest.fixture
def session_id() -> str:
    return f"session {next(_numbers)}"


class Talk:
    """An AddStream that is spoken into bit by bit."""

    def __init__(self, door: Guarded, grant: Grant, session_id: str) -> None:
        self._session_id = session_id
        self._spoken: queue.Queue[memory.AddStreamRequest | None] = queue.Queue()
        spoken = iter(self._spoken.get, None)
        self._answers = door.client.memory.AddStream(spoken, metadata=bearer(grant.text), timeout=CALL_SECONDS)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._spoken.put(None)
        self._answers.cancel()

    def send(self, content: str, namespace: str = HOME) -> None:
        said = Message(id=content, role=ROLE_USER, content=content)
        self._spoken.put(memory.AddStreamRequest(namespace=namespace, session_id=self._session_id, message=said))

    def acknowledged(self) -> str:
        return str(next(self._answers).result.message_id)

    def say(self, content: str) -> None:
        self.send(content)
        assert self.acknowledged() == content

    def end(self) -> tuple[grpc.StatusCode, str]:
        """How the stream ended, which it must have."""
        with pytest.raises(grpc.RpcError) as refused:
            self.acknowledged()
        told = Refusal(refused.value)
        return told.code, told.reason


def stored(door: Guarded, session_id: str, namespace: str = HOME) -> list[str]:
    asked = memory.GetAllRequest(namespace=namespace, session_id=session_id)
    answer: Any = door.client.memory.GetAll(asked, metadata=bearer(KEEPER.text), timeout=CALL_SECONDS)
    return [message.content for message in answer.messages]


UNAUTHENTICATED = (grpc.StatusCode.UNAUTHENTICATED, "UNAUTHENTICATED")
DENIED = (grpc.StatusCode.PERMISSION_DENIED, "PERMISSION_DENIED")


def test_a_token_that_expires_ends_its_stream(door: Guarded, session_id: str) -> None:
    grant = Grant("guest", (HOME,))
    door.admit(grant)
    with Talk(door, grant, session_id) as talk:
        talk.say("in time")
        door.change(grant, grant.ending(EXPIRES_IN_SECONDS), lambda: not door.lets_in(grant))
        talk.send("too late")
        assert talk.end() == UNAUTHENTICATED
    assert stored(door, session_id) == ["in time"]


def test_a_token_that_is_taken_back_ends_its_stream(door: Guarded, session_id: str) -> None:
    grant = Grant("guest", (HOME,))
    door.admit(grant)
    with Talk(door, grant, session_id) as talk:
        talk.say("while it was good")
        door.take_back(grant)
        talk.send("afterwards")
        assert talk.end() == UNAUTHENTICATED
    assert stored(door, session_id) == ["while it was good"]


def test_a_role_that_is_lowered_ends_a_stream_that_needs_more(door: Guarded, session_id: str) -> None:
    grant = Grant("guest", (HOME,), AccessRole.WRITE)
    door.admit(grant)
    with Talk(door, grant, session_id) as talk:
        talk.say("as a writer")
        reader = replace(grant, role=AccessRole.READ)
        door.change(grant, reader, lambda: door.ask("Add", HOME, grant).code is grpc.StatusCode.PERMISSION_DENIED)
        talk.send("as a reader")
        assert talk.end() == DENIED
    assert stored(door, session_id) == ["as a writer"]


def test_a_stream_goes_on_while_another_token_is_taken_back(door: Guarded, session_id: str) -> None:
    kept, other = Grant("guest", (HOME,)), Grant("guest", (HOME,))
    door.admit(kept, other)
    with Talk(door, kept, session_id) as talk:
        talk.say("before")
        door.take_back(other)
        talk.say("after")
    assert stored(door, session_id) == ["before", "after"]


def test_a_stream_that_goes_where_it_may_not_ends_and_what_was_acknowledged_stays(
    door: Guarded, session_id: str
) -> None:
    grant = Grant("guest", (HOME,))
    door.admit(grant)
    with Talk(door, grant, session_id) as talk:
        talk.say("one")
        talk.say("two")
        talk.send("over the fence", AWAY)
        talk.send("and back", HOME)
        assert talk.end() == DENIED
    time.sleep(0.1)  # what had slipped through would be there by now
    assert stored(door, session_id) == ["one", "two"] and stored(door, session_id, AWAY) == []


def test_what_came_before_a_wrong_step_is_acknowledged_however_fast_the_step_follows(
    door: Guarded, session_id: str
) -> None:
    grant = Grant("guest", (HOME,))
    door.admit(grant)
    with Talk(door, grant, session_id) as talk:
        for at in range(20):
            talk.send(str(at))
        talk.send("over the fence", AWAY)
        assert [talk.acknowledged() for _ in range(20)] == [str(at) for at in range(20)]
        assert talk.end() == DENIED
    assert stored(door, session_id) == [str(at) for at in range(20)]


def test_a_stream_may_go_to_all_its_namespaces(door: Guarded, session_id: str) -> None:
    grant = Grant("guest", (HOME, AWAY))
    door.admit(grant)
    with Talk(door, grant, session_id) as talk:
        talk.say("here")
        talk.send("there", AWAY)
        assert talk.acknowledged() == "there"
    assert stored(door, session_id) == ["here"] and stored(door, session_id, AWAY) == ["there"]
