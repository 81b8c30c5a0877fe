"""Measures of work that do not depend on the speed of the machine, nor on what else it does."""

import sys
import time
from collections.abc import Callable
from types import FrameType

FEWEST_ATTEMPTS, MOST_ATTEMPTS = 2, 40


def calls_during(act: Callable[[], object]) -> int:
    """Count the calls of functions, Python's own included, that this thread makes."""
    count = 0

    def note(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        act()
    finally:
        sys.setprofile(before)
    return count


def costs_at_most(times: float, few: Callable[[], object], many: Callable[[], object], slack_seconds: float) -> bool:
    """Tell whether `many` costs at most so many times the CPU of `few`, for what is counted nowhere, such as a regex.

    Other processes only ever add to what is measured. So the least of all attempts counts, and there are more
    attempts as long as the comparison does not hold: noise passes, and work of a higher order never does.
    """
    least_few = least_many = float("inf")
    for attempt in range(1, MOST_ATTEMPTS + 1):
        least_few, least_many = min(least_few, _seconds(few)), min(least_many, _seconds(many))
        if attempt >= FEWEST_ATTEMPTS and least_many <= times * least_few + slack_seconds:
            return True
    return False


def _seconds(act: Callable[[], object]) -> float:
    begun = time.thread_time()
    act()
    return time.thread_time() - begun
