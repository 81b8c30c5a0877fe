"""Failures of an HTTP endpoint, and what is done about them: retry policy and circuit breaker.

The errors stay inside `embedding` and `language`, which translate them to errors of their own. None of them contains a
key or a part of a body.
"""

import math
import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Lock

Clock = Callable[[], float]

_CIRCUIT_OPEN = "the endpoint failed repeatedly; no request is sent for a moment"


class InvalidEndpoint(ValueError):
    """The settings describe no usable endpoint; raised before the first request."""


class RetryableError(Exception):
    """No usable response this time; another attempt may succeed."""

    def __init__(self, problem: str, retry_after_seconds: float | None = None) -> None:
        super().__init__(problem)
        self.retry_after_seconds = retry_after_seconds


class EndpointUnavailable(Exception):
    """No usable response after all attempts; the same request may succeed later."""


class EndpointMismatch(Exception):
    """The endpoint responds, but not as configured; a retry does not help."""


class RequestRejected(EndpointMismatch):
    """The endpoint rejects this input; if the length is the reason, a shorter input may be accepted.

    The configuration is wrong only if the endpoint rejects every input.
    """


@dataclass(frozen=True)
class RetryPolicy:
    """Exponential back-off with jitter, so that many sidecars do not retry at the same moment."""

    attempts: int = 3
    initial_wait_seconds: float = 0.25
    max_wait_seconds: float = 10.0
    """Also bounds the server's Retry-After, because a caller is waiting."""

    sleep: Callable[[float], None] = time.sleep
    jitter: Callable[[], float] = random.random
    """Returns a number from 0 to 1."""

    def wait(self, failures: int, retry_after_seconds: float | None) -> None:
        self.sleep(self.wait_seconds(failures, retry_after_seconds))

    def wait_seconds(self, failures: int, retry_after_seconds: float | None) -> float:
        """Return the pause before the next attempt; the server's Retry-After takes precedence."""
        if retry_after_seconds is not None:
            return min(retry_after_seconds, self.max_wait_seconds)
        longest = min(self.initial_wait_seconds * 2.0 ** (failures - 1), self.max_wait_seconds)
        return longest * (1 + self.jitter()) / 2


def parse_retry_after(header: str | None) -> float | None:
    """Return Retry-After in seconds. The form with a date is ignored, because the two clocks may differ."""
    try:
        seconds = float(header or "")
    except ValueError:
        return None
    return seconds if seconds >= 0 and math.isfinite(seconds) else None


class CircuitBreaker:
    """Opens after consecutive failures: requests fail at once for a cool-down; then one request probes. Thread-safe.

    Without it each caller would wait for a dead server until its timeout.

    It is open also while its `parent` is. The parent does not depend on it: failures within a short timeout say nothing
    about a longer one, and would keep patient callers from a slow server for ever.
    """

    def __init__(
        self, failures: int, cool_down_seconds: float, clock: Clock, parent: "CircuitBreaker | None" = None
    ) -> None:
        self._parent = parent
        self._allowed_failures = failures
        self._cool_down_seconds = cool_down_seconds
        self._clock = clock
        self._lock = Lock()
        self._failures = 0
        self._open_until = 0.0
        self._probing = False

    @property
    def is_open(self) -> bool:
        """Whether all requests fail at once now."""
        with self._lock:
            return self._failures >= self._allowed_failures and self._clock() < self._open_until

    @contextmanager
    def request(self) -> Iterator[None]:
        """Wrap one request. Every exception counts as a failure, except a mismatch: then the server did respond.

        Raises EndpointUnavailable, without entering, while the circuit is open.
        """
        probing = self._enter()
        responded = False
        try:
            yield
            responded = True
        except EndpointMismatch:
            responded = True
            raise
        finally:
            self._leave(responded=responded, probing=probing)

    def _enter(self) -> bool:
        """Return whether this request is the probe."""
        if self._parent is not None and self._parent.is_open:
            raise EndpointUnavailable(_CIRCUIT_OPEN)
        with self._lock:
            if self._failures < self._allowed_failures:
                return False
            if self._probing or self._clock() < self._open_until:
                raise EndpointUnavailable(_CIRCUIT_OPEN)
            self._probing = True
            return True

    def _leave(self, *, responded: bool, probing: bool) -> None:
        with self._lock:
            self._failures = 0 if responded else self._failures + 1
            self._open_until = self._clock() + self._cool_down_seconds
            if probing:
                self._probing = False
