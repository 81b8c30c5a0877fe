"""Each acknowledgement follows an fsync; a failed fsync stops the process; a slow one blocks no read."""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import partial
from pathlib import Path
from threading import Event
from typing import Any, NamedTuple

import grpc
import pytest

from memsidecar.v1 import memory_pb2 as pb
from memsidecar.v1 import session_pb2
from memsidecar.v1.message_pb2 import Message, Role
from tests.faults.acknowledged import Acknowledged
from tests.faults.concurrent_writers import ConcurrentWriters
from tests.faults.shim import DB, WAL, Shim
from tests.support.process import CALL_SECONDS, Client, SidecarProcess, refusal

FLAGS = ("--tokenizer", "chars4")
DISK_FAILED = 74
HOLD = f"hold {WAL}"
READS_DURING_ONE_FSYNC = 5
POLL_SECONDS = 0.002


@pytest.fixture(scope="module")
def shared_shim(tmp_path_factory: pytest.TempPathFactory) -> Shim:
    return Shim(tmp_path_factory.mktemp("shim"))


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory, shared_shim: Shim) -> Iterator[SidecarProcess]:
    """Start one sidecar for the tests that leave it running."""
    data_dir = tmp_path_factory.mktemp("sidecar") / "data"
    with SidecarProcess(data_dir, *FLAGS, environ=shared_shim.environ) as running:
        yield running


@pytest.fixture
def traced(data_dir: Path, shim: Shim) -> Iterator[SidecarProcess]:
    """Start a sidecar for a test that ends it."""
    with SidecarProcess(data_dir, *FLAGS, environ=shim.environ) as running:
        yield running


class Timed(NamedTuple):
    start_ns: int
    end_ns: int


def timed(call: Callable[[], Any]) -> Timed:
    start = time.monotonic_ns()
    call()
    return Timed(start, time.monotonic_ns())


# -- fsyncs before acknowledgements


def test_each_sequential_add_has_its_own_fsync(shared: SidecarProcess, shared_shim: Shim) -> None:
    with shared.client() as client:
        before = len(shared_shim.syncs(WAL))
        for n in range(50):
            client.add("s", f"message {n}")
        assert len(shared_shim.syncs(WAL)) - before >= 50


def test_each_acknowledgement_follows_an_fsync_that_started_after_its_call(
    shared: SidecarProcess, shared_shim: Shim
) -> None:
    before = len(shared_shim.syncs(WAL))
    with shared.client() as client, ThreadPoolExecutor(16) as callers:
        calls = list(callers.map(lambda n: timed(lambda: client.add(f"s{n % 5}", f"message {n}")), range(400)))
    syncs = shared_shim.syncs(WAL)[before:]
    for call in calls:
        assert any(call.start_ns <= sync.start_ns and sync.end_ns <= call.end_ns for sync in syncs)
    assert len(syncs) < len(calls), "concurrent calls share an fsync"


def writes(client: Client) -> dict[str, Callable[[], Any]]:
    batch = pb.AddBatchRequest(session_id="s", messages=[Message(role=Role.ROLE_USER, content="b")] * 3)
    turn = pb.StoreInteractionRequest(session_id="s", user_message="q", assistant_message="a")
    policy = session_pb2.SetPolicyRequest(session_id="s", policy=session_pb2.SessionPolicy(auto_prune_tokens=100_000))
    usage = pb.ReportUsageRequest(model="some-model", estimated_tokens=100, actual_tokens=120)
    stream = pb.AddStreamRequest(session_id="s", message=batch.messages[0])
    return {
        "AddBatch": lambda: client.memory.AddBatch(batch, timeout=CALL_SECONDS),
        "AddStream": lambda: list(client.memory.AddStream(iter([stream]), timeout=CALL_SECONDS)),
        "StoreInteraction": lambda: client.memory.StoreInteraction(turn, timeout=CALL_SECONDS),
        "Annotate": lambda: client.memory.Annotate(
            pb.AnnotateRequest(session_id="s", message_id="known", evaluation_score=7), timeout=CALL_SECONDS
        ),
        "Prune": lambda: client.memory.Prune(pb.PruneRequest(session_id="s", max_tokens=1), timeout=CALL_SECONDS),
        "SetPolicy": lambda: client.sessions.SetPolicy(policy, timeout=CALL_SECONDS),
        "ReportUsage": lambda: client.memory.ReportUsage(usage, timeout=CALL_SECONDS),
        "Clear": lambda: client.memory.Clear(pb.ClearRequest(session_id="s"), timeout=CALL_SECONDS),
        "DeleteSession": lambda: client.sessions.DeleteSession(
            session_pb2.DeleteSessionRequest(session_id="s"), timeout=CALL_SECONDS
        ),
    }


