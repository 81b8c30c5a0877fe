"""Global limit on calls and streams in flight, the load they put on the server, and draining at shutdown."""

import asyncio
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any, cast

from memsidecar.api.interceptors.call import Context, Request, StreamHandler, UnaryHandler
from memsidecar.domain.errors import Overloaded, ShuttingDown

POLL_SECONDS = 0.01
LAST_CALLS_SECONDS = 0.1
"Time after draining in which late calls are still rejected with a status that clients retry."
IDLE_STREAM_SECONDS = 5.0
"A stream without a request for this long ends as soon as the server drains."


@dataclass
class InFlightCounter:
    """Counts calls or streams in flight. Written on the event loop only, so plain numbers suffice."""

    limit: int
    what: str
    pending: int = 0
    total: int = 0
    "Requests so far, finished ones included."
    draining: bool = False

    def acquire(self) -> None:
        if self.draining:
            raise ShuttingDown()
        if self.pending >= self.limit:
            raise Overloaded(f"{self.limit} {self.what} are in flight; try again")
        self.pending += 1
        self.total += 1

    def release(self) -> None:
        self.pending -= 1


@dataclass(frozen=True)
class InFlightLimits:
    """Interceptor that bounds calls, streams and watchers in flight."""

    calls: InFlightCounter
    streams: InFlightCounter
    watchers: InFlightCounter = field(default_factory=lambda: InFlightCounter(256, "Watch streams"))
    "Streams of events. They wait most of the time, so they are no load, and draining does not wait for them."
    _idle_since: dict[asyncio.Task[Any], float] = field(default_factory=dict)
    "Streams that wait for their next request, and since when."

    @property
    def limit(self) -> int:
        return self.calls.limit + self.streams.limit + self.watchers.limit

    def load_probe(self, *, finished_calls: bool) -> "LoadProbe":
        return LoadProbe(self, finished_calls=finished_calls)

    def unary(self, _method: str, handler: UnaryHandler) -> UnaryHandler:
        return _limited(self.calls, handler)

    def watch(self, _method: str, handler: UnaryHandler) -> UnaryHandler:
        return _limited(self.watchers, handler)

    def stream(self, _method: str, handler: StreamHandler) -> StreamHandler:
        streams = self.streams

        async def limited(requests: AsyncIterator[bytes], context: Context) -> AsyncIterator[bytes]:
            streams.acquire()
            try:
                async for response in handler(self._count(requests), context):
                    yield response
            finally:
                streams.release()

        return limited

    async def _count(self, requests: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        while (data := await self._next(requests)) is not None:
            self.streams.total += 1
            yield data

    async def _next(self, requests: AsyncIterator[bytes]) -> bytes | None:
        """Return the next request of a stream; None after the last one. Raises ShuttingDown when drained meanwhile."""
        task = cast("asyncio.Task[Any]", asyncio.current_task())
        self._idle_since[task] = time.monotonic()
        try:
            return await anext(requests, None)
        except asyncio.CancelledError:
            if task in self._idle_since:
                raise
            task.uncancel()
            raise ShuttingDown() from None
        finally:
            self._idle_since.pop(task, None)

    def _end_idle_streams(self, idle_seconds: float) -> None:
        """Cancel streams without a request for so long. Requests that came before are answered first."""
        now = time.monotonic()
        for task, since in list(self._idle_since.items()):
            if now - since >= idle_seconds:
                del self._idle_since[task]
                task.cancel()

    async def drain(self, seconds: float) -> None:
        """Reject new calls with a status that clients retry, and let pending ones finish.

        gRPC's own shutdown cancels calls that arrive while it closes, and clients do not retry a cancelled call.
        """
        self.calls.draining = self.streams.draining = self.watchers.draining = True
        end = time.monotonic() + seconds
        while (self.calls.pending or self.streams.pending) and time.monotonic() < end:
            self._end_idle_streams(IDLE_STREAM_SECONDS)
            await asyncio.sleep(POLL_SECONDS)
        self._end_idle_streams(0)
        await asyncio.sleep(LAST_CALLS_SECONDS)


def _limited(counter: InFlightCounter, handler: UnaryHandler) -> UnaryHandler:
    async def limited(request: Request, context: Context) -> bytes:
        counter.acquire()
        try:
            return await handler(request, context)
        finally:
            counter.release()

    return limited


class LoadProbe:
    """Tells a background task whether RPCs compete with it for the CPU. May be read from any thread.

    Each task needs a probe of its own, because a probe remembers its last check. An open stream without requests is
    no load. With `finished_calls`, calls that came and went since the last check count too: their client is likely to
    call again at once.
    """

    def __init__(self, limits: InFlightLimits, *, finished_calls: bool) -> None:
        self._limits = limits
        self._finished_calls = finished_calls
        self._seen = self._total()

    @property
    def pending(self) -> int:
        """Calls in progress."""
        return self._limits.calls.pending

    def recent_since_last_check(self) -> int:
        """Return the number of requests since this method was last called."""
        before, self._seen = self._seen, self._total()
        return self._seen - before

    def is_busy(self) -> bool:
        recent = self.recent_since_last_check()
        return self.pending > 0 or recent > 0

    def _total(self) -> int:
        return self._limits.streams.total + (self._limits.calls.total if self._finished_calls else 0)
