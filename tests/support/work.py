"""Measures of work that do not depend on the speed or the load of the machine."""

import sys
import time
from collections.abc import Callable
from statistics import median
from types import FrameType

ATTEMPTS = range(3, 41)


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

    On a quiet machine two runs of `few` and one of `many` are enough. A busy one takes twice the CPU time for the same
    work, for seconds at a time. So only times that were taken one after the other are compared, `few` running again
    and again for as long as `many` did. The median of such ratios counts, and there are more while it is too high.
    """
    if _seconds(many) <= times * min(_seconds(few), _seconds(few)) + slack_seconds:
        return True
    ratios: list[float] = []
    for attempts in ATTEMPTS:
        while len(ratios) < attempts:
            ratios.append(_ratio(few, many, slack_seconds))
        if median(ratios) <= times:
            return True
    return False


def _ratio(few: Callable[[], object], many: Callable[[], object], slack_seconds: float) -> float:
    seconds_of_many = _seconds(many)
    runs, seconds_of_runs = 0, 0.0
    while seconds_of_runs < seconds_of_many:
        seconds_of_runs += _seconds(few)
        runs += 1
    return (seconds_of_many - slack_seconds) * runs / seconds_of_runs


def _seconds(work: Callable[[], object]) -> float:
    start = time.thread_time()
    work()
    return time.thread_time() - start
