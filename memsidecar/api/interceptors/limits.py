"""How much at once. Beyond it a call is refused at once rather than queued into its deadline."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass

from memsidecar.api.interceptors import Asked, Context, Stream, Unary
from memsidecar.domain.errors import Busy, ShuttingDown

LOOK_EVERY_SECONDS = 0.01
LAST_CALLS_SECONDS = 0.1


@dataclass
class InFlight:
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
            raise Busy(f"{self.most} {self.what} are in flight; try again")
        self.now += 1
        self.came += 1


@dataclass(frozen=True)
class Limits:
    calls: InFlight
    streams: InFlight

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

    def unary(self, _method: str, answer: Unary) -> Unary:
        calls = self.calls

        async def limited(asked: Asked, context: Context) -> bytes:
            calls.enter()
            try:
                return await answer(asked, context)
            finally:
                calls.now -= 1

        return limited

    def stream(self, _method: str, answer: Stream) -> Stream:
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
        async for data in requests:
            self.streams.came += 1
            yield data

    async def drain(self, seconds: float) -> None:
        """Refuse what comes now in words that clients retry on, and let what has begun come to its end.

        gRPC's own shutdown cancels calls that arrive while it closes, and nobody retries a cancelled call.
        """
        self.calls.draining = self.streams.draining = True
        give_up = time.monotonic() + seconds
        while (self.calls.now or self.streams.now) and time.monotonic() < give_up:
            await asyncio.sleep(LOOK_EVERY_SECONDS)
        await asyncio.sleep(LAST_CALLS_SECONDS)


def _noticing(came: Callable[[], int], waits: Callable[[], bool]) -> Callable[[], bool]:
    seen = came()

    def is_busy() -> bool:
        nonlocal seen
        before, seen = seen, came()
        return waits() or seen != before

    return is_busy
