"""The retry policy."""

import math
import random
import time
from dataclasses import dataclass

import grpc

from memsidecar_client.errors import Closed, JournalUnavailable, MemsidecarError

ATTEMPTS = 4
WAITS_SECONDS = (0.4, 1.2, 3.6)
JITTER = 0.2
"Each wait is a fifth more or less: a sidecar restarts within all of them. However many attempts, the last one stays."

COUNTED = frozenset({"MemoryService/ReportUsage"})
"Calls that have no id, and change something each time."

# Status codes of a broken transport, if they come without a reason of the sidecar.
_BROKEN = {grpc.StatusCode.INTERNAL, grpc.StatusCode.UNKNOWN, grpc.StatusCode.CANCELLED}


@dataclass
class Attempts:
    """Applies the retry policy to one call: the time for each attempt and the wait before the next."""

    most: int
    timeout: float | None
    method: str = ""
    made: int = 0

    def __post_init__(self) -> None:
        end = math.inf if self.timeout is None else time.monotonic() + self.timeout
        self._end = None if end == math.inf else end

    def remaining(self) -> float | None:
        """Return the seconds for the next attempt, or None for no limit."""
        return None if self._end is None else max(0.0, self._end - time.monotonic())

    def begin(self) -> float | None:
        self.made += 1
        return self.remaining()

    def progressed(self) -> None:
        """Reset the attempts: after a response, a further failure is a new one."""
        self.made = 1

    def wait_after(self, error: MemsidecarError) -> float:
        """Return the seconds to wait before the next attempt. Raises the error if there is no further attempt."""
        wait, remaining = self._wait(error), self.remaining()
        if not self._worth_another(error) or self.made >= self.most or (remaining is not None and wait >= remaining):
            raise error
        return wait

    def _wait(self, error: MemsidecarError) -> float:
        """Return the delay of RetryInfo plus jitter, or the exponential backoff."""
        if error.retry_after is not None:
            return error.retry_after * random.uniform(1, 1 + JITTER)
        return WAITS_SECONDS[min(self.made, len(WAITS_SECONDS)) - 1] * random.uniform(1 - JITTER, 1 + JITTER)

    def _worth_another(self, error: MemsidecarError) -> bool:
        """Return whether a retry can succeed. Messages have ids, so none is stored twice.

        What has none is retried only if the sidecar rejected it.
        """
        if isinstance(error, Closed):
            return False
        if self.method in COUNTED and (not error.reason or isinstance(error, JournalUnavailable)):
            return False
        if error.reason:
            return error.code is grpc.StatusCode.UNAVAILABLE
        return error.code is grpc.StatusCode.UNAVAILABLE or error.code in _BROKEN


def at_least_one(attempts: int) -> int:
    if attempts < 1:
        raise ValueError("a call is sent at least once: attempts must be 1 or more")
    return attempts
