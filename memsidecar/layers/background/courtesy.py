"""Giving way: whoever computes in the background leaves the processor, and the GIL, to those who call."""

import threading
import time
from collections.abc import Callable

SHORTEST_SLICE_SECONDS = 0.000_3
LONGEST_REST_SECONDS = 0.25
PATIENCE_SECONDS = 10.0


class Courtesy:
    """After a slice of work, rest `times` as long as it took, if somebody called meanwhile.

    `calls` counts those who called so far. Courtesy has an end: what is behind by more than the patience is rested for
    the less, the older it gets, though never less than once as long. Only the thread that has said `begin` ever rests:
    where a caller waits for the same work, politeness would keep that caller waiting.
    """

    def __init__(self, calls: Callable[[], int], times: float = 1.0) -> None:
        self.behind_seconds = 0.0
        self._calls = calls
        self._times = times
        self._thread = 0
        self._worked_before, self._called_before = 0.0, 0
        self._ended = threading.Event()

    def begin(self) -> None:
        self._thread = threading.get_ident()
        self._worked_before, self._called_before = time.thread_time(), self._calls()

    def end(self) -> None:
        """From any thread: no more rests, and none that goes on."""
        self._ended.set()

    def give_way(self) -> None:
        """Between slices of long work. What was too short to be noticed is added to the next one."""
        if threading.get_ident() != self._thread:
            return
        worked, called = time.thread_time() - self._worked_before, self._calls()
        if worked < SHORTEST_SLICE_SECONDS:
            return
        if called != self._called_before:
            self._ended.wait(min(self._times_now() * worked, LONGEST_REST_SECONDS))
        # Whoever called while it rested counts for the next slice: one who calls again and again is still there.
        self._worked_before, self._called_before = time.thread_time(), called

    def _times_now(self) -> float:
        if self.behind_seconds <= PATIENCE_SECONDS:
            return self._times
        return max(1.0, self._times * PATIENCE_SECONDS / self.behind_seconds)