def test_each_kind_of_write_is_synced_before_it_is_acknowledged(shared: SidecarProcess, shared_shim: Shim) -> None:
    with shared.client() as client:
        client.add("s", "hello", id="known")
        for name, write in writes(client).items():
            call = timed(write)
            synced = any(call.start_ns <= s.start_ns and s.end_ns <= call.end_ns for s in shared_shim.syncs(WAL))
            assert synced, f"{name} was acknowledged without an fsync"


def test_a_log_left_by_a_killed_process_is_synced_before_a_retry_is_acknowledged(
    traced: SidecarProcess, shim: Shim
) -> None:
    """The message may be written and not synced, and a duplicate counts as an acknowledgement."""
    with traced.client() as client:
        client.add("s", "hello", id="m1")
    traced.kill()
    restarted_ns = time.monotonic_ns()
    traced.start()
    with traced.client() as client:
        assert client.add("s", "hello", id="m1").duplicate
        answered_ns = time.monotonic_ns()
    assert any(restarted_ns <= sync.start_ns and sync.end_ns <= answered_ns for sync in shim.syncs(WAL))


def test_a_new_data_directory_and_its_parent_are_synced(shared: SidecarProcess, shared_shim: Shim) -> None:
    assert shared_shim.syncs(shared.data_dir.parent.name), "the parent of the new directory was not synced"
    assert shared_shim.syncs(shared.data_dir.name), "the directory of the new file was not synced"


# -- an fsync that fails


def test_a_failed_fsync_of_the_log_stops_the_process_and_loses_nothing(traced: SidecarProcess, shim: Shim) -> None:
    acknowledged = Acknowledged()
    with (
        traced.client() as client,
        ConcurrentWriters(client, acknowledged, "c", shared=["a", "b"], owned=["c"]) as writers,
    ):
        acknowledged.wait_for_acks(100, CALL_SECONDS)
        shim.order(f"fail 3 {WAL}")
        traced.process.wait(CALL_SECONDS)
    check_stopped_by_disk_failure(traced)
    assert set(writers.codes) == {grpc.StatusCode.UNAVAILABLE}
    shim.order()
    traced.start()
    with traced.client() as client:
        acknowledged.check(client)
        for session_id in ("a", "b", "c"):
            acknowledged.retry_open_calls(client, session_id, 5)


def test_a_failed_fsync_of_a_checkpoint_stops_the_process_and_loses_nothing(traced: SidecarProcess, shim: Shim) -> None:
    with traced.client() as client:
        for n in range(20):
            client.add("kept", f"message {n}")
        client.add("cleared", "hello")
        shim.order(f"fail 1 {DB}")
        clear = refusal(lambda: client.memory.Clear(pb.ClearRequest(session_id="cleared"), timeout=CALL_SECONDS))
    assert clear.code is grpc.StatusCode.UNAVAILABLE
    traced.process.wait(CALL_SECONDS)
    check_stopped_by_disk_failure(traced)
    shim.order()
    traced.start()
    with traced.client() as client:
        assert [message.content for message in client.all("kept")] == [f"message {n}" for n in range(20)]


def check_stopped_by_disk_failure(sidecar: SidecarProcess) -> None:
    assert sidecar.stop() == DISK_FAILED, "it stopped by itself"
    (line,) = [line for line in sidecar.log().splitlines() if "stopping" in line]
    assert str(sidecar.data_dir / DB) in line and "FSYNC" in line


# -- a slow fsync


