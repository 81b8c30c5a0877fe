"""Measures of work that do not depend on the speed or the load of the machine."""

import sys
import time
from collections.abc import Callable
from types import FrameType

MAX_ATTEMPTS = 40


def calls_during(work: Callable[[], object]) -> int:
    """Count the calls of functions, Python's own included, that this thread makes."""
    count = 0

    def count_call(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(count_call)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count


def costs_at_most(times: float, few: Callable[[], object], many: Callable[[], object], slack_seconds: float) -> bool:
    """Return whether `many` takes at most `times` the CPU time of `few`, for work without a counter, such as a regex.

    Other processes only add to the measured time. So the minimum of all attempts counts, and there are more attempts
    while the comparison fails: noise passes, and work of a higher order never does. On a quiet machine two runs of
    `few` and one of `many` are enough. On another one a quiet moment can be long enough for `few` and too short for
    `many`, so `few` then runs again and again for as long as `many` did.
    """
    if _seconds(many) <= times * min(_seconds(few), _seconds(few)) + slack_seconds:
        return True
    min_few = min_many = float("inf")
    for _ in range(MAX_ATTEMPTS):
        min_many = min(min_many, _seconds(many))
        min_few = min(min_few, _mean_seconds(few, min_many))
        if min_many <= times * min_few + slack_seconds:
            return True
    return False


def _seconds(work: Callable[[], object]) -> float:
    start = time.thread_time()
    work()
    return time.thread_time() - start


def _mean_seconds(work: Callable[[], object], duration: float) -> float:
    start, runs, seconds = time.thread_time(), 0, 0.0
    while seconds < duration or not runs:
        work()
        runs, seconds = runs + 1, time.thread_time() - start
    return seconds / runs
