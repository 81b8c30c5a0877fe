"""SIGTERM under load: no acknowledged message is lost, errors are retryable, and the exit code is 0."""

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
from tests.support.waiting import until

FLAGS = ("--tokenizer", "chars4", "--drain-seconds", "3600")
"Long enough for all calls in flight, on any machine."

PAUSE_SECONDS = 0.03
ATTEMPTS = 5


@pytest.mark.parametrize("acks", [1, 50, 400])
def test_sigterm_under_load_loses_nothing_and_returns_retryable_errors(data_dir: Path, acks: int) -> None:
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


def test_an_idle_stream_gets_a_retryable_error_and_does_not_delay_the_shutdown(data_dir: Path) -> None:
    ended = threading.Event()
    with SidecarProcess(data_dir, *FLAGS) as sidecar:
        with sidecar.client() as client:
            answers = client.memory.AddStream(one_request_then_wait(ended), timeout=CALL_SECONDS)
            assert next(answers).result.sequence == 1
            assert sidecar.stop() == 0
            with pytest.raises(grpc.RpcError) as failed:
                next(answers)
            ended.set()
        error = Refusal(failed.value)
        assert (error.code, error.reason) == (grpc.StatusCode.UNAVAILABLE, "SHUTTING_DOWN") and error.retry
        assert "Traceback" not in sidecar.log()
        sidecar.start()
        with sidecar.client() as client:
            assert [message.content for message in client.all("s")] == ["hello"]


def test_a_busy_stream_continues_until_the_end_of_the_drain(tmp_path: Path) -> None:
    """The stream gets a retryable error if it waits for a request when the drain ends. On a busy machine it may be
    cancelled in another state, so that there are more attempts.
    """
    assert any(reason_at_the_end_of_a_busy_stream(tmp_path / f"data-{at}") == "SHUTTING_DOWN" for at in range(ATTEMPTS))


def reason_at_the_end_of_a_busy_stream(data_dir: Path) -> str:
    """Send each request after the previous response, for longer than the idle timeout; return the reason of the end."""
    longer = ("--tokenizer", "chars4", "--drain-seconds", str(IDLE_STREAM_SECONDS + 2))
    with SidecarProcess(data_dir, *longer) as sidecar:
        with sidecar.client() as client:
            permits, ended = threading.Semaphore(1), threading.Event()
            answers = client.memory.AddStream(requests_by_permit(permits), timeout=CALL_SECONDS)
            next(answers)
            sidecar.process.terminate()
            times = [time.monotonic()]

            def send_requests() -> None:
                while not ended.wait(PAUSE_SECONDS):
                    permits.release()
                    next(answers)
                    times.append(time.monotonic())

            error = refusal(send_requests)
            assert sidecar.stop() == 0
        assert times[-1] - times[0] > IDLE_STREAM_SECONDS
        sidecar.start()
        with sidecar.client() as client:
            assert len(client.all("s")) - len(times) in (0, 1), "all acknowledged messages, and at most one more"
    return error.reason


def requests_by_permit(permits: threading.Semaphore) -> Iterator[pb.AddStreamRequest]:
    while permits.acquire(timeout=CALL_SECONDS):
        yield pb.AddStreamRequest(session_id="s", message=Message(role=Role.ROLE_USER, content="hello"))


def one_request_then_wait(ended: threading.Event) -> Iterator[pb.AddStreamRequest]:
    yield pb.AddStreamRequest(session_id="s", message=Message(role=Role.ROLE_USER, content="hello"))
    ended.wait(CALL_SECONDS)


def test_a_second_sigterm_does_not_shorten_the_drain(data_dir: Path) -> None:
    acknowledged = Acknowledged()
    with SidecarProcess(data_dir, *FLAGS) as sidecar:
        with sidecar.client() as client, ConcurrentWriters(client, acknowledged, "c", shared=["a"]):
            acknowledged.wait_for_acks(50, CALL_SECONDS)
            sidecar.process.terminate()
            assert sidecar.stop() == 0
        sidecar.start()
        with sidecar.client() as client:
            acknowledged.check(client)


def test_a_shutdown_does_not_wait_until_the_index_is_open(data_dir: Path, tmp_path: Path) -> None:
    package = tmp_path / "modules" / "lancedb"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(
        "import sys, threading\nprint('opening', file=sys.stderr, flush=True)\nthreading.Event().wait()\n"
    )
    environ = {"PYTHONPATH": str(package.parent)}
    with SidecarProcess(data_dir, *FLAGS, "--index", "lancedb", environ=environ) as sidecar:
        with sidecar.client() as client:
            client.add("s", "hello")
        until(lambda: "opening" in sidecar.log(), "the start of opening the index")
        assert sidecar.stop() == 0
        assert sidecar.log().rstrip().endswith("stopped")
