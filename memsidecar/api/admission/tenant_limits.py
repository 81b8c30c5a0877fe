"""Limits per tenant: calls a second, calls in progress, and bytes of requests and responses in memory.

All state is read and written on the event loop only, so plain numbers suffice.
"""

import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, cast

from memsidecar.access.policy import LimitTable
from memsidecar.api.interceptors.call import Context
from memsidecar.domain.errors import RateLimited

MAX_BUCKETS = 10_000
SMALL_BYTES = 64 * 1024
"Smaller requests and responses are not counted: they stay in gRPC's own buffers anyway, and most are smaller."


@dataclass(slots=True)
class TokenBucket:
    level: float
    filled_at: float


@dataclass(frozen=True)
class RateLimiter:
    """One token bucket for each namespace with a rate. A bucket holds one second of calls."""

    limits: LimitTable
    now: Callable[[], float] = time.monotonic
    _buckets: OrderedDict[str, TokenBucket] = field(default_factory=OrderedDict)

    def take(self, namespace: str) -> None:
        """Take a token. Raises RateLimited with the seconds until the next one."""
        rate = self.limits.of(namespace).calls_per_second
        if not rate:
            return
        bucket = self._refill(namespace, rate)
        if bucket.level < 1:
            wait = (1 - bucket.level) / rate
            raise RateLimited(f"this namespace may make {rate:g} calls a second; try again in {wait:.3g} s", wait)
        bucket.level -= 1

    def _refill(self, namespace: str, rate: float) -> TokenBucket:
        now, capacity = self.now(), max(1.0, rate)
        bucket = self._buckets.get(namespace)
        if bucket is None:
            bucket = self._buckets[namespace] = TokenBucket(capacity, now)
            self._drop_least_recent()
        bucket.level = min(capacity, bucket.level + (now - bucket.filled_at) * rate)
        bucket.filled_at = now
        self._buckets.move_to_end(namespace)
        return bucket

    def _drop_least_recent(self) -> None:
        # Its namespace starts with a full bucket at its next call. It nearly always would have one by then.
        if len(self._buckets) > MAX_BUCKETS:
            self._buckets.popitem(last=False)


@dataclass(frozen=True)
class ConcurrencyLimiter:
    """At most `limit` calls in progress for each tenant."""

    limit: int
    what: str
    _active: dict[Hashable, int] = field(default_factory=dict)

    def acquire(self, tenant: Hashable) -> None:
        active = self._active.get(tenant, 0)
        if active >= self.limit:
            raise RateLimited(f"{self.limit} {self.what} are in progress; try again")
        self._active[tenant] = active + 1

    def release(self, tenant: Hashable) -> None:
        self._active[tenant] -= 1
        if not self._active[tenant]:
            del self._active[tenant]

    @contextmanager
    def slot(self, tenant: Hashable) -> Iterator[None]:
        """Hold a place while the block runs."""
        self.acquire(tenant)
        try:
            yield
        finally:
            self.release(tenant)


@dataclass
class ByteBudget:
    """Bytes of large messages in memory: at most `max_bytes` in total, half of that for one tenant."""

    max_bytes: int
    error_message: str
    _total: int = 0
    _by_tenant: Counter[Hashable] = field(default_factory=Counter)

    @property
    def total(self) -> int:
        return self._total

    @contextmanager
    def reserve(self, tenant: Hashable, size: int) -> Iterator[None]:
        """Hold the bytes while the block runs. Raises RateLimited when the budget is used up."""
        if size < SMALL_BYTES:
            yield
            return
        self._take(tenant, size)
        try:
            yield
        finally:
            self._release(tenant, size)

    def reserve_until_done(self, tenant: Hashable, size: int, context: Context) -> None:
        """Hold the bytes until gRPC has finished the call. Raises RateLimited when the budget is used up."""
        if size < SMALL_BYTES:
            return
        self._take(tenant, size)
        # The stubs know a done-callback only as a class of their own.
        context.add_done_callback(cast(Any, lambda _context: self._release(tenant, size)))

    def _take(self, tenant: Hashable, size: int) -> None:
        if self._total + size > self.max_bytes or self._by_tenant[tenant] + size > self.max_bytes // 2:
            raise RateLimited(self.error_message)
        self._total += size
        self._by_tenant[tenant] += size

    def _release(self, tenant: Hashable, size: int) -> None:
        self._total -= size
        self._by_tenant[tenant] -= size
        if not self._by_tenant[tenant]:
            del self._by_tenant[tenant]


def pending_requests(max_bytes: int) -> ByteBudget:
    """Return the budget for requests that have been received and not been handled yet."""
    return ByteBudget(max_bytes, "too many large requests of this namespace are in progress; try again")


def pending_responses(max_bytes: int) -> ByteBudget:
    """Return the budget for responses that their callers have not read yet."""
    return ByteBudget(max_bytes, "too many responses are unread; read them, and try again")
