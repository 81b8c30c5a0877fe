"""How fast: a bucket of calls for each namespace, filled at its rate. Used on the event loop only."""

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field

from memsidecar.domain.errors import RateLimited

MOST_BUCKETS = 10_000


@dataclass(slots=True)
class Bucket:
    level: float
    filled_at: float


@dataclass(frozen=True)
class Pace:
    """`rate_of` says how many calls a second a namespace may make; 0: as many as it likes."""

    rate_of: Callable[[str], float]
    now: Callable[[], float] = time.monotonic
    _buckets: OrderedDict[str, Bucket] = field(default_factory=OrderedDict)

    def take(self, namespace: str) -> None:
        """Raises RateLimited, with the time after which there is room again."""
        rate = self.rate_of(namespace)
        if not rate:
            return
        bucket = self._filled(namespace, rate)
        if bucket.level < 1:
            wait = (1 - bucket.level) / rate
            raise RateLimited(f"this namespace may make {rate:g} calls a second; try again in {wait:.3g} s", wait)
        bucket.level -= 1

    def _filled(self, namespace: str, rate: float) -> Bucket:
        now, capacity = self.now(), max(1.0, rate)
        bucket = self._buckets.get(namespace)
        if bucket is None:
            bucket = self._buckets[namespace] = Bucket(capacity, now)
            self._forget_the_longest_idle()
        bucket.level = min(capacity, bucket.level + (now - bucket.filled_at) * rate)
        bucket.filled_at = now
        self._buckets.move_to_end(namespace)
        return bucket

    def _forget_the_longest_idle(self) -> None:
        # It gets a full bucket when it comes back, which it nearly always has by then anyway.
        if len(self._buckets) > MOST_BUCKETS:
            self._buckets.popitem(last=False)
