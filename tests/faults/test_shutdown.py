"""SIGTERM under load: what was acknowledged is there, callers are told to retry, and the exit code is 0."""

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import grpc
import pytest

from memsidecar.api.interceptors.concurrency import IDLE_STREAM_SECONDS
from memsidecar.v1 import memory_pb2 as pb
from memsidecar.v1.message_pb2 import Message, Role
from tests.faults.acknowledged import Acknowledged
from tests.faults.concurrent_writers import ConcurrentWriters
from tests.support.process import CALL_SECONDS, Refusal, SidecarProcess, refusal

FLAGS = ("--tokenizer", "chars4", "--drain-seconds", "3600")
"Calls and streams that have begun come to their end, however long the machine takes for them."

PAUSE_SECONDS = 0.03
ATTEMPTS = 5


@pytest.mark.parametrize("acks", [1, 50, 400])
def test_sigterm_under_load_loses_nothing_and_tells_callers_to_retry(data_dir: Path, acks: int) -> None:
    acknowledged = Acknowledged()
    with SidecarProcess(data_dir, *FLAGS, executed=acks == 50) as sidecar:
        with (
            sidecar.client() as client,
            ConcurrentWriters(client, acknowledged, "c", shared=["a", "b"], owned=["c"]) as writers,
        ):
            acknowledged.wait_for_acks(acks, CALL_SECONDS)
            assert sidecar.stop() == 0
        assert set(writers.codes) == {grpc.StatusCode.UNAVAILABLE}
        assert "Traceback" not in sidecar.log()
        sidecar.start()
        with sidecar.client() as client:
            acknowledged.check(client)
            for session_id in ("a", "b", "c"):
                acknowledged.retry_open_calls(client, session_id, 5)


def test_a_stream_on_which_nothing_comes_is_told_to_retry_and_holds_nobody_up(data_dir: Path) -> None:
    over = threading.Event()
    with SidecarProcess(data_dir, *FLAGS) as sidecar:
        with sidecar.client() as client:
            answers = client.memory.AddStream(one_and_then_wait(over), timeout=CALL_SECONDS)
            assert next(answers).result.sequence == 1
            assert sidecar.stop() == 0
            with pytest.raises(grpc.RpcError) as failed:
                next(answers)
            over.set()
        said = Refusal(failed.value)
        assert (said.code, said.reason) == (grpc.StatusCode.UNAVAILABLE, "SHUTTING_DOWN") and said.retry
        assert "Traceback" not in sidecar.log()
        sidecar.start()
        with sidecar.client() as client:
            assert [message.content for message in client.all("s")] == ["hello"]


def test_a_stream_on_which_something_comes_goes_on_until_the_end(tmp_path: Path) -> None:
    """It is told to retry where it waits for its next request when the drain ends. A machine that is busy then may cut
    it off at another moment, and is given more attempts.
    """
    assert any(end_of_a_busy_stream(tmp_path / f"data-{at}") == "SHUTTING_DOWN" for at in range(ATTEMPTS))


def end_of_a_busy_stream(data_dir: Path) -> str:
    """Send each request when the one before is answered, for longer than silence is borne; return the reason."""
    longer = ("--tokenizer", "chars4", "--drain-seconds", str(IDLE_STREAM_SECONDS + 2))
    with SidecarProcess(data_dir, *longer) as sidecar:
        with sidecar.client() as client:
            wanted, over = threading.Semaphore(1), threading.Event()
            answers = client.memory.AddStream(as_wanted(wanted), timeout=CALL_SECONDS)
            next(answers)
            sidecar.process.terminate()
            times = [time.monotonic()]

            def go_on() -> None:
                while not over.wait(PAUSE_SECONDS):
                    wanted.release()
                    next(answers)
                    times.append(time.monotonic())

            said = refusal(go_on)
            assert sidecar.stop() == 0
        assert times[-1] - times[0] > IDLE_STREAM_SECONDS
        sidecar.start()
        with sidecar.client() as client:
            assert len(client.all("s")) - len(times) in (0, 1), "all that was answered; the last may be without answer"
    return said.reason


def as_wanted(wanted: threading.Semaphore) -> Iterator[pb.AddStreamRequest]:
    while wanted.acquire(timeout=CALL_SECONDS):
        yield pb.AddStreamRequest(session_id="s", message=Message(role=Role.ROLE_USER, content="hello"))


def one_and_then_wait(over: threading.Event) -> Iterator[pb.AddStreamRequest]:
    yield pb.AddStreamRequest(session_id="s", message=Message(role=Role.ROLE_USER, content="hello"))
    over.wait(CALL_SECONDS)


def test_a_second_sigterm_does_not_cut_the_end_short(data_dir: Path) -> None:
    acknowledged = Acknowledged()
    with SidecarProcess(data_dir, *FLAGS) as sidecar:
        with sidecar.client() as client, ConcurrentWriters(client, acknowledged, "c", shared=["a"]):
            acknowledged.wait_for_acks(50, CALL_SECONDS)
            sidecar.process.terminate()
            assert sidecar.stop() == 0
        sidecar.start()
        with sidecar.client() as client:
            acknowledged.check(client)
