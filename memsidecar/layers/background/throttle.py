"""Cooperative throttle of background CPU while RPCs are in flight."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from memsidecar.domain.errors import ShuttingDown

SLICE_SECONDS = 0.003
"CPU time between two sleeps. Shorter slices would cost more than they spare: each has to reacquire the GIL."
GIL_HOLD_SECONDS, GIL_RELEASE_SECONDS = 0.000_25, 0.000_001
"""Within a slice, how long the GIL is held, and how long it is released then. The system makes about 50 us of the
release, enough for a waiting thread. Otherwise that thread would wait for the interpreter's switch interval, about four
times in an Add."""
MIN_POLL_SECONDS = 0.005
MAX_SLEEP_SECONDS = 0.25


@dataclass(frozen=True, slots=True)
class ThrottleConfig:
    """A slice is followed by a sleep of at most `max_sleep_ratio` times its CPU time.

    If the work lags by more than `speedup_after_seconds`, the ratio falls with the square of the lag, down to
    `min_sleep_ratio`.
    """

    max_sleep_ratio: float
    min_sleep_ratio: float
    speedup_after_seconds: float

    def sleep_ratio(self, lag_seconds: float) -> float:
        excess = max(lag_seconds / self.speedup_after_seconds, 1.0)
        return max(self.min_sleep_ratio, self.max_sleep_ratio / excess**2)


class BackgroundThrottle:
    """Makes background work sleep while `is_busy`, according to its ThrottleConfig, at most MAX_SLEEP_SECONDS.

    Within a slice it only releases the GIL now and then. Only the thread that called `start` ever sleeps: other
    threads do the same work for a waiting RPC. `behind_since` is the start of the lag.
    """

    def __init__(self, is_busy: Callable[[], bool], config: ThrottleConfig) -> None:
        self.behind_since = time.monotonic()
        self._is_busy = is_busy
        self._config = config
        self._thread = 0
        self._slice_start = 0.0
        self._released_at = 0.0
        self._stopped = threading.Event()

    def start(self) -> None:
        """Throttle the calling thread from now on."""
        self._thread = threading.get_ident()
        self._slice_start = time.thread_time()

    def stop(self) -> None:
        """End the current sleep, and the work at its next `yield_cpu`. Call it from any thread."""
        self._stopped.set()

    def yield_cpu(self) -> None:
        """Sleep if a slice is used up, or release the GIL if it was held long. Call it often.

        Raise ShuttingDown after `stop`. What was not saved is done again after the next start.
        """
        if threading.get_ident() != self._thread:
            return
        if self._stopped.is_set():
            raise ShuttingDown()
        now = time.thread_time()
        worked_seconds = now - self._slice_start
        if worked_seconds >= SLICE_SECONDS:
            ratio = self._config.sleep_ratio(time.monotonic() - self.behind_since)
            self._sleep(min(ratio * worked_seconds, MAX_SLEEP_SECONDS))
            self._slice_start = self._released_at = time.thread_time()
        elif now - self._released_at >= GIL_HOLD_SECONDS:
            time.sleep(GIL_RELEASE_SECONDS)
            self._released_at = now

    def _sleep(self, seconds: float) -> None:
        """Sleep while busy. Each poll takes the GIL, so the polls become less frequent."""
        end, poll_seconds = time.monotonic() + seconds, MIN_POLL_SECONDS
        while self._is_busy() and (left := end - time.monotonic()) > 0:
            if self._stopped.wait(min(poll_seconds, left)):
                return
            poll_seconds *= 2
