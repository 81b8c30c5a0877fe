"""Thread pools for blocking work, and waiting on the event loop for commands of the journal."""

import asyncio
import contextlib
import contextvars
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, ParamSpec, TypeVar

from memsidecar import spans
from memsidecar.api.fair_queue import FairSemaphore, SerialWhileFast
from memsidecar.stores.contract import PendingCommand

SEARCH_THREADS = 2
FAST_SEARCH_SECONDS = 0.05
MODEL_THREADS = 2
WARMING_THREADS = 1
COUNT_THREADS = CHUNK_THREADS = 1  # more of them compete for the GIL: two were a tenth slower

P = ParamSpec("P")
T = TypeVar("T")


class ThreadPool:
    """Threads for one kind of work. If tenants share the server, no tenant gets all of them."""

    def __init__(self, name: str, size: int, shared: bool) -> None:
        self._pool = ThreadPoolExecutor(size, thread_name_prefix=name)
        self._semaphore = FairSemaphore(size, max(1, size - 1)) if shared else None

    async def run(self, work: Callable[[], T]) -> T:
        if self._semaphore is None:
            return await self._execute(work)
        async with self._semaphore.slot():
            return await self._execute(work)

    async def _execute(self, work: Callable[[], T]) -> T:
        run = contextvars.copy_context().run  # the span of the call, for one
        return await asyncio.get_running_loop().run_in_executor(self._pool, run, work)

    def close(self) -> None:
        """Start no more work. What runs is not waited for."""
        self._pool.shutdown(wait=False, cancel_futures=True)


class SearchThreadPool(ThreadPool):
    """Uses its second thread only while the first one is busy with a slow search."""

    def __init__(self, shared: bool) -> None:
        super().__init__("searcher", SEARCH_THREADS, shared)
        self._serial = SerialWhileFast(FAST_SEARCH_SECONDS)

    async def _execute(self, work: Callable[[], T]) -> T:
        async with self._serial.slot():
            return await super()._execute(work)


class Executors:
    """All thread pools of the server. Belongs to one event loop; only `on_done` is called from other threads.

    `shared`: tenants share the server, so no tenant may occupy all threads of a pool.
    """

    def __init__(self, threads: int, *, shared: bool = False) -> None:
        self._loop = asyncio.get_running_loop()
        self._readers = ThreadPool("reader", threads, shared)
        self._searchers = SearchThreadPool(shared)
        self._writers = ThreadPool("writer", threads, shared)
        self._counters = ThreadPool("counter", COUNT_THREADS, shared)
        self._chunkers = ThreadPool("chunker", CHUNK_THREADS, shared)
        self._models = ThreadPool("model", MODEL_THREADS, shared)
        self._warmers = ThreadPool("warmer", WARMING_THREADS, shared=False)
        self._done: deque[PendingCommand] = deque()
        self._waiting: dict[PendingCommand, asyncio.Future[None]] = {}
        self._is_woken = False

    async def run_read(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run work that may read from the disk and never waits for a commit."""
        return await self._readers.run(lambda: work(*args, **kwargs))

    async def run_search(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a search: arithmetic that may wait for a remote embedder, apart from other reads."""
        return await self._searchers.run(lambda: work(*args, **kwargs))

    async def run_write(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run work that waits for commits, apart from reads, which must not queue behind an fsync."""
        with spans.step("journal"):
            return await self._writers.run(lambda: work(*args, **kwargs))

    async def run_count(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run long CPU work without disk: validating and counting large requests."""
        return await self._counters.run(lambda: work(*args, **kwargs))

    async def run_chunk(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Chunk a document, apart from `run_count`: a megabyte takes a second, and no Add may queue behind it."""
        return await self._chunkers.run(lambda: work(*args, **kwargs))

    async def run_model(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run work that may wait for a language model or read a long log, apart from commits and other reads."""
        return await self._models.run(lambda: work(*args, **kwargs))

    async def run_warming(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Load a tokenizer, or open the index: no call waits in the same queue."""
        return await self._warmers.run(lambda: work(*args, **kwargs))

    async def wait_for(self, command: PendingCommand) -> Any:
        """Return the result of a command that was submitted with `on_done` as its callback, or raise its error."""
        if not command.done:
            future = self._loop.create_future()
            self._waiting[command] = future
            try:
                with spans.step("journal"):
                    await future
            finally:
                self._waiting.pop(command, None)
        return command.result()

    def on_done(self, command: PendingCommand) -> None:
        """Record that a command is complete. The loop is woken once for a group of commands, not once for each."""
        self._done.append(command)
        if not self._is_woken:
            self._is_woken = True
            with contextlib.suppress(RuntimeError):  # the loop has ended, and with it every waiting call
                self._loop.call_soon_threadsafe(self._wake)

    def _wake(self) -> None:
        self._is_woken = False
        while self._done:
            future = self._waiting.get(self._done.popleft())
            if future is not None and not future.done():
                future.set_result(None)

    def close(self) -> None:
        calls = (self._readers, self._searchers, self._writers, self._counters, self._chunkers, self._models)
        for pool in (*calls, self._warmers):
            pool.close()
