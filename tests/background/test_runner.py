"""The runner processes entries in order, once, and fairly; a failure does not stop other work."""

import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from statistics import median

import pytest

from memsidecar.domain.errors import DiskFull, JournalUnavailable
from memsidecar.layers.background.cursor import MIN_BACKOFF_SECONDS
from memsidecar.layers.background.runner import BATCH_BYTES, BATCH_ENTRIES, MAX_ATTEMPTS
from memsidecar.layers.background.task import LARGE_ENTRY_BYTES, MAX_DEATHS
from memsidecar.stores.contract import ANY_SIZE, AddDeadLetter, Journal, LogEntries, LogFilter, PendingCommand
from memsidecar.stores.sqlite.journal import SqliteJournal
from memsidecar.stores.volatile.journal import VolatileJournal
from tests.background.recording_task import RecordingTask, TaskState, append, new_runner, running
from tests.support.waiting import HANG_SECONDS, until


@pytest.fixture
def journal() -> Iterator[VolatileJournal]:
    with closing(VolatileJournal()) as opened:
        yield opened


def test_every_entry_is_processed_once_and_in_order(journal: Journal) -> None:
    before = append(journal, "a", *(f"early {at}" for at in range(600)))
    task = RecordingTask()
    with running(journal, task):
        after = append(journal, "a", *(f"late {at}" for at in range(300)))
        until(lambda: len(task.state.effects["a"]) == 900)
    assert task.state.effects["a"] == before + after


