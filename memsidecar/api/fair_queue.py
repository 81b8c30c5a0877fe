"""Waiting in turn: a queue and a semaphore that are fair between tenants, and a semaphore that is serial while work is
fast. All for the event loop only.
"""

import asyncio
from collections import Counter, OrderedDict, deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from memsidecar.api.interceptors.call import current_tenant


class FairQueue:
    """Waiters that are served round-robin by tenant, and first come, first served within a tenant."""

    def __init__(self) -> None:
        self._waiting: OrderedDict[str, deque[asyncio.Future[None]]] = OrderedDict()

    def __bool__(self) -> bool:
        """Return whether there may be a waiter. Cancelled ones are removed when it is their turn."""
        return bool(self._waiting)

    def add(self, tenant: str) -> asyncio.Future[None]:
        """Return a new waiter, to be awaited."""
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(tenant, deque()).append(waiter)
        return waiter

    def wake_next(self, may_run: Callable[[str], bool] = lambda _tenant: True) -> str | None:
        """End the wait of the next waiter whose tenant may run, and return the tenant, which moves to the end."""
        while (tenant := next(filter(may_run, self._waiting), None)) is not None:
            waiters = self._waiting.pop(tenant)
            while waiters and waiters[0].done():
                waiters.popleft()
            if not waiters:
                continue
            waiters.popleft().set_result(None)
            if waiters:
                self._waiting[tenant] = waiters
            return tenant
        return None


@dataclass
class FairSemaphore:
    """Semaphore that serves waiting tenants round-robin, however many calls each of them has waiting."""

    slots: int
    slots_per_tenant: int
    _running: Counter[str] = field(default_factory=Counter)
    _waiting: FairQueue = field(default_factory=FairQueue)

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[None]:
        tenant = current_tenant.get()
        if self._waiting or not self._has_slot(tenant):
            await self._wait(tenant)
        else:
            self._running[tenant] += 1
        try:
            yield
        finally:
            self._release(tenant)

    def _has_slot(self, tenant: str) -> bool:
        return self._running.total() < self.slots and self._running[tenant] < self.slots_per_tenant

    async def _wait(self, tenant: str) -> None:
        waiter = self._waiting.add(tenant)
        self._wake_next()
        try:
            await waiter
        except asyncio.CancelledError:
            if waiter.done() and not waiter.cancelled():
                self._release(tenant)  # it had got the slot already
            raise

    def _release(self, tenant: str) -> None:
        self._running[tenant] -= 1
        if not self._running[tenant]:
            del self._running[tenant]
        self._wake_next()

    def _wake_next(self) -> None:
        """Give free slots to waiters."""
        while (tenant := self._waiting.wake_next(self._has_slot)) is not None:
            self._running[tenant] += 1


class SerialWhileFast:
    """Runs one at a time, and admits the next early when the current one takes longer than `fast_seconds`.

    For arithmetic that holds the GIL most of the time: two such computations in parallel interrupt each other at every
    step, and both finish later than one after the other. Work that waits for a disk or an embedder does not hold it.
    """

    def __init__(self, fast_seconds: float) -> None:
        self._fast_seconds = fast_seconds
        self._lock = asyncio.Semaphore(1)

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[None]:
        await self._lock.acquire()
        released = False

        def release() -> None:
            nonlocal released
            if not released:
                released = True
                self._lock.release()

        timer = asyncio.get_running_loop().call_later(self._fast_seconds, release)
        try:
            yield
        finally:
            timer.cancel()
            release()
