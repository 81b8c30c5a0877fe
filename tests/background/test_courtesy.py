"""Background work gives way: for several times as long as it computed, and only to somebody."""

import threading
import time
from collections.abc import Callable
from contextlib import ExitStack, closing
from itertools import count

from memsidecar.assembly import parts
from memsidecar.assembly.layers import open_layers
from memsidecar.layers.background import Courtesy, Pulse, Runner
from memsidecar.layers.background.courtesy import LONGEST_REST_SECONDS, SHORTEST_SLICE_SECONDS
from memsidecar.settings import Settings
from memsidecar.stores.volatile import VolatileJournal
from tests.background.parts import Noting, say, until

TIMES = 5.0
FOREVER = 1e9


def compute(seconds: float = 2 * SHORTEST_SLICE_SECONDS) -> float:
    """How long it took of the thread's own time."""
    begun = time.thread_time()
    while time.thread_time() - begun < seconds:
        pass
    return time.thread_time() - begun


def rested(courtesy: Courtesy) -> float:
    begun = time.monotonic()
    courtesy.give_way()
    return time.monotonic() - begun


def begun(calls: Callable[[], int], times: float = TIMES) -> Courtesy:
    courtesy = Courtesy(calls, times)
    courtesy.begin()
    return courtesy


def test_whoever_called_meanwhile_has_the_processor_several_times_as_long() -> None:
    calls = count()
    courtesy = begun(lambda: next(calls))
    for _ in range(3):
        worked = compute()
        assert rested(courtesy) >= TIMES * worked


def test_nobody_rests_for_nobody() -> None:
    courtesy = begun(lambda: 7, FOREVER)
    rests = 0.0
    for _ in range(20):
        compute()
        rests += rested(courtesy)
    assert rests < 20 * LONGEST_REST_SECONDS


def test_a_call_during_a_rest_counts_for_the_next_slice() -> None:
    calls = iter([0, 1, 2, 2])  # at the beginning, and at the end of each slice: the second came while it rested
    courtesy = begun(lambda: next(calls))
    rests = []
    for _ in range(3):
        worked = compute()
        rests.append(rested(courtesy) >= TIMES * worked)
    assert rests == [True, True, False]


def test_slices_too_short_to_be_noticed_are_added_up() -> None:
    calls = count()
    courtesy = begun(lambda: next(calls), FOREVER)
    slices = 0
    start = time.thread_time()
    while rested(courtesy) < LONGEST_REST_SECONDS:
        compute(SHORTEST_SLICE_SECONDS / 10)
        slices += 1
    assert slices > 1 or time.thread_time() - start > SHORTEST_SLICE_SECONDS


def test_a_caller_who_waits_for_the_same_work_is_not_kept_waiting() -> None:
    calls = count()
    courtesy = begun(lambda: next(calls), FOREVER)
    rests: list[float] = []

    def wait_for_it() -> None:
        compute()
        rests.append(rested(courtesy))

    caller = threading.Thread(target=wait_for_it)
    caller.start()
    caller.join()
    assert rests[0] < LONGEST_REST_SECONDS


def test_a_rest_ends_when_the_runner_is_stopped() -> None:
    calls = count()
    courtesy = begun(lambda: next(calls), FOREVER)
    courtesy.end()
    rests = 0.0
    for _ in range(20):
        compute()
        rests += rested(courtesy)
    assert rests < 20 * LONGEST_REST_SECONDS


def test_a_runner_gives_way_between_two_rounds() -> None:
    computed: list[tuple[float, float]] = []
    "How long, and until when."

    def take(*_: object) -> None:
        seconds = compute(0.01)
        say(journal, "a", f"meanwhile {len(computed)}")
        computed.append((seconds, time.monotonic()))

    with closing(VolatileJournal()) as journal:
        task, pulse = Noting(before=take), Pulse(journal)
        runner = Runner(journal, pulse, Courtesy(lambda: pulse.total, TIMES), [task], 0.0)
        say(journal, "a", "one")
        runner.start()
        until(lambda: len(computed) >= 4)
        runner.stop()
    gaps = [begun - ended for begun, (_, ended) in zip(task.attempts[1:], computed, strict=False)]
    assert all(gap >= TIMES * seconds for gap, (seconds, _) in zip(gaps, computed, strict=False))


def test_what_learns_asks_how_many_have_called() -> None:
    asked: list[str] = []

    def calls() -> int:
        asked.append(threading.current_thread().name)
        return 0

    settings = Settings()
    with closing(VolatileJournal()) as journal, ExitStack() as opened:
        open_layers(settings, journal, parts.counters(settings), calls, opened)
        until(lambda: bool(asked))
    assert set(asked) == {"background"}
