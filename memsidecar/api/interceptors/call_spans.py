"""Spans of calls: one for each call, within the trace of its caller, with the status that it ended with."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import grpc

from memsidecar import spans
from memsidecar.api.interceptors.call import Context, Request, StreamHandler, UnaryHandler
from memsidecar.api.status import failure_of

STATUS_ATTRIBUTE = "rpc.response.status_code"
_FAILURES = frozenset({"UNKNOWN", "DEADLINE_EXCEEDED", "UNIMPLEMENTED", "INTERNAL", "UNAVAILABLE", "DATA_LOSS"})
"Statuses with which OpenTelemetry marks the span of a server as failed."


@dataclass(frozen=True)
class CallSpans:
    """Interceptor that records calls. Without a tracer it returns each handler as it is."""

    tracer: spans.Tracer | None = None
    system: str = "grpc"
    "The protocol of the calls, as OpenTelemetry names it."

    def unary(self, method: str, handler: UnaryHandler) -> UnaryHandler:
        if self.tracer is None:
            return handler
        tracer, system, path = self.tracer, self.system, _path(method)

        async def traced(request: Request, context: Context) -> bytes:
            span = tracer.start_call(system, path, context.invocation_metadata() or ())
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
        tracer, system, path = self.tracer, self.system, _path(method)

        async def traced(requests: AsyncIterator[bytes], context: Context) -> AsyncIterator[bytes]:
            span = tracer.start_call(system, path, context.invocation_metadata() or ())
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
    try:
        yield
    except (Exception, asyncio.CancelledError, GeneratorExit) as error:
        failure = failure_of(error)
        span.set_attribute(STATUS_ATTRIBUTE, failure.status)
        span.end(failure.reason, is_failure=failure.status in _FAILURES)
        raise
    span.set_attribute(STATUS_ATTRIBUTE, grpc.StatusCode.OK.name)
    span.end()


def _path(method: str) -> str:
    """Return the name of a method as gRPC and OpenTelemetry write it: `package.Service/Method`."""
    service, _, name = method.rpartition(".")
    return f"{service}/{name}"
