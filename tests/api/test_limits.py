"""Concurrency and deadlines: calls beyond a limit are rejected at once with a retry delay."""

from pathlib import Path
from threading import Event
from typing import Any

import grpc
import pytest

from memsidecar.v1 import memory_pb2 as memory
from memsidecar.v1.message_pb2 import ROLE_USER, Message
from tests.support.process import CALL_SECONDS, Client, Refusal, SidecarProcess, refusal

# Random letters are slow to count: no word of it is in the vocabulary. Of a whole batch it takes a second or so.
SLOW_TEXT = "".join(chr(0x4E00 + number * 7919 % 20_000) for number in range(100_000))
COUNT = memory.CountRequest(session_id="s")


def slow_batch(session_id: str, count: int = 8) -> memory.AddBatchRequest:
    messages = [Message(id=f"m{number}", role=ROLE_USER, content=SLOW_TEXT) for number in range(count)]
    return memory.AddBatchRequest(session_id=session_id, messages=messages)


def refusals_meanwhile(client: Client, slow: Any) -> list[Refusal]:
    """Return the errors of fast calls while the slow one is in flight."""
    refused: list[Refusal] = []
    while not slow.done():
        try:
            client.memory.Count(COUNT, timeout=CALL_SECONDS)
        except grpc.RpcError as error:
            refused.append(Refusal(error))
    return refused


def test_a_call_beyond_the_limit_is_overloaded_with_a_retry_delay(data_dir: Path) -> None:
    with SidecarProcess(data_dir, "--max-concurrent-calls", "1") as sidecar, sidecar.client() as client:
        slow = client.memory.AddBatch.future(slow_batch("slow"), timeout=CALL_SECONDS)
        refused = refusals_meanwhile(client, slow)
        assert len(slow.result().results) == 8
        assert {(error.code.name, error.reason, error.retry) for error in refused} == {
            ("UNAVAILABLE", "OVERLOADED", True)
        }
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


def test_a_call_without_a_deadline_gets_the_default_one(data_dir: Path) -> None:
    with SidecarProcess(data_dir, "--default-deadline-seconds", "0.01") as sidecar, sidecar.client() as client:
        refused = refusal(lambda: client.memory.AddBatch(slow_batch("slow", 2)))
        assert refused.code.name == "DEADLINE_EXCEEDED"
        assert client.all("slow") == []
        # A deadline of the caller's own takes its place.
        assert len(client.memory.AddBatch(slow_batch("slow", 2), timeout=CALL_SECONDS).results) == 2


def test_an_exceeded_deadline_has_the_status_of_grpc(data_dir: Path) -> None:
    with SidecarProcess(data_dir) as sidecar, sidecar.client() as client:
        refused = refusal(lambda: client.memory.AddBatch(slow_batch("late"), timeout=0.05))
        assert refused.code.name == "DEADLINE_EXCEEDED"
        assert client.memory.Count(COUNT).stats.message_count == 0


@pytest.mark.parametrize("flag", ["--max-request-bytes", "--max-message-bytes"])
def test_a_smaller_size_limit_is_enforced(data_dir: Path, flag: str) -> None:
    with SidecarProcess(data_dir, flag, "2048") as sidecar, sidecar.client() as client:
        client.add("s", "x" * 1_500)
        refused = refusal(lambda: client.add("s", "x" * 2_100))
        assert (refused.code.name, refused.reason, refused.retry) == ("RESOURCE_EXHAUSTED", "TOO_LARGE", False)
