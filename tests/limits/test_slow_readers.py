"""Callers that do not read their responses: pending responses are bounded, and released."""

import time
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from benchmarks.limits.http2 import SERVICE, RawCaller
from memsidecar.v1 import memory_pb2 as memory
from memsidecar.v1.message_pb2 import ROLE_USER, Message
from tests.limits.refusals import refused
from tests.support.process import Client, SidecarProcess
from tests.support.waiting import HANG_SECONDS

MIB = 1 << 20
GET_ALL = f"{SERVICE}GetAll"
RESOURCE_EXHAUSTED = 8
SECONDS = HANG_SECONDS
# An answer has 3 MiB, and half of 16 MiB is for one namespace.
FIT = 2
ASKED = 12
STALLING_CONNECTIONS, STALLING_CALLS = 4, 40


@pytest.fixture(scope="module")
def sidecar(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SidecarProcess]:
    with SidecarProcess(tmp_path_factory.mktemp("slow") / "data", "--max-pending-bytes", "16MiB") as running:
        with running.client() as client:
            for namespace in ("a", "b"):
                fill(client, namespace)
        yield running


def fill(client: Client, namespace: str) -> None:
    for _ in range(3):
        message = Message(role=ROLE_USER, content="word " * (MIB // 5 - 200))
        request = memory.AddRequest(session_id="large", namespace=namespace, message=message)
        client.memory.Add(request, timeout=SECONDS)


def asking(namespace: str) -> bytes:
    return memory.GetAllRequest(session_id="large", namespace=namespace, page_size=100).SerializeToString()


def get_all(client: Client, namespace: str) -> int:
    request = memory.GetAllRequest(session_id="large", namespace=namespace, page_size=100)
    return len(client.memory.GetAll(request, timeout=SECONDS).messages)


def stall(caller: RawCaller, namespace: str) -> list[int]:
    """Request more than may be pending; return the streams with pending responses."""
    streams = [caller.ask(GET_ALL, asking(namespace)) for _ in range(ASKED)]
    give_up = time.monotonic() + SECONDS
    while len(caller.statuses) < ASKED - FIT and time.monotonic() < give_up:
        caller.listen(0.05)
    assert set(caller.statuses.values()) == {RESOURCE_EXHAUSTED}
    return [stream for stream in streams if stream not in caller.statuses]


def answers_again(client: Client, namespace: str) -> bool:
    give_up = time.monotonic() + SECONDS
    while time.monotonic() < give_up:
        if refused(lambda: get_all(client, namespace)) is None:
            return True
        time.sleep(0.1)
    return False


def test_pending_responses_are_bounded_and_others_are_answered(sidecar: SidecarProcess, client: Client) -> None:
    with RawCaller(sidecar.address) as stalling:
        waiting = stall(stalling, "a")
        assert len(waiting) == FIT
        found = refused(lambda: get_all(client, "a"))
        assert found is not None
        assert (found.code.name, found.reason, found.retry) == ("RESOURCE_EXHAUSTED", "RATE_LIMITED", True)
        assert found.seconds > 0
        assert get_all(client, "b") == 3, "another namespace has its own half"
        small = memory.CountRequest(session_id="large", namespace="a")
        assert client.memory.Count(small, timeout=SECONDS).stats.message_count == 3, "small answers do not count"
    assert answers_again(client, "a"), "a cancelled stream releases its pending responses"


def test_reading_releases_the_budget(sidecar: SidecarProcess, client: Client) -> None:
    with RawCaller(sidecar.address) as stalling:
        waiting = stall(stalling, "a")
        stalling.grant(4 * MIB, waiting)
        assert stalling.until_answered(waiting, SECONDS) == [0] * FIT
        assert all(stalling.received[one] > 2 * MIB for one in waiting)
        assert answers_again(client, "a")


def test_cancelling_releases_the_budget(sidecar: SidecarProcess, client: Client) -> None:
    with RawCaller(sidecar.address) as stalling:
        for stream in stall(stalling, "a"):
            stalling.cancel(stream)
        assert answers_again(client, "a")


@pytest.mark.parametrize("window", [0, 2**31 - 1], ids=["without a window", "without a read"])
def test_calls_of_another_namespace_are_answered_while_many_readers_stall(
    sidecar: SidecarProcess, client: Client, window: int
) -> None:
    """There are more unread responses than threads, and than fit into the buffers of the sockets."""
    with ExitStack() as opened:
        for _ in range(STALLING_CONNECTIONS):
            stalling = opened.enter_context(RawCaller(sidecar.address, window=window))
            stalling.listen(0.05)
            for _ in range(STALLING_CALLS):
                stalling.ask(GET_ALL, asking("a"))
        for number in range(10):
            client.add("small", f"{number}", namespace="b")
            assert client.recent("small", 1, namespace="b")[0].content == str(number)
            assert get_all(client, "b") == 3
        assert client.memory.Prune(
            memory.PruneRequest(session_id="small", namespace="b", max_tokens=1), timeout=SECONDS
        )
        assert refused(lambda: get_all(client, "a")) is not None, "the responses are still unread"
        client.memory.Clear(memory.ClearRequest(session_id="small", namespace="b"), timeout=SECONDS)
    assert answers_again(client, "a")
