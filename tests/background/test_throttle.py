"""Background work gives way: as long as somebody waits for an answer, and not for ever."""

import sys
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack, closing

import pytest

from memsidecar.api.interceptors.concurrency import InFlightCounter, InFlightLimits, LoadProbe
from memsidecar.assembly import components
from memsidecar.assembly.layers import open_layers
from memsidecar.layers.background import BackgroundThrottle, CommitSignal, Runner, ThrottleConfig
from memsidecar.layers.background import throttle as courtesies
from memsidecar.layers.background.runner import READ_ENTRIES
from memsidecar.layers.background.throttle import GIL_HOLD_SECONDS, MAX_SLEEP_SECONDS, SLICE_SECONDS
from memsidecar.layers.episodic import memory
from memsidecar.settings import Settings
from memsidecar.stores.volatile.index import VolatileIndex
from memsidecar.stores.volatile.journal import VolatileJournal
from tests.background.recording_task import Noting, say
from tests.support.waiting import HANG_SECONDS, until

TIMES, FEWEST_TIMES = 5.0, 2.0
FOREVER = 1e9
MANY = 20


def compute(seconds: float = 1.2 * SLICE_SECONDS) -> float:
    """How long it took of the thread's own time."""
    begun = time.thread_time()
    while time.thread_time() - begun < seconds:
        pass
    return time.thread_time() - begun


def rested(courtesy: BackgroundThrottle) -> float:
    begun = time.monotonic()
    courtesy.yield_cpu()
    return time.monotonic() - begun


def least_rest(seconds: float) -> float:
    """A machine that counts what it does for others as the thread's own time makes a slice look long."""
    return min(seconds, MAX_SLEEP_SECONDS)


class Rests(threading.Event):
    """The event that ends a courtesy's rests, which also adds up how long each was meant to be.

    What a rest is meant to be does not depend on how long the machine makes of it.
    """

    seconds = 0.0

    def wait(self, timeout: float | None = None) -> bool:
        if not self.is_set():
            self.seconds += timeout or 0.0
        return super().wait(timeout)


def rests_of(courtesy: BackgroundThrottle) -> Rests:
    """Count the rests of a courtesy from now on."""
    courtesy._stopped = rests = Rests()
    return rests


def begun(is_busy: Callable[[], bool], times: float = TIMES) -> BackgroundThrottle:
    courtesy = BackgroundThrottle(is_busy, ThrottleConfig(times, FEWEST_TIMES, speedup_after_seconds=1.0))
    courtesy.start()
    return courtesy


def many_rests(courtesy: BackgroundThrottle) -> float:
    """How long the rests behind many slices of work were meant to be, together."""
    rests = rests_of(courtesy)
    for _ in range(MANY):
        compute()
        courtesy.yield_cpu()
    return rests.seconds


def test_while_somebody_waits_it_rests_several_times_as_long_as_it_worked() -> None:
    courtesy = begun(lambda: True)
    for _ in range(3):
        worked = compute()
        assert rested(courtesy) >= least_rest(TIMES * worked)


def test_it_does_not_rest_where_nobody_waits() -> None:
    assert many_rests(begun(lambda: False, FOREVER)) == 0


def test_a_rest_ends_soon_after_nobody_waits_any_more() -> None:
    looks = 0

    def is_busy() -> bool:
        nonlocal looks
        looks += 1
        return looks % 2 == 1

    assert many_rests(begun(is_busy, FOREVER)) < MANY * MAX_SLEEP_SECONDS
    assert looks == 2 * MANY


def test_the_further_behind_the_shorter_the_rests_but_some_times_as_long_as_the_work() -> None:
    courtesy = begun(lambda: True, FOREVER)
    compute()
    assert rested(courtesy) >= MAX_SLEEP_SECONDS
    courtesy.behind_since -= 10 * FOREVER
    for _ in range(3):
        worked = compute()
        assert rested(courtesy) >= least_rest(FEWEST_TIMES * worked)
    assert many_rests(courtesy) < MANY * MAX_SLEEP_SECONDS


def test_within_its_patience_it_rests_in_full_and_then_less_by_the_square() -> None:
    config = ThrottleConfig(max_sleep_ratio=90.0, min_sleep_ratio=5.0, speedup_after_seconds=4.0)
    assert [config.sleep_ratio(behind) for behind in (0.0, 4.0, 8.0, 12.0, 100.0)] == [90.0, 90.0, 22.5, 10.0, 5.0]


def test_the_index_lets_a_burst_pass_and_gives_way_no_more_when_it_is_far_behind() -> None:
    """With any rest that stays, the backlog of callers who never pause would grow for ever."""
    config = memory.INDEXING_THROTTLE
    rests = [config.sleep_ratio(behind) for behind in (8.0, 60.0, 600.0)]
    assert rests[0] == config.max_sleep_ratio and rests[1] < 1.0 and rests[2] < 0.01


def test_work_is_added_up_until_it_is_a_slice() -> None:
    courtesy = begun(lambda: True, FOREVER)
    start, slices = time.thread_time(), 0
    rests = rests_of(courtesy)
    while not rests.seconds:
        courtesy.yield_cpu()
        compute(SLICE_SECONDS / 10)
        slices += 1
        assert slices < 1_000
    assert time.thread_time() - start >= SLICE_SECONDS


