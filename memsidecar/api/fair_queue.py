"""Per-tenant round-robin semaphore; SerialWhileFast."""

import asyncio
from collections import Counter, OrderedDict, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

current_tenant: ContextVar[str] = ContextVar("whose call it is", default="")


@dataclass
class FairSemaphore:
    """Tenants take turns in rotation, however many calls one of them has waiting.

    Used on the event loop only. `of_one` is how many turns one tenant may have at once.
    """

    places: int
    of_one: int
    _running: Counter[str] = field(default_factory=Counter)
    _waiting: OrderedDict[str, deque[asyncio.Future[None]]] = field(default_factory=OrderedDict)

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[None]:
        tenant = current_tenant.get()
        if self._waiting or not self._has_room(tenant):
            await self._queued(tenant)
        else:
            self._running[tenant] += 1
        try:
            yield
        finally:
            self._leave(tenant)

    def _has_room(self, tenant: str) -> bool:
        return self._running.total() < self.places and self._running[tenant] < self.of_one

    async def _queued(self, tenant: str) -> None:
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(tenant, deque()).append(turn)
        self._call_next()
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._leave(tenant)  # it was called, and nobody came
            raise

    def _leave(self, tenant: str) -> None:
        self._running[tenant] -= 1
        if not self._running[tenant]:
            del self._running[tenant]
        self._call_next()

    def _call_next(self) -> None:
        """Whoever was called goes to the end of the row."""
        while (tenant := next((each for each in self._waiting if self._has_room(each)), None)) is not None:
            turns = self._waiting.pop(tenant)
            while turns and turns[0].done():
                turns.popleft()
            if not turns:
                continue
            turns.popleft().set_result(None)
            self._running[tenant] += 1
            if turns:
                self._waiting[tenant] = turns


class SerialWhileFast:
    """One at a time as long as each is quick. Whoever takes longer than the patience does not keep the next one.

    For arithmetic that holds the GIL most of the time: two at once take it from each other at every step, and both take
    longer than they would one after the other. What waits for a disk or for an embedder far away does not.
    """

    def __init__(self, patience_seconds: float) -> None:
        self._patience_seconds = patience_seconds
        self._lane = asyncio.Semaphore(1)

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[None]:
        await self._lane.acquire()
        held = [self._lane]

        def leave() -> None:
            if held:
                held.pop().release()

        timer = asyncio.get_running_loop().call_later(self._patience_seconds, leave)
        try:
            yield
        finally:
            timer.cancel()
            leave()
