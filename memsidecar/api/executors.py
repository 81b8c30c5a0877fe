"""Named thread pools; await a journal command from the event loop."""

import asyncio
import contextlib
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, ParamSpec, TypeVar

from memsidecar.api.fair_queue import FairTurns, OneWhileQuick
from memsidecar.stores.contract import Ticket

SEARCHING_THREADS = 2
QUICK_SEARCH_SECONDS = 0.05
LEARNING_THREADS = 2
COUNTING_THREADS = CHUNKING_THREADS = 1  # more of them only fight over the GIL: two were a tenth slower

P = ParamSpec("P")
T = TypeVar("T")


class Threads:
    """A few threads for one kind of work, with fair turns at them where tenants share them."""

    def __init__(self, name: str, count: int, shared: bool) -> None:
        self._pool = ThreadPoolExecutor(count, thread_name_prefix=name)
        self._turns = FairTurns(count, max(1, count - 1)) if shared else None

    async def run(self, work: Callable[[], T]) -> T:
        if self._turns is None:
            return await self._do(work)
        async with self._turns.turn():
            return await self._do(work)

    async def _do(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._pool, work)

    def close(self) -> None:
        self._pool.shutdown(wait=True)


class SearchingThreads(Threads):
    """The second one is for when the first has something slow to do."""

    def __init__(self, shared: bool) -> None:
        super().__init__("searcher", SEARCHING_THREADS, shared)
        self._quick = OneWhileQuick(QUICK_SEARCH_SECONDS)

    async def _do(self, work: Callable[[], T]) -> T:
        async with self._quick.turn():
            return await super()._do(work)


class Bridge:
    """Belongs to one event loop; `settled` alone is called from other threads."""

    def __init__(self, threads: int, *, shared: bool = False) -> None:
        """`shared`: by tenants of whom none may take all threads. Else whoever comes takes what is free."""
        self._loop = asyncio.get_running_loop()
        self._readers = Threads("reader", threads, shared)
        self._searchers = SearchingThreads(shared)
        self._writers = Threads("writer", threads, shared)
        self._counters = Threads("counter", COUNTING_THREADS, shared)
        self._chunkers = Threads("chunker", CHUNKING_THREADS, shared)
        self._learners = Threads("learner", LEARNING_THREADS, shared)
        self._settled: deque[Ticket] = deque()
        self._waiting: dict[Ticket, asyncio.Future[None]] = {}
        self._woken = False

    async def reading(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Work that may read from the disk, and never waits for a commit."""
        return await self._readers.run(lambda: work(*args, **kwargs))

    async def searching(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Arithmetic that may wait for an embedder far away. It has threads of its own: no other read waits with it."""
        return await self._searchers.run(lambda: work(*args, **kwargs))

    async def writing(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Work that waits for commits. It has threads of its own: a reader must not queue behind an fsync."""
        return await self._writers.run(lambda: work(*args, **kwargs))

    async def counting(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Work that is long without any disk: checking and counting large requests."""
        return await self._counters.run(lambda: work(*args, **kwargs))

    async def chunking(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """The same for documents. A megabyte takes a second, so it has a thread of its own: no Add queues behind it."""
        return await self._chunkers.run(lambda: work(*args, **kwargs))

    async def learning(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Work that may wait for a language model or read a long log. No commit and no other read waits with it."""
        return await self._learners.run(lambda: work(*args, **kwargs))

    async def outcome(self, ticket: Ticket) -> Any:
        """Wait until the journal has settled a ticket that was begun with `settled` of this bridge."""
        if not ticket.done:
            future = self._loop.create_future()
            self._waiting[ticket] = future
            try:
                await future
            finally:
                self._waiting.pop(ticket, None)
        return ticket.outcome()

    def settled(self, ticket: Ticket) -> None:
        """Wake the loop once for a whole group of tickets, not once for each."""
        self._settled.append(ticket)
        if not self._woken:
            self._woken = True
            with contextlib.suppress(RuntimeError):  # the loop has ended, and with it everybody who waited
                self._loop.call_soon_threadsafe(self._wake)

    def _wake(self) -> None:
        self._woken = False
        while self._settled:
            future = self._waiting.get(self._settled.popleft())
            if future is not None and not future.done():
                future.set_result(None)

    def close(self) -> None:
        for pool in (self._readers, self._searchers, self._writers, self._counters, self._chunkers, self._learners):
            pool.close()
