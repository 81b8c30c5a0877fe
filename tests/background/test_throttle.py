"""The throttle: background work yields CPU while calls are in flight, and less the further it lags behind."""

import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing

import pytest

from memsidecar.api.interceptors.concurrency import InFlightCounter, InFlightLimits, LoadProbe
from memsidecar.assembly import components
from memsidecar.assembly.layers import open_layers
from memsidecar.domain.errors import ShuttingDown
from memsidecar.layers.background import BackgroundThrottle, CommitSignal, Runner, ThrottleConfig
from memsidecar.layers.background import throttle as throttle_module
from memsidecar.layers.background.runner import READ_ENTRIES
from memsidecar.layers.background.throttle import GIL_HOLD_SECONDS, MAX_SLEEP_SECONDS, SLICE_SECONDS
from memsidecar.layers.episodic import memory
from memsidecar.settings import Settings
from memsidecar.stores.volatile.index import VolatileIndex
from memsidecar.stores.volatile.journal import VolatileJournal
from tests.background.recording_task import RecordingTask, append
from tests.support.waiting import HANG_SECONDS, until

SLEEP_RATIO, MIN_SLEEP_RATIO = 5.0, 2.0
FOREVER = 1e9
MANY = 20


def compute(seconds: float = 1.2 * SLICE_SECONDS) -> float:
    """Compute for this long; return the CPU time of the thread."""
    start = time.thread_time()
    while time.thread_time() - start < seconds:
        pass
    return time.thread_time() - start


def yield_seconds(throttle: BackgroundThrottle) -> float:
    start = time.monotonic()
    throttle.yield_cpu()
    return time.monotonic() - start


def min_sleep(seconds: float) -> float:
    """Return the least expected sleep. The thread's CPU time may include time of others, so a slice may look long."""
    return min(seconds, MAX_SLEEP_SECONDS)


class RecordedSleeps(threading.Event):
    """The event that ends the sleeps of a throttle; adds up their requested lengths.

    The requested length of a sleep does not depend on the load of the machine.
    """

    seconds = 0.0

    def wait(self, timeout: float | None = None) -> bool:
        if not self.is_set():
            self.seconds += timeout or 0.0
        return super().wait(timeout)


def record_sleeps(throttle: BackgroundThrottle) -> RecordedSleeps:
    """Record the sleeps of a throttle from now on."""
    throttle._stopped = sleeps = RecordedSleeps()
    return sleeps


def started(is_busy: Callable[[], bool], sleep_ratio: float = SLEEP_RATIO) -> BackgroundThrottle:
    throttle = BackgroundThrottle(is_busy, ThrottleConfig(sleep_ratio, MIN_SLEEP_RATIO, speedup_after_seconds=1.0))
    throttle.start()
    return throttle


def total_sleep(throttle: BackgroundThrottle) -> float:
    """Return the requested sleep of many slices of work."""
    sleeps = record_sleeps(throttle)
    for _ in range(MANY):
        compute()
        throttle.yield_cpu()
    return sleeps.seconds


def test_with_calls_in_flight_it_sleeps_several_times_as_long_as_it_worked() -> None:
    throttle = started(lambda: True)
    for _ in range(3):
        worked = compute()
        assert yield_seconds(throttle) >= min_sleep(SLEEP_RATIO * worked)


def test_it_does_not_sleep_without_calls_in_flight() -> None:
    assert total_sleep(started(lambda: False, FOREVER)) == 0


def test_a_sleep_ends_soon_after_the_last_call() -> None:
    probes = 0

    def is_busy() -> bool:
        nonlocal probes
        probes += 1
        return probes % 2 == 1

    assert total_sleep(started(is_busy, FOREVER)) < MANY * MAX_SLEEP_SECONDS
    assert probes == 2 * MANY


def test_the_sleep_ratio_falls_with_the_lag_down_to_its_minimum() -> None:
    throttle = started(lambda: True, FOREVER)
    compute()
    assert yield_seconds(throttle) >= MAX_SLEEP_SECONDS
    throttle.behind_since -= 10 * FOREVER
    for _ in range(3):
        worked = compute()
        assert yield_seconds(throttle) >= min_sleep(MIN_SLEEP_RATIO * worked)
    assert total_sleep(throttle) < MANY * MAX_SLEEP_SECONDS


def test_the_sleep_ratio_falls_by_the_square_of_the_lag() -> None:
    config = ThrottleConfig(max_sleep_ratio=90.0, min_sleep_ratio=5.0, speedup_after_seconds=4.0)
    assert [config.sleep_ratio(behind) for behind in (0.0, 4.0, 8.0, 12.0, 100.0)] == [90.0, 90.0, 22.5, 10.0, 5.0]


def test_indexing_sleeps_during_a_burst_and_hardly_when_it_lags_far_behind() -> None:
    """With a fixed minimum, the backlog of endless writes would grow without bound."""
    config = memory.INDEXING_THROTTLE
    sleeps = [config.sleep_ratio(behind) for behind in (8.0, 60.0, 600.0)]
    assert sleeps[0] == config.max_sleep_ratio and sleeps[1] < 1.0 and sleeps[2] < 0.01


def test_short_work_is_added_up_to_a_slice() -> None:
    throttle = started(lambda: True, FOREVER)
    start, slices = time.thread_time(), 0
    sleeps = record_sleeps(throttle)
    while not sleeps.seconds:
        throttle.yield_cpu()
        compute(SLICE_SECONDS / 10)
        slices += 1
        assert slices < 1_000
    assert time.thread_time() - start >= SLICE_SECONDS


