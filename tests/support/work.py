"""Measures of work that do not depend on the speed or the load of the machine."""

import sys
import time
from collections.abc import Callable
from types import FrameType

MIN_ATTEMPTS, MAX_ATTEMPTS = 2, 40


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
    while the comparison fails: noise passes, and work of a higher order never does. One attempt of `many` can be
    enough, one of `few` cannot: time that noise adds to `few` would hide a difference.
    """
    min_few, min_many = min(_seconds(few) for _ in range(MIN_ATTEMPTS)), float("inf")
    for _ in range(MAX_ATTEMPTS):
        min_many = min(min_many, _seconds(many))
        if min_many <= times * min_few + slack_seconds:
            return True
        min_few = min(min_few, _seconds(few))
    return False


def _seconds(work: Callable[[], object]) -> float:
    start = time.thread_time()
    work()
    return time.thread_time() - start
