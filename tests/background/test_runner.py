"""The runner: in order, fairly, once; whatever fails, the rest goes on."""

import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from statistics import median

import pytest

from memsidecar.domain.errors import DiskFull
from memsidecar.layers.background.runner import BATCH_ENTRIES, MAX_ATTEMPTS, MIN_BACKOFF_SECONDS, READ_ENTRIES
from memsidecar.stores.contract import AddDeadLetter, Journal, LogEntries, LogFilter, PendingCommand
from memsidecar.stores.contract.change_feed import MAX_BATCH_BYTES
from memsidecar.stores.sqlite.journal import SqliteJournal
from memsidecar.stores.volatile.journal import VolatileJournal
from tests.background.recording_task import Keeping, Noting, a_runner, running, say
from tests.support.waiting import HANG_SECONDS, until


@pytest.fixture
def journal() -> Iterator[VolatileJournal]:
    with closing(VolatileJournal()) as opened:
        yield opened


def test_everything_is_taken_once_and_in_order(journal: Journal) -> None:
    before = say(journal, "a", *(f"early {at}" for at in range(600)))
    task = Noting()
    with running(journal, task):
        after = say(journal, "a", *(f"late {at}" for at in range(300)))
        until(lambda: len(task.kept.effects["a"]) == 900)
    assert task.kept.effects["a"] == before + after


