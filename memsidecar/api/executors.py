"""Named thread pools; await a journal command from the event loop."""

import asyncio
import contextlib
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, ParamSpec, TypeVar

from memsidecar.api.fair_queue import FairSemaphore, SerialWhileFast
from memsidecar.stores.contract import PendingCommand

SEARCHING_THREADS = 2
QUICK_SEARCH_SECONDS = 0.05
LEARNING_THREADS = 2
COUNTING_THREADS = CHUNKING_THREADS = 1  # more of them only fight over the GIL: two were a tenth slower

P = ParamSpec("P")
T = TypeVar("T")


class ThreadPool:
    """A few threads for one kind of work, with fair turns at them where tenants share them."""

    def __init__(self, name: str, count: int, shared: bool) -> None:
        self._pool = ThreadPoolExecutor(count, thread_name_prefix=name)
        self._turns = FairSemaphore(count, max(1, count - 1)) if shared else None

    async def run(self, work: Callable[[], T]) -> T:
        if self._turns is None:
            return await self._do(work)
        async with self._turns.slot():
            return await self._do(work)

    async def _do(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._pool, work)

    def close(self) -> None:
        self._pool.shutdown(wait=True)


class SearchThreadPool(ThreadPool):
    """The second one is for when the first has something slow to do."""

    def __init__(self, shared: bool) -> None:
        super().__init__("searcher", SEARCHING_THREADS, shared)
        self._quick = SerialWhileFast(QUICK_SEARCH_SECONDS)

    async def _do(self, work: Callable[[], T]) -> T:
        async with self._quick.slot():
            return await super()._do(work)


class Executors:
    """Belongs to one event loop; `settled` alone is called from other threads."""

    def __init__(self, threads: int, *, shared: bool = False) -> None:
        """`shared`: by tenants of whom none may take all threads. Else whoever comes takes what is free."""
        self._loop = asyncio.get_running_loop()
        self._readers = ThreadPool("reader", threads, shared)
        self._searchers = SearchThreadPool(shared)
        self._writers = ThreadPool("writer", threads, shared)
        self._counters = ThreadPool("counter", COUNTING_THREADS, shared)
        self._chunkers = ThreadPool("chunker", CHUNKING_THREADS, shared)
        self._learners = ThreadPool("learner", LEARNING_THREADS, shared)
        self._settled: deque[PendingCommand] = deque()
        self._waiting: dict[PendingCommand, asyncio.Future[None]] = {}
        self._woken = False

    async def run_read(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Work that may read from the disk, and never waits for a commit."""
        return await self._readers.run(lambda: work(*args, **kwargs))

    async def run_search(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Arithmetic that may wait for an embedder far away. It has threads of its own: no other read waits with it."""
        return await self._searchers.run(lambda: work(*args, **kwargs))

    async def run_write(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Work that waits for commits. It has threads of its own: a reader must not queue behind an fsync."""
        return await self._writers.run(lambda: work(*args, **kwargs))

    async def run_count(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Work that is long without any disk: checking and counting large requests."""
        return await self._counters.run(lambda: work(*args, **kwargs))

    async def run_chunk(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """The same for documents. A megabyte takes a second, so it has a thread of its own: no Add queues behind it."""
        return await self._chunkers.run(lambda: work(*args, **kwargs))

    async def run_model(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Work that may wait for a language model or read a long log. No commit and no other read waits with it."""
        return await self._learners.run(lambda: work(*args, **kwargs))

    async def outcome(self, ticket: PendingCommand) -> Any:
        """Wait until the journal has settled a ticket that was begun with `settled` of this bridge."""
        if not ticket.done:
            future = self._loop.create_future()
            self._waiting[ticket] = future
            try:
                await future
            finally:
                self._waiting.pop(ticket, None)
        return ticket.result()

    def settled(self, ticket: PendingCommand) -> None:
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
