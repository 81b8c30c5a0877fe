"""Background throttle."""

import threading
import time
from collections.abc import Callable

SLICE_SECONDS = 0.003
"Shorter ones would cost more than they spare: each turn at the GIL has to be asked for."
GIL_HOLD_SECONDS, GIL_RELEASE_SECONDS = 0.000_25, 0.000_001
"""How long the GIL is kept within a slice, and how long it is let go of then: long enough for whoever wants it, because
the system makes about 50 us of it. They would else have to wait for Python to take it away, some four times in an Add.
"""
MIN_POLL_SECONDS = 0.005
MAX_SLEEP_SECONDS = 0.25


class BackgroundThrottle:
    """After a slice of work, rest until nobody waits for an answer, but at most `times` as long as the slice took, and
    at most a quarter of a second. Within a slice, offer the GIL to whoever wants it, without any rest.

    Courtesy has an end: the longer the work is behind (`behind_since`) beyond its patience, the fewer the times, by the
    square, down to the `fewest`. Only the thread that has said `begin` ever rests: where a caller waits for the same
    work, politeness would keep that caller waiting.
    """

    def __init__(self, is_busy: Callable[[], bool], times: float, fewest: float, patience_seconds: float) -> None:
        self.behind_since = time.monotonic()
        self._is_busy = is_busy
        self._times, self._fewest = times, fewest
        self._patience_seconds = patience_seconds
        self._thread = 0
        self._worked_before = 0.0
        self._offered_at = 0.0
        self._ended = threading.Event()

    def begin(self) -> None:
        self._thread = threading.get_ident()
        self._worked_before = time.thread_time()

    def end(self) -> None:
        """From any thread: no more rests, and none that goes on."""
        self._ended.set()

    def yield_cpu(self) -> None:
        """To be called often; the work between two calls is added up until it is a slice."""
        if threading.get_ident() != self._thread:
            return
        now = time.thread_time()
        worked = now - self._worked_before
        if worked >= SLICE_SECONDS:
            times = self.sleep_ratio_at(time.monotonic() - self.behind_since)
            self._rest(min(times * worked, MAX_SLEEP_SECONDS))
            self._worked_before = self._offered_at = time.thread_time()
        elif now - self._offered_at >= GIL_HOLD_SECONDS:
            time.sleep(GIL_RELEASE_SECONDS)
            self._offered_at = now

    def _rest(self, seconds: float) -> None:
        """Looking costs a turn at the GIL, so it is done less and less often."""
        end, pause = time.monotonic() + seconds, MIN_POLL_SECONDS
        while self._is_busy() and (left := end - time.monotonic()) > 0:
            if self._ended.wait(min(pause, left)):
                return
            pause *= 2

    def sleep_ratio_at(self, behind_seconds: float) -> float:
        late = max(behind_seconds / self._patience_seconds, 1.0)
        return max(self._fewest, self._times / late**2)