def test_a_chapter_of_large_entries_is_short(journal: Journal) -> None:
    large = "m" * (MAX_BATCH_BYTES // READ_ENTRIES)
    lsns = say(journal, "a", *(f"{at} {large}" for at in range(3 * READ_ENTRIES)))
    task = Noting()
    with running(journal, task):
        until(lambda: task.kept.effects["a"] == lsns)
    assert [length for _, length in task.chapters] == [READ_ENTRIES] * 3


def test_each_task_goes_its_own_way(journal: Journal) -> None:
    lsns = say(journal, "a", "one", "two")
    stuck, free = Noting(name="stuck", away=True), Noting(name="free")
    with running(journal, stuck, free):
        until(lambda: free.kept.effects["a"] == lsns)
    assert stuck.kept.effects["a"] == []


def test_a_backlog_keeps_nobody_else_waiting_for_more_than_a_chapter_or_two(journal: Journal) -> None:
    for session in range(50):
        say(journal, "long", *(f"m {at}" for at in range(100)), session=f"s{session}")
    gate = threading.Event()
    task = Noting(before=lambda namespace, _: None if namespace == "short" else _hold(gate))
    with running(journal, task):
        until(lambda: len(task.attempts) == 1)
        say(journal, "short", "hello")
        gate.set()
        until(lambda: len(task.kept.effects["short"]) == 1 and len(task.kept.effects["long"]) == 5_000)
    place = task.chapters.index(("short", 1))
    assert place <= 2
    assert all(length <= BATCH_ENTRIES for _, length in task.chapters)


def _hold(gate: threading.Event) -> None:
    assert gate.wait(20)


def test_a_poisonous_entry_is_set_aside_and_the_rest_goes_on(
    journal: Journal, caplog: pytest.LogCaptureFixture
) -> None:
    lsns = say(journal, "a", *(f"m {at}" for at in range(10)))
    elsewhere = say(journal, "b", "unharmed")
    task = Noting(poisoned=frozenset({lsns[4], lsns[7]}))
    with running(journal, task) as runner:
        until(lambda: task.kept.positions["a"] == lsns[-1] and runner.lags() == [])
        assert runner.dead_letter_count() == 2
    assert task.kept.effects["a"] == [lsn for lsn in lsns if lsn not in task.poisoned]
    assert task.kept.effects["b"] == elsewhere
    aside = journal.dead_letters("noting")
    assert [(one.task, one.namespace, one.lsn, one.reason) for one in aside] == [
        ("noting", "a", lsn, "ValueError") for lsn in sorted(task.poisoned)
    ]
    assert "skips entry" in caplog.text


def test_before_an_entry_is_set_aside_it_is_tried_again(journal: Journal) -> None:
    (lsn,) = say(journal, "a", "once")
    task = Noting(faults_left=MAX_ATTEMPTS - 1)
    with running(journal, task):
        until(lambda: task.kept.effects["a"] == [lsn])
    assert journal.dead_letters("noting") == []


def test_what_was_set_aside_stays_so_after_a_restart(data_dir: Path) -> None:
    kept = Keeping()
    with closing(SqliteJournal(data_dir)) as journal:
        lsns = say(journal, "a", "one", "two", "three")
        task = Noting(kept, poisoned=frozenset({lsns[1]}))
        with running(journal, task):
            until(lambda: task.kept.positions["a"] == lsns[-1])
    kept.positions["a"] = 0
    kept.effects["a"].clear()
    with closing(SqliteJournal(data_dir)) as journal:
        again = Noting(kept, poisoned=frozenset({lsns[1]}))
        with running(journal, again) as runner:
            until(lambda: kept.positions["a"] == lsns[-1])
            assert runner.dead_letter_count() == 1
        assert kept.effects["a"] == [lsns[0], lsns[2]]
        assert len(again.attempts) == 1, "nothing failed this time"


def test_something_that_is_away_is_waited_for_and_nobody_is_set_aside(journal: Journal) -> None:
    lsns = say(journal, "a", "one")
    task = Noting(away=True)
    with running(journal, task) as runner:
        until(lambda: len(task.attempts) >= MAX_ATTEMPTS + 1)
        (lag,) = runner.lags()
        assert (lag.task, lag.namespace, lag.entries, lag.last_error) == ("noting", "a", 1, "as the test wants it")
        assert lag.seconds > 0
        task.away = False
        until(lambda: runner.lags() == [])
    assert task.kept.effects["a"] == lsns
    assert journal.dead_letters("noting") == []
    pauses = [later - earlier for earlier, later in zip(task.attempts, task.attempts[1:], strict=False)]
    assert all(pause >= MIN_BACKOFF_SECONDS * 0.9 for pause in pauses[:3])
    assert pauses[1] > pauses[0] * 1.5, "each time a little later"


def test_waiting_for_something_is_not_held_against_the_entries(journal: Journal) -> None:
    """An entry that fails right after something was away for long has all its attempts before it."""
    (lsn,) = say(journal, "a", "once")
    task = Noting(away=True)
    with running(journal, task):
        until(lambda: len(task.attempts) == MAX_ATTEMPTS - 1)
        task.faults_left, task.away = MAX_ATTEMPTS - 1, False
        until(lambda: task.kept.effects["a"] == [lsn])
    assert journal.dead_letters("noting") == []


def test_a_trouble_that_is_over_is_not_reported_any_more(journal: Journal) -> None:
    class Opening(Noting):
        def position(self, namespace: str) -> int:
            if self.away:
                self.process(namespace, [])
            return super().position(namespace)

    say(journal, "a", "one")
    task = Opening(away=True)
    task.kept.positions["a"] = 1
    with running(journal, task) as runner:
        until(lambda: bool(runner.lags()))
        task.away = False
        until(lambda: runner.lags() == [])
        rests = task.rests
        time.sleep(0.3)  # to see that nothing happens
        assert task.rests - rests < 5, "it sleeps"


def test_a_journal_that_cannot_be_read_for_a_while_stops_nothing_for_good() -> None:
    class Failing(VolatileJournal):
        broken = True

        def read_changes(
            self, namespace: str, after_lsn: int, limit: int, log_filter: LogFilter | None = None
        ) -> LogEntries:
            if namespace == "a" and self.broken:
                raise OSError("as the test wants it")
            return super().read_changes(namespace, after_lsn, limit, log_filter)

    with closing(Failing()) as journal:
        lsns, elsewhere = say(journal, "a", "one"), say(journal, "b", "two")
        task = Noting()
        with running(journal, task) as runner:
            until(lambda: task.kept.effects["b"] == elsewhere)
            until(lambda: [lag.last_error for lag in runner.lags()] == ["OSError"])
            journal.broken = False
            until(lambda: task.kept.effects["a"] == lsns)


def test_a_full_disk_that_keeps_an_entry_from_being_set_aside_stops_nothing_for_good() -> None:
    class Full(VolatileJournal):
        full = True

        def submit(self, ticket: PendingCommand) -> None:
            if self.full and isinstance(ticket.command, AddDeadLetter):
                ticket.complete(error=DiskFull())
            else:
                super().submit(ticket)

    with closing(Full()) as journal:
        lsns = say(journal, "a", "one", "two")
        task = Noting(poisoned=frozenset({lsns[0]}))
        with running(journal, task):
            until(lambda: len(task.attempts) > MAX_ATTEMPTS)
            elsewhere = say(journal, "b", "three")
            until(lambda: task.kept.effects["b"] == elsewhere)
            journal.full = False
            until(lambda: task.kept.effects["a"] == lsns[1:])
        assert [one.lsn for one in journal.dead_letters("noting")] == [lsns[0]]


def test_a_chore_that_fails_stops_nothing(journal: Journal) -> None:
    class Clumsy(Noting):
        def maintain(self, idle: bool) -> bool:
            super().maintain(idle)
            raise RuntimeError("as the test wants it")

    task = Clumsy()
    with running(journal, task):
        until(lambda: task.rests > 0)
        lsns = say(journal, "a", "one")
        until(lambda: task.kept.effects["a"] == lsns)


def test_stopping_finishes_the_chapter_at_hand_and_begins_no_other(journal: Journal) -> None:
    lsns = say(journal, "a", *(f"m {at}" for at in range(2 * BATCH_ENTRIES)))
    gate = threading.Event()
    task = Noting(before=lambda _, __: _hold(gate))
    runner = a_runner(journal, task)
    runner.start()
    until(lambda: len(task.attempts) == 1)
    stopping = threading.Thread(target=runner.stop)
    stopping.start()
    gate.set()
    stopping.join(HANG_SECONDS)
    assert not stopping.is_alive()
    assert task.kept.effects["a"] == lsns[:BATCH_ENTRIES]


def test_who_keeps_up_with_a_stream_without_end_is_not_behind(journal: Journal) -> None:
    """There is always something to read, and it is never old."""
    begun = time.monotonic()
    lags: list[float] = []

    def another(*_: object) -> None:
        say(journal, "a", f"another {len(task.attempts)}")
        lags.extend(lag.seconds for lag in runner.lags())
        time.sleep(0.01)

    task = Noting(before=another)
    runner = a_runner(journal, task)
    say(journal, "a", "one")
    runner.start()
    until(lambda: len(task.attempts) >= 50)
    runner.stop()
    assert median(lags) < (time.monotonic() - begun) / 4


class Meagre(VolatileJournal):
    """As where entries are large: a chapter is short, and there is more behind it."""

    def read_changes(
        self, namespace: str, after_lsn: int, limit: int, log_filter: LogFilter | None = None
    ) -> LogEntries:
        return super().read_changes(namespace, after_lsn, min(limit, 5), log_filter)


def test_a_short_chapter_is_not_the_end_of_the_log() -> None:
    lags: list[float] = []

    def take(*_: object) -> None:
        lags.extend(lag.seconds for lag in runner.lags())
        time.sleep(0.01)

    with closing(Meagre()) as journal:
        lsns = say(journal, "a", *(f"m {at}" for at in range(100)))
        task = Noting(before=take)
        runner = a_runner(journal, task)
        runner.start()
        until(lambda: task.kept.effects["a"] == lsns)
        until(lambda: not runner.lags())
        runner.stop()
    assert max(lags) >= 0.1


def test_a_round_that_takes_long_is_gone_on_with_where_it_stopped(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memsidecar.layers.background.runner.MAX_ROUND_SECONDS", 0.0)
    namespaces = [f"n{at}" for at in range(5)]
    for namespace in namespaces:
        say(journal, namespace, *(f"m {at}" for at in range(BATCH_ENTRIES + 1)))
    task = Noting()
    with running(journal, task):
        until(lambda: all(len(task.kept.effects[one]) == BATCH_ENTRIES + 1 for one in namespaces))
    assert sorted(namespace for namespace, _ in task.chapters[:5]) == namespaces
    assert task.rests >= len(task.chapters) - 1


def test_an_idle_runner_that_would_sleep_for_days_can_be_stopped(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memsidecar.layers.background.runner.IDLE_SECONDS", 1e6)
    task = Noting()
    with running(journal, task):
        until(lambda: task.rests > 0)


def test_a_runner_that_was_never_started_can_be_stopped(journal: Journal) -> None:
    a_runner(journal, Noting()).stop()


def test_lags_tell_before_anything_was_looked_at(journal: Journal) -> None:
    say(journal, "a", "one", "two")
    gate = threading.Event()
    task = Noting(before=lambda _, __: _hold(gate))
    with running(journal, task) as runner:
        assert [(lag.namespace, lag.entries) for lag in runner.lags()] == [("a", 2)]
        gate.set()
        until(lambda: runner.lags() == [])


def test_effects_are_neither_lost_nor_repeated_when_the_process_ends_between_two_chapters(data_dir: Path) -> None:
    """Each time, the process goes on a little and is then abandoned without a word."""
    kept = Keeping()
    with closing(SqliteJournal(data_dir)) as journal:
        lsns = [lsn for part in range(6) for lsn in say(journal, "a", *(f"{part} {at}" for at in range(BATCH_ENTRIES)))]
    for chapters in range(1, 7):
        with closing(SqliteJournal(data_dir)) as journal:
            gate = threading.Semaphore(1)
            task = Noting(kept, before=lambda _, __, gate=gate: _once(gate))  # type: ignore[misc]
            runner = a_runner(journal, task)
            runner.start()
            until(lambda chapters=chapters: len(kept.effects["a"]) >= chapters * BATCH_ENTRIES)  # type: ignore[misc]
            runner.stop()
    assert kept.effects["a"] == lsns


def _once(gate: threading.Semaphore) -> None:
    if not gate.acquire(blocking=False):
        raise RuntimeError("the process is gone")