def cached_reads(client: Client, session_id: str) -> None:
    client.recent(session_id, 10)
    client.memory.Count(pb.CountRequest(session_id=session_id), timeout=CALL_SECONDS)


def uncached_reads(client: Client, session_id: str) -> None:
    client.all(session_id)
    client.memory.GetByRole(pb.GetByRoleRequest(session_id=session_id, role=Role.ROLE_USER), timeout=CALL_SECONDS)


def fsyncs_held_during_reads(shim: Shim, write: Callable[[], Any], read: Callable[[], Any]) -> int:
    """Return the number of fsyncs until the write returned; each was blocked until reads had returned."""
    before, held = shim.held(WAL), 0
    shim.order(HOLD)
    with ThreadPoolExecutor(1) as thread:
        writing = thread.submit(write)
        try:
            while another_is_held(shim, before + held, writing):
                held += 1
                for _ in range(READS_DURING_ONE_FSYNC):
                    read()
                # A later fsync may belong to another write, after the response was sent.
                assert held > 1 or not writing.done(), "the write returned before its fsync ended"
                shim.order(HOLD)  # releases this fsync, and blocks the next
        finally:
            shim.order()
        writing.result()
    return held


def another_is_held(shim: Shim, held: int, writing: Future[Any]) -> bool:
    """Wait for another blocked fsync; return whether there is one before the write returns."""
    while shim.held(WAL) == held:
        if wait([writing], POLL_SECONDS).done:
            return False
    return True


@pytest.mark.parametrize("session_id", ["written", "other"])
@pytest.mark.parametrize("read", [cached_reads, uncached_reads])
def test_reads_are_answered_while_a_write_waits_for_its_fsync(
    shared: SidecarProcess, shared_shim: Shim, session_id: str, read: Callable[[Client, str], None]
) -> None:
    with shared.client() as client, shared.client() as reader:
        for name in ("written", "other"):
            client.add(name, "hello")
        read(reader, session_id)
        again, read_again = lambda: client.add("written", "again"), lambda: read(reader, session_id)
        assert fsyncs_held_during_reads(shared_shim, again, read_again)


@pytest.mark.parametrize("read", [cached_reads, uncached_reads])
def test_reads_are_answered_while_many_other_writes_wait_for_their_fsync(
    shared: SidecarProcess, shared_shim: Shim, read: Callable[[Client, str], None]
) -> None:
    """Annotate, Prune and Clear wait on threads; as many calls as there are threads must not block reads."""
    sessions = [f"{read.__name__}-{n}" for n in range(16)]
    with shared.client() as client, shared.client() as reader:
        for session_id in sessions:
            client.add(session_id, "hello", id="m")
        client.add("other", "hello")
        read(reader, "other")
        sent = Event()

        def read_after_them() -> None:
            """Read once all calls are sent; first on their connection, where requests arrive in order."""
            assert sent.wait(CALL_SECONDS)
            read(client, "other")
            read(reader, "other")

        annotate = partial(annotate_concurrently, client, sessions, sent)
        assert fsyncs_held_during_reads(shared_shim, annotate, read_after_them)


def annotate_concurrently(client: Client, sessions: list[str], sent: Event) -> None:
    requests = [pb.AnnotateRequest(session_id=name, message_id="m", evaluation_score=5) for name in sessions]
    calls = [client.memory.Annotate.future(request, timeout=CALL_SECONDS) for request in requests]
    sent.set()
    for call in calls:
        call.result()


def test_a_deadline_that_passes_during_a_slow_fsync_is_answered_and_a_retry_is_no_second_message(
    shared: SidecarProcess, shared_shim: Shim
) -> None:
    with shared.client() as client:
        client.add("late", "first")
        late = pb.AddRequest(session_id="late", message=Message(id="m", role=Role.ROLE_USER, content="hello"))
        shared_shim.order(f"delay 300 {WAL}")
        said = refusal(lambda: client.memory.Add(late, timeout=0.05))
        shared_shim.order()
        assert said.code is grpc.StatusCode.DEADLINE_EXCEEDED
        assert client.memory.Add(late, timeout=CALL_SECONDS).sequence == 2
        assert [message.id for message in client.all("late")][1:] == ["m"]
