"""A line for calls that failed or were slow; for every call only when asked, because a line costs as much as a call.

Never any content, and no ids: those are the caller's, and may name a person.
"""

import logging
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

from memsidecar import logs
from memsidecar.api.interceptors import Context, Request, StreamHandler, UnaryHandler
from memsidecar.api.status import reason_name, row_of
from memsidecar.domain.errors import InvalidField, SidecarError, Unauthenticated

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class RequestLog:
    log_calls: str
    slow_call_seconds: float
    unauthenticated: logs.RateLimitedLog = field(default_factory=logs.RateLimitedLog)
    "Whoever has no credentials can still call as often as they like."

    def unary(self, method: str, answer: UnaryHandler) -> UnaryHandler:
        if self.log_calls == "none":
            return answer

        async def logged(asked: Request, context: Context) -> bytes:
            start = time.perf_counter()
            try:
                result = await answer(asked, context)
            except SidecarError as error:
                self._failed(method, start, error)
                raise
            self._answered(method, start)
            return result

        return logged

    def stream(self, method: str, answer: StreamHandler) -> StreamHandler:
        if self.log_calls == "none":
            return answer

        async def logged(requests: AsyncIterator[bytes], context: Context) -> AsyncIterator[bytes]:
            start = time.perf_counter()
            try:
                async for one in answer(requests, context):
                    yield one
            except SidecarError as error:
                self._failed(method, start, error)
                raise
            if self.log_calls == "all":  # a stream is long by nature, not slow
                self._answered(method, start)

        return logged

    def _answered(self, method: str, start: float) -> None:
        seconds = time.perf_counter() - start
        if self.log_calls == "all" or seconds > self.slow_call_seconds:
            logs.event(log, logging.INFO, "call", method=method, code="OK", ms=_ms(seconds))

    def _failed(self, method: str, start: float, error: SidecarError) -> None:
        missed = self.unauthenticated.suppressed(start) if isinstance(error, Unauthenticated) else 0
        if missed is None:
            return
        row = row_of(error)
        logs.event(
            log,
            logging.INFO,
            "call",
            method=method,
            code=row.code.name,
            reason=reason_name(row.reason),
            ms=_ms(time.perf_counter() - start),
            **_place(error),
            **logs.suppressed_field(missed),
        )


def _place(error: SidecarError) -> dict[str, Any]:
    """Where in the request it went wrong, if the error says so."""
    return {"field": error.field} if isinstance(error, InvalidField) else {}


def _ms(seconds: float) -> float:
    return round(seconds * 1000, 2)
