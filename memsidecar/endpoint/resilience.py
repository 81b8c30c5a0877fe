"""RetryPolicy, CircuitBreaker."""

import math
import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Lock

from memsidecar.endpoint.errors import EndpointMismatch, EndpointUnavailable

Clock = Callable[[], float]

_LEFT_ALONE = "the endpoint failed repeatedly; it is left alone for a moment"


@dataclass(frozen=True)
class RetryPolicy:
    """Waits that double, shortened by chance so that many sidecars do not come back in one instant."""

    attempts: int = 3
    first_wait_seconds: float = 0.25
    longest_wait_seconds: float = 10.0
    """Also the bound of what a server may ask for by Retry-After: a caller waits meanwhile."""

    sleep: Callable[[float], None] = time.sleep
    jitter: Callable[[], float] = random.random
    """From 0 to 1."""

    def wait(self, failures: int, asked_seconds: float | None) -> None:
        self.sleep(self.wait_seconds(failures, asked_seconds))

    def wait_seconds(self, failures: int, asked_seconds: float | None) -> float:
        """Before the next attempt, after this many failures; what the server asked for comes first."""
        if asked_seconds is not None:
            return min(asked_seconds, self.longest_wait_seconds)
        longest = min(self.first_wait_seconds * 2.0 ** (failures - 1), self.longest_wait_seconds)
        return longest * (1 + self.jitter()) / 2


def parse_retry_after(retry_after: str | None) -> float | None:
    """Retry-After in seconds; the form with a date is left aside, as the two clocks may differ."""
    try:
        seconds = float(retry_after or "")
    except ValueError:
        return None
    return seconds if seconds >= 0 and math.isfinite(seconds) else None


class CircuitBreaker:
    """After some consecutive failures it refuses at once, for a cool-down; then one request may try for all.

    Without it each caller would wait for a dead server until its timeout. Thread-safe.

    With `elder`, it refuses also while that one does. Not the other way round: the failures of somebody who has little
    patience say nothing to somebody who has more, and would keep him from a slow server for ever.
    """

    def __init__(
        self, failures: int, cool_down_seconds: float, clock: Clock, elder: "CircuitBreaker | None" = None
    ) -> None:
        self._elder = elder
        self._allowed_failures = failures
        self._cool_down_seconds = cool_down_seconds
        self._clock = clock
        self._lock = Lock()
        self._failures = 0
        self._refusing_until = 0.0
        self._probing = False

    @property
    def resting(self) -> bool:
        """Whether requests are refused now, whoever asks."""
        with self._lock:
            return self._failures >= self._allowed_failures and self._clock() < self._refusing_until

    @contextmanager
    def request(self) -> Iterator[None]:
        """Around one request. Whatever is raised inside is a failure, but for a mismatch: then the server did answer.

        Raises EndpointAway, without entering, while requests are refused.
        """
        probing = self._enter()
        well = False
        try:
            yield
            well = True
        except EndpointMismatch:
            well = True
            raise
        finally:
            self._leave(well=well, probing=probing)

    def _enter(self) -> bool:
        """Whether this request is the one that tries for all."""
        if self._elder is not None and self._elder.resting:
            raise EndpointUnavailable(_LEFT_ALONE)
        with self._lock:
            if self._failures < self._allowed_failures:
                return False
            if self._probing or self._clock() < self._refusing_until:
                raise EndpointUnavailable(_LEFT_ALONE)
            self._probing = True
            return True

    def _leave(self, *, well: bool, probing: bool) -> None:
        with self._lock:
            self._failures = 0 if well else self._failures + 1
            self._refusing_until = self._clock() + self._cool_down_seconds
            if probing:
                self._probing = False
