"""No work for a caller who no longer waits, and an end for calls that brought no deadline, or one far away.

gRPC itself cancels a call whose deadline passes while it is worked on. A call without one gets the default, and none
gets more than the most: all calls with the same time run out in the order in which they began, and looking at the
oldest now and then does what a timer for each call would do at a tenth of the cost.
"""

import asyncio
import time
from collections.abc import Awaitable
from contextvars import ContextVar
from dataclasses import dataclass, field

from memsidecar.api.interceptors import Context, Request, UnaryHandler
from memsidecar.domain.errors import DeadlineExceeded

POLL_SECONDS = 0.25
_DEADLINE: ContextVar[float | None] = ContextVar("the end of a call", default=None)


def remaining_seconds() -> float | None:
    """How long the caller of this task still waits; None outside of a call."""
    end = _DEADLINE.get()
    return None if end is None else end - time.monotonic()


@dataclass(frozen=True)
class TimeoutGroup:
    """Calls that all have the same time."""

    seconds: float
    _running: dict[asyncio.Task[object], float] = field(default_factory=dict)
    _ended: set[asyncio.Task[object]] = field(default_factory=set)

    async def run(self, work: Awaitable[bytes]) -> bytes:
        task = asyncio.current_task()
        assert task is not None
        self._running[task] = time.monotonic() + self.seconds
        try:
            return await work
        except asyncio.CancelledError:
            if task in self._ended:
                raise DeadlineExceeded() from None
            raise
        finally:
            del self._running[task]
            self._ended.discard(task)

    def end_expired(self, now: float) -> None:
        for task, end in list(self._running.items()):
            if end > now:
                return
            self._ended.add(task)
            task.cancel()


class Deadlines:
    def __init__(self, default_seconds: float, most_seconds: float) -> None:
        self._most_seconds = most_seconds
        self._default = TimeoutGroup(min(default_seconds, most_seconds))
        self._most = TimeoutGroup(most_seconds)

    def unary(self, _method: str, answer: UnaryHandler) -> UnaryHandler:
        async def in_time(asked: Request, context: Context) -> bytes:
            remaining, fuse = _remaining(context), None
            if remaining is None:
                fuse = self._default
            elif remaining > self._most_seconds:
                fuse = self._most
            elif remaining <= 0:
                raise DeadlineExceeded()
            _DEADLINE.set(time.monotonic() + (fuse.seconds if fuse else remaining or 0))
            answered = answer(asked, context)
            return await (fuse.run(answered) if fuse else answered)

        return in_time

    async def watch(self) -> None:
        """End the calls whose time has passed; runs as long as the server does."""
        while True:
            await asyncio.sleep(POLL_SECONDS)
            now = time.monotonic()
            self._default.end_expired(now)
            self._most.end_expired(now)


def _remaining(context: Context) -> float | None:
    remaining: float | None = context.time_remaining()
    return remaining
