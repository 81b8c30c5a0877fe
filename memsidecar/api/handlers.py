"""Handlers of a service, made from its descriptor and its table of RPC handlers: for gRPC, and for other transports."""

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

import grpc
from google.protobuf.descriptor import MethodDescriptor, ServiceDescriptor

from memsidecar.api.admission.admission import Admission
from memsidecar.api.interceptors import errors
from memsidecar.api.interceptors.call import Context, StreamHandler, UnaryHandler, read_single_request
from memsidecar.api.interceptors.call_spans import CallSpans
from memsidecar.api.interceptors.call_statistics import CallStatistics
from memsidecar.api.interceptors.concurrency import InFlightLimits
from memsidecar.api.interceptors.deadlines import Deadlines
from memsidecar.api.interceptors.request_log import RequestLog

Handler = Callable[[Any], Any]
"""Takes a decoded request and returns an awaitable of a response, encoded or not.

For a streaming RPC: takes an async iterator of requests and returns an async iterator of responses.
"""


@dataclass(frozen=True)
class WatchHandler:
    """Handles a stream of events: takes one decoded request and returns an async generator of encoded responses.

    If the client does not take a response in time, SlowReader is thrown into the generator.
    """

    events: Callable[[Any], AsyncGenerator[bytes, None]]


class Service(Protocol):
    """A service of the proto."""

    descriptor: ClassVar[ServiceDescriptor]

    def rpcs(self) -> Mapping[str, Handler | WatchHandler]:
        """Return the handler of each RPC by its name in the proto."""


@dataclass(frozen=True)
class HandlerFactory:
    """Wraps each handler with the interceptors and the admission chain, once."""

    request_log: RequestLog
    limits: InFlightLimits
    deadlines: Deadlines
    admission: Admission
    spans: CallSpans = field(default_factory=CallSpans)
    statistics: CallStatistics = field(default_factory=lambda: CallStatistics(is_enabled=False))

    def generic_handler(self, service: Service) -> grpc.GenericRpcHandler:
        rpcs = complete_table(service)
        handlers = {method.name: self._method(method, rpcs[method.name]) for method in service.descriptor.methods}
        return grpc.method_handlers_generic_handler(service.descriptor.full_name, handlers)

    def _method(self, method: MethodDescriptor, handler: Handler | WatchHandler) -> Any:
        if isinstance(handler, WatchHandler):
            return self._watch(method, handler)
        if not method.client_streaming and not method.server_streaming:
            unary = self.unary(method, handler)
            if self.admission.is_unrestricted:
                return grpc.unary_unary_rpc_method_handler(unary)
            return _reading_late(unary)
        stream = self.stream(method, handler)
        return grpc.stream_stream_rpc_method_handler(stream if method.client_streaming else _single_request(stream))

    def _watch(self, method: MethodDescriptor, handler: WatchHandler) -> Any:
        intercepted = self.watch(method, handler)

        async def watch(_requests: AsyncIterator[bytes], context: Context) -> None:
            await intercepted(lambda: read_single_request(context), context)

        return grpc.stream_stream_rpc_method_handler(watch)

    def unary(self, method: MethodDescriptor, handler: Handler) -> UnaryHandler:
        name = method.full_name
        inner = self.limits.unary(name, self.deadlines.unary(name, self.admission.unary(method, handler)))
        return self._outermost(name, inner)

    def stream(self, method: MethodDescriptor, handler: Handler) -> StreamHandler:
        name = method.full_name
        inner = self.limits.stream(name, self.admission.stream(method, handler))
        counted = self.statistics.stream(name, self.request_log.stream(name, inner))
        return errors.stream(name, self.spans.stream(name, counted))

    def watch(self, method: MethodDescriptor, handler: WatchHandler) -> UnaryHandler:
        """Return a handler that writes its responses itself: it must learn when one is not taken."""
        name = method.full_name
        inner = self.limits.watch(name, self.admission.watch(method, handler.events))
        return self._outermost(name, inner)

    def _outermost(self, name: str, inner: UnaryHandler) -> UnaryHandler:
        counted = self.statistics.unary(name, self.request_log.unary(name, inner))
        return errors.unary(name, self.spans.unary(name, counted))


def complete_table(service: Service) -> dict[str, Handler | WatchHandler]:
    """Return the handlers of all RPCs of the descriptor. A missing or misspelt one is a programming error."""
    table = dict(service.rpcs())
    if table.keys() != set(service.descriptor.methods_by_name):
        raise ValueError(f"the RPC table of {service.descriptor.full_name} does not match its descriptor")
    return table


def _reading_late(handler: UnaryHandler) -> Any:
    """Register a unary handler as a stream, so that its request is read after authentication.

    gRPC reads the request of a plain unary call before it calls the handler. The detour costs every call some time.
    """

    async def unary(_requests: AsyncIterator[bytes], context: Context) -> bytes:
        return await handler(lambda: read_single_request(context), context)

    return grpc.stream_unary_rpc_method_handler(unary)


def _single_request(handler: StreamHandler) -> Any:
    async def requests_of(context: Context) -> AsyncIterator[bytes]:
        yield await read_single_request(context)

    # gRPC checks whether the function itself is a generator.
    async def stream(_requests: AsyncIterator[bytes], context: Context) -> AsyncIterator[bytes]:
        async for response in handler(requests_of(context), context):
            yield response

    return stream
