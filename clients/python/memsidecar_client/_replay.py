"""Requests of a stream: a buffer of unacknowledged ones that resumes an interrupted stream, or each request once."""

import asyncio
import threading
from collections import deque
from collections.abc import AsyncIterator, Iterator
from typing import Any

from memsidecar_client._ids import identify


class Once(Iterator[Any]):
    """Requests for threads, without replay. Keeps the error of the source, which gRPC does not pass on."""

    def __init__(self, source: Iterator[Any]) -> None:
        self._source = source
        self._broken: BaseException | None = None

    def __next__(self) -> Any:
        try:
            return next(self._source)
        except StopIteration:
            raise
        except BaseException as error:
            self._broken = error
            raise

    def check(self) -> None:
        """Raise the error of the caller's iterator."""
        if self._broken is not None:
            raise self._broken


class AsyncOnce(AsyncIterator[Any]):
    """Requests for tasks, without replay."""

    def __init__(self, source: AsyncIterator[Any]) -> None:
        self._source = source
        self._broken: BaseException | None = None

    async def __anext__(self) -> Any:
        try:
            return await anext(self._source)
        except (StopAsyncIteration, asyncio.CancelledError):
            raise
        except BaseException as error:
            self._broken = error
            raise

    def check(self) -> None:
        """See Once."""
        if self._broken is not None:
            raise self._broken


class Kept:
    """Requests from when they are taken until they are acknowledged, which happens in order."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._requests: deque[Any] = deque()
        self._answered = 0

    def put(self, request: Any) -> None:
        """Add an id at the start: a resent message is recognised by it."""
        identify(request.message)
        with self._lock:
            self._requests.append(request)

    def answered(self) -> None:
        with self._lock:
            self._requests.popleft()
            self._answered += 1

    @property
    def all_answered(self) -> bool:
        with self._lock:
            return not self._requests

    @property
    def oldest(self) -> int:
        """Return the position of the oldest unacknowledged request."""
        return self._answered

    def at(self, place: int) -> Any:
        """Return the request at a position, or None if it was not taken yet."""
        with self._lock:
            index = place - self._answered
            return self._requests[index] if 0 <= index < len(self._requests) else None


class Replay(Kept):
    """For threads. gRPC reads requests in a thread of its own, and that of a stream which broke may still wait for the
    source when the next stream begins: they take turns, and what one has taken the other finds.
    """

    def __init__(self, source: Iterator[Any]) -> None:
        super().__init__()
        self._source = source
        self._turn = threading.Lock()
        self._ended = False
        self._broken: BaseException | None = None

    def check(self) -> None:
        """Raise the error of the caller's iterator, which gRPC does not pass on."""
        if self._broken is not None:
            raise self._broken

    @property
    def is_over(self) -> bool:
        """Return whether every request is sent and acknowledged."""
        return self._ended and self.all_answered

    def unanswered(self) -> Iterator[Any]:
        """Yield requests from the oldest unacknowledged one to the end of the source."""
        place = self.oldest
        while (request := self.at(place) or self._taken(place)) is not None:
            yield request
            place += 1

    def _taken(self, place: int) -> Any:
        with self._turn:
            if self.at(place) is None and not self._ended:
                self._take()
        return self.at(place)

    def _take(self) -> None:
        try:
            self.put(next(self._source))
        except StopIteration:
            self._ended = True
        except BaseException as error:
            self._ended, self._broken = True, error
            raise


class AsyncReplay(Kept):
    """Replay for tasks. A broken stream cancels the task that waits for the source, not the source itself."""

    def __init__(self, source: AsyncIterator[Any]) -> None:
        super().__init__()
        self._source = source
        self._taking: asyncio.Task[bool] | None = None

    def check(self) -> None:
        """See Replay."""
        if self._taking is not None and self._taking.done() and not self._taking.cancelled():
            self._taking.result()

    @property
    def is_over(self) -> bool:
        """See Replay."""
        ended = self._taking is not None and self._taking.done() and not self._taking.result()
        return ended and self.all_answered

    async def unanswered(self) -> AsyncIterator[Any]:
        place = self.oldest
        while (request := self.at(place) or await self._taken(place)) is not None:
            yield request
            place += 1

    async def close(self) -> None:
        """Stop: no caller reads the responses, so waiting for the source is pointless."""
        if self._taking is not None and not self._taking.done():
            self._taking.cancel()
            await asyncio.wait([self._taking])

    async def _taken(self, place: int) -> Any:
        if self._taking is None or (self._taking.done() and self._taking.result()):
            self._taking = asyncio.ensure_future(self._take())
        await asyncio.shield(self._taking)
        return self.at(place)

    async def _take(self) -> bool:
        """Return whether there may be more requests."""
        async for request in self._source:
            self.put(request)
            return True
        return False
