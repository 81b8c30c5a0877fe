"""Not asking a server that does not answer."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock

from memsidecar.endpoint.errors import EndpointAway, EndpointMismatch

Clock = Callable[[], float]

_LEFT_ALONE = "the endpoint failed repeatedly; it is left alone for a moment"


class Breaker:
    """After some consecutive failures it refuses at once, for a cool-down; then one request may try for all.

    Without it each caller would wait for a dead server until its timeout. Thread-safe.

    With `elder`, it refuses also while that one does. Not the other way round: the failures of somebody who has little
    patience say nothing to somebody who has more, and would keep him from a slow server for ever.
    """

    def __init__(self, failures: int, cool_down_seconds: float, clock: Clock, elder: "Breaker | None" = None) -> None:
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
            raise EndpointAway(_LEFT_ALONE)
        with self._lock:
            if self._failures < self._allowed_failures:
                return False
            if self._probing or self._clock() < self._refusing_until:
                raise EndpointAway(_LEFT_ALONE)
            self._probing = True
            return True

    def _leave(self, *, well: bool, probing: bool) -> None:
        with self._lock:
            self._failures = 0 if well else self._failures + 1
            self._refusing_until = self._clock() + self._cool_down_seconds
            if probing:
                self._probing = False