def test_the_gil_is_released_in_the_middle_of_a_slice(monkeypatch: pytest.MonkeyPatch) -> None:
    """The switch interval of Python is long here, and the slice never ends."""
    monkeypatch.setattr(throttle_module, "SLICE_SECONDS", FOREVER)
    throttle, stop = (
        BackgroundThrottle(lambda: False, ThrottleConfig(SLEEP_RATIO, MIN_SLEEP_RATIO, 60.0)),
        threading.Event(),
    )

    def work() -> None:
        throttle.start()
        while not stop.is_set():
            compute(2 * GIL_HOLD_SECONDS)
            throttle.yield_cpu()

    worker, usual, long_interval = threading.Thread(target=work), sys.getswitchinterval(), 10.0
    sys.setswitchinterval(long_interval)
    try:
        worker.start()
        start = time.monotonic()
        for _ in range(MANY):
            time.sleep(GIL_HOLD_SECONDS)
        taken = time.monotonic() - start
    finally:
        stop.set()
        sys.setswitchinterval(usual)
        worker.join()
    assert taken < MANY * long_interval / 4


def test_a_caller_on_another_thread_does_not_sleep() -> None:
    throttle = started(lambda: True, FOREVER)
    sleeps: list[float] = []
    caller = threading.Thread(target=lambda: sleeps.append(total_sleep(throttle)))
    caller.start()
    caller.join()
    assert sleeps[0] == 0


def test_a_stopped_throttle_ends_the_work_of_its_thread_only() -> None:
    throttle = started(lambda: True, FOREVER)
    throttle.stop()
    with pytest.raises(ShuttingDown):
        throttle.yield_cpu()
    with ThreadPoolExecutor(1) as other:
        assert other.submit(throttle.yield_cpu).result() is None


def test_a_runner_sleeps_between_two_rounds() -> None:
    computed: list[tuple[float, float]] = []
    "CPU time and end of each batch."

    def process(*_: object) -> None:
        seconds = compute(0.01)
        append(journal, "a", f"meanwhile {len(computed)}")
        computed.append((seconds, time.monotonic()))

    with closing(VolatileJournal()) as journal:
        task = RecordingTask(before=process)
        runner = Runner(
            journal,
            CommitSignal(journal),
            BackgroundThrottle(lambda: True, ThrottleConfig(SLEEP_RATIO, MIN_SLEEP_RATIO, 60.0)),
            [task],
            0.0,
        )
        append(journal, "a", "one")
        runner.start()
        until(lambda: len(computed) >= 4)
        runner.stop()
    gaps = [start - ended for start, (_, ended) in zip(task.attempts[1:], computed, strict=False)]
    assert all(gap >= min_sleep(SLEEP_RATIO * seconds) for gap, (seconds, _) in zip(gaps, computed, strict=False))


def test_a_runner_yields_between_any_two_reads() -> None:
    class CountingThrottle(BackgroundThrottle):
        yields = 0

        def yield_cpu(self) -> None:
            self.yields += 1
            super().yield_cpu()

    throttle = CountingThrottle(lambda: False, ThrottleConfig(SLEEP_RATIO, MIN_SLEEP_RATIO, 60.0))
    seen: list[int] = []
    with closing(VolatileJournal()) as journal:
        task = RecordingTask(before=lambda *_: seen.append(throttle.yields))
        runner = Runner(journal, CommitSignal(journal), throttle, [task], 0.0)
        append(journal, "a", *(f"m {at}" for at in range(3 * READ_ENTRIES)))
        runner.start()
        until(lambda: len(task.state.effects["a"]) == 3 * READ_ENTRIES)
        runner.stop()
    assert task.batches == [("a", 3 * READ_ENTRIES)]
    assert seen[0] >= 3


def test_a_runner_stops_within_a_batch() -> None:
    throttle = BackgroundThrottle(lambda: True, ThrottleConfig(FOREVER, MIN_SLEEP_RATIO, 60.0))
    started_batch = threading.Event()

    def process(*_entries: object) -> None:
        started_batch.set()
        while True:
            compute()
            throttle.yield_cpu()

    with closing(VolatileJournal()) as journal:
        runner = Runner(journal, CommitSignal(journal), throttle, [RecordingTask(before=process)], 0.0)
        append(journal, "a", "one")
        runner.start()
        assert started_batch.wait(HANG_SECONDS)
        runner.stop()


def test_an_unavailable_dependency_does_not_count_as_lag() -> None:
    throttle = BackgroundThrottle(lambda: True, ThrottleConfig(SLEEP_RATIO, MIN_SLEEP_RATIO, 60.0))
    with closing(VolatileJournal()) as journal:
        task = RecordingTask(is_unavailable=True)
        runner = Runner(journal, CommitSignal(journal), throttle, [task], 0.0)
        append(journal, "a", "one")
        runner.start()
        until(lambda: len(task.attempts) >= 3)
        runner.stop()
    assert throttle.behind_since > task.attempts[0]


def test_fact_extraction_and_indexing_each_probe_the_load() -> None:
    settings = Settings()
    probed: dict[str, set[str]] = {"pending": set(), "finished": set()}

    class RecordingProbe(LoadProbe):
        def is_busy(self) -> bool:
            probed["finished" if self._finished_calls else "pending"].add(threading.current_thread().name)
            return False

    class RecordingLimits(InFlightLimits):
        def load_probe(self, *, finished_calls: bool) -> LoadProbe:
            return RecordingProbe(self, finished_calls=finished_calls)

    limits = RecordingLimits(InFlightCounter(1, "calls"), InFlightCounter(1, "streams"))
    with closing(VolatileJournal()) as journal, ExitStack() as opened:
        layers = open_layers(settings, journal, components.counters(settings), limits, opened)
        layers.episodic.open(VolatileIndex)
        append(journal, "a", *(f"I live in Paris, and I work for company number {at}." for at in range(600)))
        until(lambda: all(by == {"background"} for by in probed.values()))
