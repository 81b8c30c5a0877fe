"""Global in-flight limit, drain, load probe."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any, cast

from memsidecar.api.interceptors import Context, Request, StreamHandler, UnaryHandler
from memsidecar.domain.errors import Overloaded, ShuttingDown

POLL_SECONDS = 0.01
LAST_CALLS_SECONDS = 0.1
IDLE_STREAM_SECONDS = 5.0
"A stream on which nothing came for so long is over, as soon as we are to stop."


@dataclass
class InFlightCounter:
    """Counted on the event loop only, so a plain number will do."""

    most: int
    what: str
    now: int = 0
    came: int = 0
    "How many requests there were so far."
    draining: bool = False

    def enter(self) -> None:
        if self.draining:
            raise ShuttingDown()
        if self.now >= self.most:
            raise Overloaded(f"{self.most} {self.what} are in flight; try again")
        self.now += 1
        self.came += 1


@dataclass(frozen=True)
class InFlightLimits:
    calls: InFlightCounter
    streams: InFlightCounter
    _listening: dict[asyncio.Task[Any], float] = field(default_factory=dict)
    "Who waits for the next request of a stream, and since when."

    def somebody_waits(self) -> Callable[[], bool]:
        """Tells whether somebody waits for an answer now: a call, or a stream on which something came since it was last
        asked. A stream that is only open waits for nothing. From any thread.
        """
        return _noticing(lambda: self.streams.came, lambda: self.calls.now > 0)

    def somebody_is_here(self) -> Callable[[], bool]:
        """The same, and whether somebody called since it was last asked: who calls again and again is about to."""
        return _noticing(lambda: self.streams.came + self.calls.came, lambda: self.calls.now > 0)

    @property
    def most(self) -> int:
        return self.calls.most + self.streams.most

    def unary(self, _method: str, answer: UnaryHandler) -> UnaryHandler:
        calls = self.calls

        async def limited(asked: Request, context: Context) -> bytes:
            calls.enter()
            try:
                return await answer(asked, context)
            finally:
                calls.now -= 1

        return limited

    def stream(self, _method: str, answer: StreamHandler) -> StreamHandler:
        streams = self.streams

        async def limited(requests: AsyncIterator[bytes], context: Context) -> AsyncIterator[bytes]:
            streams.enter()
            try:
                async for one in answer(self._counted(requests), context):
                    yield one
            finally:
                streams.now -= 1

        return limited

    async def _counted(self, requests: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        while (data := await self._next(requests)) is not None:
            self.streams.came += 1
            yield data

    async def _next(self, requests: AsyncIterator[bytes]) -> bytes | None:
        """The next request, or None behind the last one."""
        here = cast("asyncio.Task[Any]", asyncio.current_task())
        self._listening[here] = time.monotonic()
        try:
            return await anext(requests, None)
        except asyncio.CancelledError:
            if here in self._listening:
                raise
            here.uncancel()
            raise ShuttingDown() from None
        finally:
            self._listening.pop(here, None)

    def _end_streams(self, silent_seconds: float) -> None:
        """Tell streams on which nothing comes; what came before is answered first."""
        now = time.monotonic()
        for task, since in list(self._listening.items()):
            if now - since >= silent_seconds:
                del self._listening[task]
                task.cancel()

    async def drain(self, seconds: float) -> None:
        """Refuse what comes now in words that clients retry on, and let what has begun come to its end.

        gRPC's own shutdown cancels calls that arrive while it closes, and nobody retries a cancelled call.
        """
        self.calls.draining = self.streams.draining = True
        give_up = time.monotonic() + seconds
        while (self.calls.now or self.streams.now) and time.monotonic() < give_up:
            self._end_streams(IDLE_STREAM_SECONDS)
            await asyncio.sleep(POLL_SECONDS)
        self._end_streams(0)
        await asyncio.sleep(LAST_CALLS_SECONDS)


def _noticing(came: Callable[[], int], waits: Callable[[], bool]) -> Callable[[], bool]:
    seen = came()

    def is_busy() -> bool:
        nonlocal seen
        before, seen = seen, came()
        return waits() or seen != before

    return is_busy