def test_a_batch_of_large_entries_is_short(journal: Journal) -> None:
    large = "m" * (BATCH_BYTES // 8 - 100)  # a draft has its text twice
    lsns = append(journal, "a", *(f"{at} {large}" for at in range(12)))
    task = RecordingTask()
    with running(journal, task):
        until(lambda: task.state.effects["a"] == lsns)
        append(journal, "a", *(f"later {at} {large}" for at in range(12)))
        until(lambda: len(task.state.effects["a"]) == 24)
    assert [length for _, length in task.batches[-3:]] == [4] * 3
    assert [length for _, length in task.batches[:12]] == [1] * 12, "one by one: each may have ended the process"


def test_an_entry_that_takes_too_much_cpu_time_becomes_a_dead_letter(
    data_dir: Path, caplog: pytest.LogCaptureFixture
) -> None:
    state = TaskState()
    with closing(SqliteJournal(data_dir)) as journal:
        (costly,) = append(journal, "a", "alone in its batch")
        task = RecordingTask(state)
        runner = new_runner(journal, task, max_cpu_seconds=0.0)
        runner.start()
        until(lambda: len(journal.dead_letters("recording")) == 1)
        runner.stop()
        assert state.effects["a"] == [costly], "it was processed nevertheless"
        (letter,) = journal.dead_letters("recording")
        assert (letter.namespace, letter.lsn, letter.reason) == ("a", costly, "CpuTimeExceeded")
        assert caplog.text.count("skips entry") == 1
    state.positions["a"] = 0
    state.effects["a"].clear()
    with closing(SqliteJournal(data_dir)) as journal, running(journal, RecordingTask(state)):
        until(lambda: state.positions["a"] == costly)
    assert state.effects["a"] == []


def test_no_entry_is_blamed_for_the_cpu_time_of_a_batch(caplog: pytest.LogCaptureFixture) -> None:
    with closing(VolatileJournal()) as journal:
        append(journal, "a", "one", "two")
        task = RecordingTask()
        runner = new_runner(journal, task, max_cpu_seconds=0.0)
        runner.start()
        until(lambda: "of CPU for 2 entries" in caplog.text)
        runner.stop()
        assert task.batches == [("a", 2)] and len(journal.dead_letters("recording")) == 0


def test_an_entry_that_kills_the_process_is_given_up(data_dir: Path) -> None:
    with closing(SqliteJournal(data_dir)) as journal:
        before, deadly, after = append(journal, "a", "before", "deadly " + "m" * LARGE_ENTRY_BYTES, "after")
    command = [sys.executable, "-m", "tests.background.killed_runner", str(data_dir), str(deadly), str(after)]
    ends = [subprocess.run(command, timeout=HANG_SECONDS, check=False).returncode for _ in range(MAX_DEATHS + 2)]
    assert ends == [-signal.SIGKILL] * MAX_DEATHS + [0, 0]
    with closing(SqliteJournal(data_dir)) as journal:
        assert [(letter.lsn, letter.reason) for letter in journal.dead_letters("recording")] == [
            (deadly, "ProcessDied")
        ]
        assert before < deadly < after


def test_a_large_entry_that_the_process_survives_is_never_given_up(data_dir: Path) -> None:
    with closing(SqliteJournal(data_dir)) as journal:
        (lsn,) = append(journal, "a", "m" * LARGE_ENTRY_BYTES)
    for _ in range(MAX_DEATHS + 2):
        with closing(SqliteJournal(data_dir)) as journal:
            task = RecordingTask(failures_left=1)
            with running(journal, task):
                until(lambda task=task: task.state.effects["a"] == [lsn])  # type: ignore[misc]
            assert journal.dead_letters("recording") == []


def test_a_new_large_entry_costs_no_commit(journal: Journal) -> None:
    task = RecordingTask()
    with running(journal, task):
        lsns = append(journal, "a", "m" * LARGE_ENTRY_BYTES)
        until(lambda: task.state.effects["a"] == lsns)
    assert all(journal.dead_letters(f"recording/{mark}") == [] for mark in ("1", "harmless"))


def test_no_entry_is_blamed_for_a_database_that_is_away(journal: Journal) -> None:
    lsns = append(journal, "a", "one", "two")
    task = RecordingTask(before=_away(MAX_ATTEMPTS))
    with running(journal, task):
        until(lambda: task.state.effects["a"] == lsns)
    assert [length for _, length in task.batches] == [2], "the batch was not divided to find a bad entry"
    assert journal.dead_letters("recording") == []


def _away(attempts: int) -> Callable[[str, LogEntries], None]:
    left = iter(range(attempts))

    def raise_while_away(_: str, __: LogEntries) -> None:
        if next(left, None) is not None:
            raise JournalUnavailable()

    return raise_while_away


def test_tasks_do_not_block_each_other(journal: Journal) -> None:
    lsns = append(journal, "a", "one", "two")
    stuck, free = RecordingTask(name="stuck", is_unavailable=True), RecordingTask(name="free")
    with running(journal, stuck, free):
        until(lambda: free.state.effects["a"] == lsns)
    assert stuck.state.effects["a"] == []


def test_a_backlog_delays_other_namespaces_by_at_most_two_batches(journal: Journal) -> None:
    for session in range(50):
        append(journal, "long", *(f"m {at}" for at in range(100)), session=f"s{session}")
    gate = threading.Event()
    task = RecordingTask(before=lambda namespace, _: None if namespace == "short" else _wait_for(gate))
    with running(journal, task):
        until(lambda: len(task.attempts) == 1)
        append(journal, "short", "hello")
        gate.set()
        until(lambda: len(task.state.effects["short"]) == 1 and len(task.state.effects["long"]) == 5_000)
    place = task.batches.index(("short", 1))
    assert place <= 2
    assert all(length <= BATCH_ENTRIES for _, length in task.batches)


def _wait_for(gate: threading.Event) -> None:
    assert gate.wait(20)


def test_a_failing_entry_becomes_a_dead_letter_and_the_others_are_processed(
    journal: Journal, caplog: pytest.LogCaptureFixture
) -> None:
    lsns = append(journal, "a", *(f"m {at}" for at in range(10)))
    elsewhere = append(journal, "b", "unharmed")
    task = RecordingTask(poisoned=frozenset({lsns[4], lsns[7]}))
    with running(journal, task) as runner:
        until(lambda: task.state.positions["a"] == lsns[-1] and runner.lags() == [])
        assert len(journal.dead_letters("recording")) == 2
    assert task.state.effects["a"] == [lsn for lsn in lsns if lsn not in task.poisoned]
    assert task.state.effects["b"] == elsewhere
    dead_letters = journal.dead_letters("recording")
    assert [(letter.task, letter.namespace, letter.lsn, letter.reason) for letter in dead_letters] == [
        ("recording", "a", lsn, "ValueError") for lsn in sorted(task.poisoned)
    ]
    assert "skips entry" in caplog.text


def test_an_entry_is_retried_before_it_becomes_a_dead_letter(journal: Journal) -> None:
    (lsn,) = append(journal, "a", "once")
    task = RecordingTask(failures_left=MAX_ATTEMPTS - 1)
    with running(journal, task):
        until(lambda: task.state.effects["a"] == [lsn])
    assert journal.dead_letters("recording") == []


def test_a_dead_letter_is_skipped_after_a_restart(data_dir: Path) -> None:
    state = TaskState()
    with closing(SqliteJournal(data_dir)) as journal:
        lsns = append(journal, "a", "one", "two", "three")
        task = RecordingTask(state, poisoned=frozenset({lsns[1]}))
        with running(journal, task):
            until(lambda: task.state.positions["a"] == lsns[-1])
    state.positions["a"] = 0
    state.effects["a"].clear()
    with closing(SqliteJournal(data_dir)) as journal:
        again = RecordingTask(state, poisoned=frozenset({lsns[1]}))
        with running(journal, again):
            until(lambda: state.positions["a"] == lsns[-1])
            assert len(journal.dead_letters("recording")) == 1
        assert state.effects["a"] == [lsns[0], lsns[2]]
        assert len(again.attempts) == 1, "nothing failed this time"


def test_an_unavailable_dependency_is_retried_without_dead_letters(journal: Journal) -> None:
    lsns = append(journal, "a", "one")
    task = RecordingTask(is_unavailable=True)
    with running(journal, task) as runner:
        until(lambda: len(task.attempts) >= MAX_ATTEMPTS + 1)
        (lag,) = runner.lags()
        assert (lag.task, lag.namespace, lag.entries, lag.last_error) == ("recording", "a", 1, "as the test wants it")
        assert lag.seconds > 0
        task.is_unavailable = False
        until(lambda: runner.lags() == [])
    assert task.state.effects["a"] == lsns
    assert journal.dead_letters("recording") == []
    pauses = [later - earlier for earlier, later in zip(task.attempts, task.attempts[1:], strict=False)]
    assert all(pause >= MIN_BACKOFF_SECONDS * 0.9 for pause in pauses[:3])
    assert pauses[1] > pauses[0] * 1.5, "each time a little later"


def test_retries_of_an_unavailable_dependency_do_not_count_as_attempts_of_an_entry(journal: Journal) -> None:
    """An entry that fails after the dependency is back has all its attempts."""
    (lsn,) = append(journal, "a", "once")
    task = RecordingTask(is_unavailable=True)
    with running(journal, task):
        until(lambda: len(task.attempts) == MAX_ATTEMPTS - 1)
        task.failures_left, task.is_unavailable = MAX_ATTEMPTS - 1, False
        until(lambda: task.state.effects["a"] == [lsn])
    assert journal.dead_letters("recording") == []


def test_an_error_is_not_reported_after_recovery(journal: Journal) -> None:
    class FailingPosition(RecordingTask):
        def position(self, namespace: str) -> int:
            if self.is_unavailable:
                self.process(namespace, [])
            return super().position(namespace)

    append(journal, "a", "one")
    task = FailingPosition(is_unavailable=True)
    task.state.positions["a"] = 1
    with running(journal, task) as runner:
        until(lambda: bool(runner.lags()))
        task.is_unavailable = False
        until(lambda: runner.lags() == [])
        maintenance_runs = task.maintenance_runs
        time.sleep(0.3)  # to see that nothing happens
        assert task.maintenance_runs - maintenance_runs < 5, "it sleeps"


def test_the_runner_recovers_from_failed_reads_of_the_journal() -> None:
    class FailingReads(VolatileJournal):
        broken = True

        def read_changes(
            self,
            namespace: str,
            after_lsn: int,
            limit: int,
            log_filter: LogFilter | None = None,
            *,
            max_message_bytes: int = ANY_SIZE,
        ) -> LogEntries:
            if namespace == "a" and self.broken:
                raise OSError("as the test wants it")
            return super().read_changes(namespace, after_lsn, limit, log_filter, max_message_bytes=max_message_bytes)

    with closing(FailingReads()) as journal:
        lsns, elsewhere = append(journal, "a", "one"), append(journal, "b", "two")
        task = RecordingTask()
        with running(journal, task) as runner:
            until(lambda: task.state.effects["b"] == elsewhere)
            until(lambda: [lag.last_error for lag in runner.lags()] == ["OSError"])
            journal.broken = False
            until(lambda: task.state.effects["a"] == lsns)


def test_the_runner_recovers_from_a_full_disk_that_prevents_a_dead_letter() -> None:
    class FullDisk(VolatileJournal):
        full = True

        def submit(self, pending: PendingCommand) -> None:
            if self.full and isinstance(pending.command, AddDeadLetter):
                pending.complete(error=DiskFull())
            else:
                super().submit(pending)

    with closing(FullDisk()) as journal:
        lsns = append(journal, "a", "one", "two")
        task = RecordingTask(poisoned=frozenset({lsns[0]}))
        with running(journal, task):
            until(lambda: len(task.attempts) > MAX_ATTEMPTS)
            elsewhere = append(journal, "b", "three")
            until(lambda: task.state.effects["b"] == elsewhere)
            journal.full = False
            until(lambda: task.state.effects["a"] == lsns[1:])
        assert [letter.lsn for letter in journal.dead_letters("recording")] == [lsns[0]]


def test_failing_maintenance_does_not_stop_processing(journal: Journal) -> None:
    class FailingMaintenance(RecordingTask):
        def maintain(self, idle: bool) -> bool:
            super().maintain(idle)
            raise RuntimeError("as the test wants it")

    task = FailingMaintenance()
    with running(journal, task):
        until(lambda: task.maintenance_runs > 0)
        lsns = append(journal, "a", "one")
        until(lambda: task.state.effects["a"] == lsns)


def test_stopping_finishes_the_current_batch_and_starts_no_other(journal: Journal) -> None:
    lsns = append(journal, "a", *(f"m {at}" for at in range(2 * BATCH_ENTRIES)))
    gate = threading.Event()
    task = RecordingTask(before=lambda _, __: _wait_for(gate))
    runner = new_runner(journal, task)
    runner.start()
    until(lambda: len(task.attempts) == 1)
    stopping = threading.Thread(target=runner.stop)
    stopping.start()
    gate.set()
    stopping.join(HANG_SECONDS)
    assert not stopping.is_alive()
    assert task.state.effects["a"] == lsns[:BATCH_ENTRIES]


def test_a_task_that_keeps_up_with_endless_writes_has_no_lag(journal: Journal) -> None:
    """There is always an entry to process, and it is never old."""
    started = time.monotonic()
    lags: list[float] = []

    def another(*_: object) -> None:
        append(journal, "a", f"another {len(task.attempts)}")
        lags.extend(lag.seconds for lag in runner.lags())
        time.sleep(0.01)

    task = RecordingTask(before=another)
    runner = new_runner(journal, task)
    append(journal, "a", "one")
    runner.start()
    until(lambda: len(task.attempts) >= 50)
    runner.stop()
    assert median(lags) < (time.monotonic() - started) / 4


class ShortBatches(VolatileJournal):
    """A journal that returns short batches, as with large entries."""

    def read_changes(
        self,
        namespace: str,
        after_lsn: int,
        limit: int,
        log_filter: LogFilter | None = None,
        *,
        max_message_bytes: int = ANY_SIZE,
    ) -> LogEntries:
        return super().read_changes(
            namespace, after_lsn, min(limit, 5), log_filter, max_message_bytes=max_message_bytes
        )


def test_a_short_batch_is_not_the_end_of_the_log() -> None:
    lags: list[float] = []

    def record_lags(*_: object) -> None:
        lags.extend(lag.seconds for lag in runner.lags())
        time.sleep(0.01)

    with closing(ShortBatches()) as journal:
        lsns = append(journal, "a", *(f"m {at}" for at in range(100)))
        task = RecordingTask(before=record_lags)
        runner = new_runner(journal, task)
        runner.start()
        until(lambda: task.state.effects["a"] == lsns)
        until(lambda: not runner.lags())
        runner.stop()
    assert max(lags) >= 0.1


def test_a_round_that_exceeds_its_time_is_continued_where_it_stopped(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memsidecar.layers.background.runner.MAX_ROUND_SECONDS", 0.0)
    namespaces = [f"n{at}" for at in range(5)]
    for namespace in namespaces:
        append(journal, namespace, *(f"m {at}" for at in range(BATCH_ENTRIES + 1)))
    task = RecordingTask()
    with running(journal, task):
        until(lambda: all(len(task.state.effects[namespace]) == BATCH_ENTRIES + 1 for namespace in namespaces))
    assert sorted(namespace for namespace, _ in task.batches[:5]) == namespaces
    assert task.maintenance_runs >= len(task.batches) - 1


def test_an_idle_runner_can_be_stopped(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memsidecar.layers.background.runner.IDLE_SECONDS", 1e6)
    task = RecordingTask()
    with running(journal, task):
        until(lambda: task.maintenance_runs > 0)


def test_a_runner_that_was_never_started_can_be_stopped(journal: Journal) -> None:
    new_runner(journal, RecordingTask()).stop()


def test_lags_are_reported_before_the_first_batch(journal: Journal) -> None:
    append(journal, "a", "one", "two")
    gate = threading.Event()
    task = RecordingTask(before=lambda _, __: _wait_for(gate))
    with running(journal, task) as runner:
        assert [(lag.namespace, lag.entries) for lag in runner.lags()] == [("a", 2)]
        gate.set()
        until(lambda: runner.lags() == [])


def test_effects_are_neither_lost_nor_repeated_when_the_process_ends_between_two_batches(data_dir: Path) -> None:
    """Each process handles one batch more, and ends without a shutdown."""
    state = TaskState()
    with closing(SqliteJournal(data_dir)) as journal:
        lsns = [
            lsn for part in range(6) for lsn in append(journal, "a", *(f"{part} {at}" for at in range(BATCH_ENTRIES)))
        ]
    for batches in range(1, 7):
        with closing(SqliteJournal(data_dir)) as journal:
            gate = threading.Semaphore(1)
            task = RecordingTask(state, before=lambda _, __, gate=gate: _once(gate))  # type: ignore[misc]
            runner = new_runner(journal, task)
            runner.start()
            until(lambda batches=batches: len(state.effects["a"]) >= batches * BATCH_ENTRIES)  # type: ignore[misc]
            runner.stop()
    assert state.effects["a"] == lsns


def _once(gate: threading.Semaphore) -> None:
    if not gate.acquire(blocking=False):
        raise RuntimeError("the process is gone")
