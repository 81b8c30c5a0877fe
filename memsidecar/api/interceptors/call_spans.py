"""Spans of calls: one for each call, within the trace of its caller, with the status that it ended with."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import grpc

from memsidecar import spans
from memsidecar.api.interceptors.call import Context, Request, StreamHandler, UnaryHandler
from memsidecar.api.status import reason_name, row_of
from memsidecar.domain.errors import SidecarError

STATUS_ATTRIBUTE = "rpc.response.status_code"


@dataclass(frozen=True)
class CallSpans:
    """Interceptor that records calls. Without a tracer it returns each handler as it is."""

    tracer: spans.Tracer | None = None

    def unary(self, method: str, handler: UnaryHandler) -> UnaryHandler:
        if self.tracer is None:
            return handler
        tracer, path = self.tracer, _path(method)

        async def traced(request: Request, context: Context) -> bytes:
            span = tracer.start_call(path, context.invocation_metadata() or ())
            if span is None:
                return await handler(request, context)
            with _recorded(span):
                spans.begin(span)
                return await handler(request, context)

        return traced

    def stream(self, method: str, handler: StreamHandler) -> StreamHandler:
        """Record a stream without steps: it may have any number of requests."""
        if self.tracer is None:
            return handler
        tracer, path = self.tracer, _path(method)

        async def traced(requests: AsyncIterator[bytes], context: Context) -> AsyncIterator[bytes]:
            span = tracer.start_call(path, context.invocation_metadata() or ())
            if span is None:
                async for response in handler(requests, context):
                    yield response
                return
            with _recorded(span):
                async for response in handler(requests, context):
                    yield response

        return traced


@contextmanager
def _recorded(span: spans.Span) -> Iterator[None]:
    """End the span of a call with the status of its outcome."""
    status, error_type = grpc.StatusCode.INTERNAL.name, "INTERNAL"
    try:
        yield
        status, error_type = grpc.StatusCode.OK.name, ""
    except SidecarError as error:
        row = row_of(error)
        status, error_type = row.code.name, reason_name(row.reason)
        raise
    except (asyncio.CancelledError, GeneratorExit):
        status = error_type = grpc.StatusCode.CANCELLED.name
        raise
    finally:
        span.set_attribute(STATUS_ATTRIBUTE, status)
        span.end(error_type)


def _path(method: str) -> str:
    """Return the name of a method as gRPC and OpenTelemetry write it: `package.Service/Method`."""
    service, _, name = method.rpartition(".")
    return f"{service}/{name}"
