"""Callers who no longer wait: they are told so, and leave nothing behind that others would miss."""

import threading
from collections.abc import Iterator

import grpc
import pytest

from memsidecar.v1 import memory_pb2 as pb
from memsidecar.v1.message_pb2 import Message, Role
from tests.support.process import CALL_SECONDS, Client, SidecarProcess, refusal

FEW = 8
MANY = 50
FLAGS = ("--tokenizer", "chars4", "--max-concurrent-calls", str(FEW), "--max-concurrent-streams", str(FEW))


@pytest.fixture(scope="module")
def sidecar(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SidecarProcess]:
    with SidecarProcess(tmp_path_factory.mktemp("cancelled") / "data", *FLAGS) as running:
        yield running


@pytest.fixture(autouse=True)
def _nothing_of_it_is_a_bug(sidecar: SidecarProcess) -> Iterator[None]:
    yield
    assert " bug " not in sidecar.log() and "never retrieved" not in sidecar.log()


def add_request(session_id: str, message_id: str = "") -> pb.AddRequest:
    return pb.AddRequest(session_id=session_id, message=Message(id=message_id, role=Role.ROLE_USER, content="hello"))


def stream_request(session_id: str) -> pb.AddStreamRequest:
    return pb.AddStreamRequest(session_id=session_id, message=Message(role=Role.ROLE_USER, content="hello"))


def check_room_for_all(client: Client, session_id: str) -> None:
    """As many calls and streams as are allowed are answered at the same time: none is still counted as under way."""
    calls = [client.memory.Add.future(add_request(session_id), timeout=CALL_SECONDS) for _ in range(FEW)]
    assert all(call.result().sequence for call in calls)
    over = threading.Event()
    streams = [client.memory.AddStream(held_open(session_id, over), timeout=CALL_SECONDS) for _ in range(FEW)]
    assert all(next(stream).result.sequence for stream in streams)
    over.set()
    for stream in streams:
        assert list(stream) == []


def held_open(session_id: str, over: threading.Event, count: int = 1) -> Iterator[pb.AddStreamRequest]:
    for _ in range(count):
        yield stream_request(session_id)
    over.wait(CALL_SECONDS)


def test_an_expired_deadline_is_answered_as_such(client: Client) -> None:
    for seconds in (-1.0, 0.0, 0.000_001):
        said = refusal(lambda seconds=seconds: client.memory.Add(add_request("expired"), timeout=seconds))  # type: ignore[misc]
        assert said.code is grpc.StatusCode.DEADLINE_EXCEEDED
    check_room_for_all(client, "expired")


def test_hundreds_of_cancelled_calls_leave_room_for_others(client: Client) -> None:
    for n in range(300):
        client.memory.Add.future(add_request("cancelled", f"m{n}"), timeout=CALL_SECONDS).cancel()
    check_room_for_all(client, "cancelled")
    found = client.all("cancelled")
    assert [message.sequence for message in found] == list(range(1, len(found) + 1))
    assert len({message.id for message in found}) == len(found)


def test_hundreds_of_calls_past_their_deadline_leave_room_for_others(client: Client) -> None:
    calls = []
    for n in range(300):
        calls.append(client.memory.GetAll.future(pb.GetAllRequest(session_id="late"), timeout=0.000_5 * (n % 4)))
    codes = {call.code() for call in calls}
    assert codes <= {grpc.StatusCode.DEADLINE_EXCEEDED, grpc.StatusCode.OK, grpc.StatusCode.UNAVAILABLE}
    check_room_for_all(client, "late")


def test_cancelled_streams_leave_the_sidecar_healthy(client: Client) -> None:
    for n in range(40):
        over = threading.Event()
        stream = client.memory.AddStream(held_open("streamed", over, MANY), timeout=CALL_SECONDS)
        for _ in range(n % 5):
            next(stream)
        stream.cancel()
        over.set()
        # The refusal of a ninth stream would come as UNAVAILABLE: wait until this one has ended on our side.
        with pytest.raises(grpc.RpcError) as ended:
            list(stream)
        assert ended.value.code() is grpc.StatusCode.CANCELLED
    check_room_for_all(client, "streamed")
    found = client.all("streamed")
    assert [message.sequence for message in found] == list(range(1, len(found) + 1))


def test_a_client_that_vanishes_leaves_room_for_others(sidecar: SidecarProcess, client: Client) -> None:
    over = threading.Event()
    for _ in range(5):
        with sidecar.client() as vanishing:
            for _ in range(FEW):
                vanishing.memory.Add.future(add_request("vanished"), timeout=CALL_SECONDS)
                vanishing.memory.AddStream(held_open("vanished", over, MANY))
    over.set()
    check_room_for_all(client, "vanished")
