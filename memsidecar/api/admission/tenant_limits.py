"""Token bucket, concurrent calls, bytes in memory, per tenant."""

import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any, cast

from memsidecar.api.interceptors import Context
from memsidecar.domain.errors import RateLimited

MAX_BUCKETS = 10_000

SMALL_BYTES = 64 * 1024
"Below it nothing is reckoned: so much stays in gRPC's own buffers anyway, and most requests and answers are smaller."


@dataclass(slots=True)
class TokenBucket:
    level: float
    filled_at: float


@dataclass(frozen=True)
class RateLimiter:
    """`rate_of` says how many calls a second a namespace may make; 0: as many as it likes."""

    rate_of: Callable[[str], float]
    now: Callable[[], float] = time.monotonic
    _buckets: OrderedDict[str, TokenBucket] = field(default_factory=OrderedDict)

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

    def _filled(self, namespace: str, rate: float) -> TokenBucket:
        now, capacity = self.now(), max(1.0, rate)
        bucket = self._buckets.get(namespace)
        if bucket is None:
            bucket = self._buckets[namespace] = TokenBucket(capacity, now)
            self._forget_the_longest_idle()
        bucket.level = min(capacity, bucket.level + (now - bucket.filled_at) * rate)
        bucket.filled_at = now
        self._buckets.move_to_end(namespace)
        return bucket

    def _forget_the_longest_idle(self) -> None:
        # It gets a full bucket when it comes back, which it nearly always has by then anyway.
        if len(self._buckets) > MAX_BUCKETS:
            self._buckets.popitem(last=False)


@dataclass(frozen=True)
class ConcurrencyLimiter:
    """Counted on the event loop only, so plain numbers will do."""

    most: int
    what: str
    _inside: dict[Hashable, int] = field(default_factory=dict)

    def enter(self, tenant: Hashable) -> None:
        inside = self._inside.get(tenant, 0)
        if inside >= self.most:
            raise RateLimited(f"{self.most} {self.what} are in progress; try again")
        self._inside[tenant] = inside + 1

    def leave(self, tenant: Hashable) -> None:
        self._inside[tenant] -= 1
        if not self._inside[tenant]:
            del self._inside[tenant]


@dataclass
class ByteBudget:
    """What is large and in memory: a limit to all of it together, and half of that for one tenant."""

    most_bytes: int
    complaint: str
    _bytes: int = 0
    _of: Counter[Hashable] = field(default_factory=Counter)

    @staticmethod
    def is_small(size: int) -> bool:
        return size < SMALL_BYTES

    def take(self, tenant: Hashable, size: int) -> None:
        if self._bytes + size > self.most_bytes or self._of[tenant] + size > self.most_bytes // 2:
            raise RateLimited(self.complaint)
        self._bytes += size
        self._of[tenant] += size

    def let_go(self, tenant: Hashable, size: int) -> None:
        self._bytes -= size
        self._of[tenant] -= size
        if not self._of[tenant]:
            del self._of[tenant]


class Unsent:
    """Answers that wait for somebody who reads slowly."""

    def __init__(self, most_bytes: int) -> None:
        self._load = ByteBudget(
            most_bytes, "too many answers wait to be read by their callers; read them, and try again"
        )

    def hold(self, tenant: Hashable, size: int, context: Context) -> None:
        """Reckon an answer until gRPC is done with it."""
        if self._load.is_small(size):
            return
        self._load.take(tenant, size)
        # The stubs know a done-callback only as a class of their own.
        context.add_done_callback(cast(Any, lambda _context: self._load.let_go(tenant, size)))


def pending_requests(most_bytes: int) -> ByteBudget:
    """Requests that came faster than they are worked on."""
    return ByteBudget(most_bytes, "too many large requests of this namespace are in progress; try again")
