"""Request log: one line for each failed or slow call, or for every call when the setting `log_calls` asks for it.

A line costs about as much as a call. It holds no content and no ids: ids belong to the caller and may name a person.
"""

import logging
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

from memsidecar import logs
from memsidecar.api.interceptors.call import Context, Request, StreamHandler, UnaryHandler
from memsidecar.api.status import reason_name, row_of
from memsidecar.domain.errors import InvalidField, SidecarError, Unauthenticated

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class RequestLog:
    log_calls: str
    slow_call_seconds: float
    unauthenticated: logs.RateLimitedLog = field(default_factory=logs.RateLimitedLog)
    "Bounds the lines of callers without credentials, whose call rate is not limited."

    def unary(self, method: str, handler: UnaryHandler) -> UnaryHandler:
        if self.log_calls == "none":
            return handler

        async def logged(request: Request, context: Context) -> bytes:
            start = time.perf_counter()
            try:
                response = await handler(request, context)
            except SidecarError as error:
                self._log_failed(method, start, error)
                raise
            self._log_completed(method, start)
            return response

        return logged

    def stream(self, method: str, handler: StreamHandler) -> StreamHandler:
        if self.log_calls == "none":
            return handler

        async def logged(requests: AsyncIterator[bytes], context: Context) -> AsyncIterator[bytes]:
            start = time.perf_counter()
            try:
                async for response in handler(requests, context):
                    yield response
            except SidecarError as error:
                self._log_failed(method, start, error)
                raise
            if self.log_calls == "all":  # the duration of a stream does not make it slow
                self._log_completed(method, start)

        return logged

    def _log_completed(self, method: str, start: float) -> None:
        seconds = time.perf_counter() - start
        if self.log_calls == "all" or seconds > self.slow_call_seconds:
            logs.event(log, logging.INFO, "call", method=method, code="OK", ms=_ms(seconds))

    def _log_failed(self, method: str, start: float, error: SidecarError) -> None:
        suppressed = self.unauthenticated.suppressed(start) if isinstance(error, Unauthenticated) else 0
        if suppressed is None:
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
            **_field_of(error),
            **logs.suppressed_field(suppressed),
        )


def _field_of(error: SidecarError) -> dict[str, Any]:
    """Return the log field that names the invalid field of the request, if the error has one."""
    return {"field": error.field} if isinstance(error, InvalidField) else {}


def _ms(seconds: float) -> float:
    return round(seconds * 1000, 2)