def test_who_wants_the_gil_gets_it_in_the_middle_of_a_slice(monkeypatch: pytest.MonkeyPatch) -> None:
    """And not only when Python takes it away, which is made a matter of seconds here, or when the slice ends: never."""
    monkeypatch.setattr(courtesies, "SLICE_SECONDS", FOREVER)
    courtesy, stop = BackgroundThrottle(lambda: False, ThrottleConfig(TIMES, FEWEST_TIMES, 60.0)), threading.Event()

    def work() -> None:
        courtesy.start()
        while not stop.is_set():
            compute(2 * GIL_HOLD_SECONDS)
            courtesy.yield_cpu()

    worker, usual, long_turn = threading.Thread(target=work), sys.getswitchinterval(), 10.0
    sys.setswitchinterval(long_turn)
    try:
        worker.start()
        begun = time.monotonic()
        for _ in range(MANY):
            time.sleep(GIL_HOLD_SECONDS)
        taken = time.monotonic() - begun
    finally:
        stop.set()
        sys.setswitchinterval(usual)
        worker.join()
    assert taken < MANY * long_turn / 4


def test_a_caller_who_waits_for_the_same_work_is_not_kept_waiting() -> None:
    courtesy = begun(lambda: True, FOREVER)
    rests: list[float] = []
    caller = threading.Thread(target=lambda: rests.append(many_rests(courtesy)))
    caller.start()
    caller.join()
    assert rests[0] == 0


def test_nobody_rests_who_is_told_to_stop() -> None:
    courtesy = begun(lambda: True, FOREVER)
    rests = rests_of(courtesy)
    courtesy.stop()
    for _ in range(MANY):
        compute()
        courtesy.yield_cpu()
    assert rests.seconds == 0


def test_a_runner_gives_way_between_two_rounds() -> None:
    computed: list[tuple[float, float]] = []
    "How long, and until when."

    def take(*_: object) -> None:
        seconds = compute(0.01)
        say(journal, "a", f"meanwhile {len(computed)}")
        computed.append((seconds, time.monotonic()))

    with closing(VolatileJournal()) as journal:
        task = Noting(before=take)
        runner = Runner(
            journal,
            CommitSignal(journal),
            BackgroundThrottle(lambda: True, ThrottleConfig(TIMES, FEWEST_TIMES, 60.0)),
            [task],
            0.0,
        )
        say(journal, "a", "one")
        runner.start()
        until(lambda: len(computed) >= 4)
        runner.stop()
    gaps = [begun - ended for begun, (_, ended) in zip(task.attempts[1:], computed, strict=False)]
    assert all(gap >= least_rest(TIMES * seconds) for gap, (seconds, _) in zip(gaps, computed, strict=False))


def test_a_runner_gives_way_between_any_two_pieces_that_it_reads() -> None:
    class Counting(BackgroundThrottle):
        times_given_way = 0

        def yield_cpu(self) -> None:
            self.times_given_way += 1
            super().yield_cpu()

    courtesy = Counting(lambda: False, ThrottleConfig(TIMES, FEWEST_TIMES, 60.0))
    seen: list[int] = []
    with closing(VolatileJournal()) as journal:
        task = Noting(before=lambda *_: seen.append(courtesy.times_given_way))
        runner = Runner(journal, CommitSignal(journal), courtesy, [task], 0.0)
        say(journal, "a", *(f"m {at}" for at in range(3 * READ_ENTRIES)))
        runner.start()
        until(lambda: len(task.kept.effects["a"]) == 3 * READ_ENTRIES)
        runner.stop()
    assert task.chapters == [("a", 3 * READ_ENTRIES)]
    assert seen[0] >= 3


def test_a_runner_that_is_stopped_rests_no_more_in_its_chapter() -> None:
    courtesy = BackgroundThrottle(lambda: True, ThrottleConfig(FOREVER, FEWEST_TIMES, 60.0))
    rests = rests_of(courtesy)
    begun = threading.Event()

    def take(*_entries: object) -> None:
        begun.set()
        for _ in range(4 * MANY):
            compute()
            courtesy.yield_cpu()

    with closing(VolatileJournal()) as journal:
        runner = Runner(journal, CommitSignal(journal), courtesy, [Noting(before=take)], 0.0)
        say(journal, "a", "one")
        runner.start()
        assert begun.wait(HANG_SECONDS)
        courtesy.stop()
        meant = rests.seconds
        runner.stop()
    assert rests.seconds - meant <= MAX_SLEEP_SECONDS, "one may have been about to begin"


def test_who_is_kept_from_work_ends_nobody_elses_courtesy() -> None:
    courtesy = BackgroundThrottle(lambda: True, ThrottleConfig(TIMES, FEWEST_TIMES, 60.0))
    with closing(VolatileJournal()) as journal:
        task = Noting(away=True)
        runner = Runner(journal, CommitSignal(journal), courtesy, [task], 0.0)
        say(journal, "a", "one")
        runner.start()
        until(lambda: len(task.attempts) >= 3)
        runner.stop()
    assert courtesy.behind_since > task.attempts[0]


def test_learning_and_the_index_each_ask_whether_somebody_waits() -> None:
    settings = Settings()
    asked: dict[str, set[str]] = {"waits": set(), "is here": set()}

    class NotingProbe(LoadProbe):
        def is_busy(self) -> bool:
            asked["is here" if self._finished_calls else "waits"].add(threading.current_thread().name)
            return False

    class NotingLimits(InFlightLimits):
        def load_probe(self, *, finished_calls: bool) -> LoadProbe:
            return NotingProbe(self, finished_calls=finished_calls)

    limits = NotingLimits(InFlightCounter(1, "calls"), InFlightCounter(1, "streams"))
    with closing(VolatileJournal()) as journal, ExitStack() as opened:
        layers = open_layers(settings, journal, components.counters(settings), limits, opened)
        layers.episodic.open(VolatileIndex)
        say(journal, "a", *(f"I live in Paris, and I work for company number {at}." for at in range(600)))
        until(lambda: all(by == {"background"} for by in asked.values()))
