"""Deadlines: expired calls are rejected, calls without a deadline get the default, all are capped at the maximum.

gRPC cancels a call whose own deadline passes. Calls without one, or with one beyond the maximum, are cancelled here.
All calls of a timeout group expire in the order in which they started, so polling the oldest replaces a timer for each
call at a tenth of the cost.
"""

import asyncio
import time
from collections.abc import Awaitable
from contextvars import ContextVar
from dataclasses import dataclass, field

from memsidecar.api.interceptors.call import Context, Request, UnaryHandler
from memsidecar.domain.errors import DeadlineExceeded

POLL_SECONDS = 0.25
_DEADLINE: ContextVar[float | None] = ContextVar("deadline of the call", default=None)


def remaining_seconds() -> float | None:
    """Return the time until the deadline of the current call; None outside of a call."""
    deadline = _DEADLINE.get()
    return None if deadline is None else deadline - time.monotonic()


@dataclass(frozen=True)
class TimeoutGroup:
    """Calls with the same timeout."""

    seconds: float
    _running: dict[asyncio.Task[object], float] = field(default_factory=dict)
    _expired: set[asyncio.Task[object]] = field(default_factory=set)

    async def run(self, work: Awaitable[bytes]) -> bytes:
        task = asyncio.current_task()
        assert task is not None
        self._running[task] = time.monotonic() + self.seconds
        try:
            return await work
        except asyncio.CancelledError:
            if task in self._expired:
                raise DeadlineExceeded() from None
            raise
        finally:
            del self._running[task]
            self._expired.discard(task)

    def cancel_expired(self, now: float) -> None:
        for task, deadline in list(self._running.items()):
            if deadline > now:
                return
            self._expired.add(task)
            task.cancel()


class Deadlines:
    """Interceptor that enforces the deadlines of unary calls."""

    def __init__(self, default_seconds: float, max_seconds: float) -> None:
        self._max_seconds = max_seconds
        self._default = TimeoutGroup(min(default_seconds, max_seconds))
        self._maximum = TimeoutGroup(max_seconds)

    def unary(self, _method: str, handler: UnaryHandler) -> UnaryHandler:
        async def in_time(request: Request, context: Context) -> bytes:
            remaining: float | None = context.time_remaining()
            group: TimeoutGroup | None = None
            if remaining is None:
                group = self._default
            elif remaining > self._max_seconds:
                group = self._maximum
            elif remaining <= 0:
                raise DeadlineExceeded()
            _DEADLINE.set(time.monotonic() + (group.seconds if group else remaining or 0))
            response = handler(request, context)
            return await (group.run(response) if group else response)

        return in_time

    async def watch(self) -> None:
        """Cancel calls whose deadline has passed, until this task is cancelled."""
        while True:
            await asyncio.sleep(POLL_SECONDS)
            now = time.monotonic()
            self._default.cancel_expired(now)
            self._maximum.cancel_expired(now)
