"""Cancelled and expired calls: they get their status, and release all limits."""

import threading
from collections.abc import Callable, Iterator

import grpc
import pytest

from memsidecar.v1 import memory_pb2 as pb
from memsidecar.v1.message_pb2 import Message, Role
from tests.support.process import CALL_SECONDS, Client, SidecarProcess, refusal
from tests.support.waiting import until

STREAM_REQUESTS = 50
MAX_CONCURRENT = 8
FLAGS = (
    "--tokenizer",
    "chars4",
    "--max-concurrent-calls",
    str(MAX_CONCURRENT),
    "--max-concurrent-streams",
    str(MAX_CONCURRENT),
)


@pytest.fixture(scope="module")
def sidecar(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SidecarProcess]:
    with SidecarProcess(tmp_path_factory.mktemp("cancelled") / "data", *FLAGS) as running:
        yield running


@pytest.fixture(autouse=True)
def _no_internal_error(sidecar: SidecarProcess) -> Iterator[None]:
    yield
    assert " bug " not in sidecar.log() and "never retrieved" not in sidecar.log()


def add_request(session_id: str, message_id: str = "") -> pb.AddRequest:
    return pb.AddRequest(session_id=session_id, message=Message(id=message_id, role=Role.ROLE_USER, content="hello"))


def stream_request(session_id: str) -> pb.AddStreamRequest:
    return pb.AddStreamRequest(session_id=session_id, message=Message(role=Role.ROLE_USER, content="hello"))


def check_limits_released(client: Client, session_id: str) -> None:
    """Check that as many calls and streams succeed as the limits allow: no ended call is still counted.

    gRPC itself refuses calls of a connection while too many that were cancelled are not released yet, which takes a
    busy machine a while. A call that stayed counted would never let the others succeed.
    """
    until(lambda: is_available(lambda: check_calls(client, session_id)), "as many calls as the limit allows")
    until(lambda: is_available(lambda: check_streams(client, session_id)), "as many streams as the limit allows")


def is_available(call: Callable[[], None]) -> bool:
    try:
        call()
    except grpc.RpcError as error:
        if error.code() is not grpc.StatusCode.UNAVAILABLE:
            raise
        return False
    return True


def check_calls(client: Client, session_id: str) -> None:
    calls = [client.memory.Add.future(add_request(session_id), timeout=CALL_SECONDS) for _ in range(MAX_CONCURRENT)]
    assert all(call.result().sequence for call in calls)


def check_streams(client: Client, session_id: str) -> None:
    """Check that all of the streams are open at once: none ends before each of them has had its answer."""
    ended = threading.Event()
    streams = [
        client.memory.AddStream(open_stream(session_id, ended), timeout=CALL_SECONDS) for _ in range(MAX_CONCURRENT)
    ]
    try:
        assert all(next(stream).result.sequence for stream in streams)
    finally:
        ended.set()
    for stream in streams:
        assert list(stream) == []


def open_stream(session_id: str, ended: threading.Event, count: int = 1) -> Iterator[pb.AddStreamRequest]:
    for _ in range(count):
        yield stream_request(session_id)
    ended.wait(CALL_SECONDS)


def test_an_expired_deadline_is_deadline_exceeded(client: Client) -> None:
    for seconds in (-1.0, 0.0, 0.000_001):
        error = refusal(lambda seconds=seconds: client.memory.Add(add_request("expired"), timeout=seconds))  # type: ignore[misc]
        assert error.code is grpc.StatusCode.DEADLINE_EXCEEDED
    check_limits_released(client, "expired")


def test_hundreds_of_cancelled_calls_release_their_limits(client: Client) -> None:
    for n in range(300):
        client.memory.Add.future(add_request("cancelled", f"m{n}"), timeout=CALL_SECONDS).cancel()
    check_limits_released(client, "cancelled")
    found = client.all("cancelled")
    assert [message.sequence for message in found] == list(range(1, len(found) + 1))
    assert len({message.id for message in found}) == len(found)


def test_hundreds_of_calls_past_their_deadline_release_their_limits(client: Client) -> None:
    calls = []
    for n in range(300):
        calls.append(client.memory.GetAll.future(pb.GetAllRequest(session_id="late"), timeout=0.000_5 * (n % 4)))
    codes = {call.code() for call in calls}
    assert codes <= {grpc.StatusCode.DEADLINE_EXCEEDED, grpc.StatusCode.OK, grpc.StatusCode.UNAVAILABLE}
    check_limits_released(client, "late")


def test_cancelled_streams_leave_the_sidecar_healthy(client: Client) -> None:
    for n in range(40):
        released = threading.Event()
        stream = client.memory.AddStream(open_stream("streamed", released, STREAM_REQUESTS), timeout=CALL_SECONDS)
        for _ in range(n % 5):
            next(stream)
        stream.cancel()
        released.set()
        # The refusal of a ninth stream would come as UNAVAILABLE: wait until the client sees the end of this one.
        with pytest.raises(grpc.RpcError) as ended:
            list(stream)
        assert ended.value.code() is grpc.StatusCode.CANCELLED
    check_limits_released(client, "streamed")
    found = client.all("streamed")
    assert [message.sequence for message in found] == list(range(1, len(found) + 1))


def test_a_client_that_disconnects_releases_its_limits(sidecar: SidecarProcess, client: Client) -> None:
    released = threading.Event()
    for _ in range(5):
        with sidecar.client() as disconnecting:
            for _ in range(MAX_CONCURRENT):
                disconnecting.memory.Add.future(add_request("disconnected"), timeout=CALL_SECONDS)
                disconnecting.memory.AddStream(open_stream("disconnected", released, STREAM_REQUESTS))
    released.set()
    check_limits_released(client, "disconnected")
