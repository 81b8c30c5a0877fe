"""Concurrency and deadlines: calls beyond a limit are rejected at once with a retry delay."""

import socket
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from memsidecar.v1 import memory_pb2 as memory
from memsidecar.v1.message_pb2 import ROLE_USER, Message
from tests.support.process import CALL_SECONDS, SidecarProcess, refusal
from tests.working import waiting_counter
from tests.working.waiting_counter import MARK

COUNT = memory.CountRequest(session_id="s")
LARGE_TEXT = MARK + "x" * (512 << 10)
"Large texts are counted on a thread, so that the event loop can enforce the limits."


class BlockedCounts:
    """The counts that the sidecar's tokenizer has begun, and finishes when it is released."""

    def __init__(self, folder: Path) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.bind(str(folder / "counts"))
        self._socket.listen()
        self._socket.settimeout(CALL_SECONDS)

    @property
    def address(self) -> str:
        return str(self._socket.getsockname())

    def next(self) -> socket.socket:
        """Wait until a count has begun. It ends when the returned socket is closed."""
        return self._socket.accept()[0]

    def release_until(self, is_done: Callable[[], bool]) -> None:
        """End every count as soon as it begins."""
        self._socket.settimeout(0.05)
        while not is_done():
            with suppress(TimeoutError):
                self.next().close()

    def close(self) -> None:
        self._socket.close()


@pytest.fixture
def counts(tmp_path: Path) -> Iterator[BlockedCounts]:
    with closing(BlockedCounts(tmp_path)) as blocked:
        yield blocked


def start(data_dir: Path, counts: BlockedCounts, *flags: str) -> SidecarProcess:
    tokenizer = ("--tokenizer", f"{waiting_counter.__name__}:count")
    return SidecarProcess(data_dir, *tokenizer, *flags, environ={waiting_counter.ADDRESS_VARIABLE: counts.address})


def slow_add(session_id: str) -> memory.AddRequest:
    return memory.AddRequest(session_id=session_id, message=Message(role=ROLE_USER, content=LARGE_TEXT))


def test_a_call_beyond_the_limit_is_overloaded_with_a_retry_delay(data_dir: Path, counts: BlockedCounts) -> None:
    with start(data_dir, counts, "--max-concurrent-calls", "1") as sidecar, sidecar.client() as client:
        slow = client.memory.Add.future(slow_add("slow"), timeout=CALL_SECONDS)
        with counts.next():
            refused = refusal(lambda: client.memory.Count(COUNT, timeout=CALL_SECONDS))
            assert (refused.code.name, refused.reason, refused.retry) == ("UNAVAILABLE", "OVERLOADED", True)
        assert slow.result().sequence == 1
        client.memory.Count(COUNT, timeout=CALL_SECONDS)


def test_rejected_and_failed_calls_release_their_slot(data_dir: Path) -> None:
    with SidecarProcess(data_dir, "--max-concurrent-calls", "1") as sidecar, sidecar.client() as client:
        for _ in range(20):
            assert refusal(lambda: client.memory.Count(memory.CountRequest())).reason == "INVALID_FIELD"
            client.memory.Count(COUNT, timeout=CALL_SECONDS)


def test_a_stream_beyond_the_limit_is_overloaded_and_calls_are_answered(data_dir: Path) -> None:
    done = Event()

    def unending() -> Any:
        yield memory.AddStreamRequest(session_id="s", message=Message(role=ROLE_USER, content="hello"))
        done.wait(CALL_SECONDS)

    with SidecarProcess(data_dir, "--max-concurrent-streams", "1") as sidecar, sidecar.client() as client:
        stream = client.memory.AddStream(unending(), timeout=CALL_SECONDS)
        assert next(stream).result.sequence == 1
        refused = refusal(lambda: list(client.memory.AddStream(iter([]), timeout=CALL_SECONDS)))
        assert (refused.code.name, refused.reason, refused.retry) == ("UNAVAILABLE", "OVERLOADED", True)
        assert client.memory.Count(COUNT).stats.message_count == 1
        done.set()
        assert list(stream) == []
        assert list(client.memory.AddStream(iter([]), timeout=CALL_SECONDS)) == []


def test_a_call_without_a_deadline_gets_the_default_one(data_dir: Path, counts: BlockedCounts) -> None:
    with start(data_dir, counts, "--default-deadline-seconds", "0.01") as sidecar, sidecar.client() as client:
        refused = refusal(lambda: client.memory.Add(slow_add("s")))
        assert refused.code.name == "DEADLINE_EXCEEDED"
        assert client.memory.Count(COUNT, timeout=CALL_SECONDS).stats.message_count == 0
        # A deadline of the caller's own takes its place.
        added = client.memory.Add.future(slow_add("s"), timeout=CALL_SECONDS)
        counts.release_until(added.done)
        assert added.result().sequence == 1


def test_an_exceeded_deadline_has_the_status_of_grpc(data_dir: Path, counts: BlockedCounts) -> None:
    with start(data_dir, counts) as sidecar, sidecar.client() as client:
        refused = refusal(lambda: client.memory.Add(slow_add("s"), timeout=0.5))
        assert refused.code.name == "DEADLINE_EXCEEDED"
        counts.close()  # ends the count, if it has begun
        assert client.memory.Count(COUNT, timeout=CALL_SECONDS).stats.message_count == 0


@pytest.mark.parametrize("flag", ["--max-request-bytes", "--max-message-bytes"])
def test_a_smaller_size_limit_is_enforced(data_dir: Path, flag: str) -> None:
    with SidecarProcess(data_dir, flag, "2048") as sidecar, sidecar.client() as client:
        client.add("s", "x" * 1_500)
        refused = refusal(lambda: client.add("s", "x" * 2_100))
        assert (refused.code.name, refused.reason, refused.retry) == ("RESOURCE_EXHAUSTED", "TOO_LARGE", False)
