"""Service descriptor -> generic gRPC handlers, interceptor chain."""

import re
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import grpc
from google.protobuf.descriptor import MethodDescriptor, ServiceDescriptor
from google.protobuf.message import Message

from memsidecar.api.admission.admission import Admission
from memsidecar.api.interceptors import Context, StreamHandler, UnaryHandler, errors
from memsidecar.api.interceptors.concurrency import InFlightLimits
from memsidecar.api.interceptors.deadlines import Deadlines
from memsidecar.api.interceptors.request_log import RequestLog
from memsidecar.api.wire import only_request
from memsidecar.domain.errors import Unimplemented


class Service(Protocol):
    """What answers the RPCs of a service: a method for each that is built, named in snake case."""

    descriptor: ClassVar[ServiceDescriptor]


@dataclass(frozen=True)
class HandlerFactory:
    """Puts the interceptors and the gate around each method, once."""

    request_log: RequestLog
    limits: InFlightLimits
    deadlines: Deadlines
    gate: Admission

    def handler(self, service: Service) -> grpc.GenericRpcHandler:
        handlers = {method.name: self._method(method, service) for method in service.descriptor.methods}
        return grpc.method_handlers_generic_handler(service.descriptor.full_name, handlers)

    def _method(self, method: MethodDescriptor, service: Service) -> Any:
        answer = getattr(service, _snake_case(method.name), None)
        if not method.client_streaming and not method.server_streaming:
            unary = self._unary(method.full_name, self.gate.unary(method, answer or _no_answer(method)))
            return grpc.unary_unary_rpc_method_handler(unary) if self.gate.is_unrestricted else _read_when_asked(unary)
        serve = self._stream(method.full_name, self.gate.stream(method, answer or _no_stream(method)))
        return grpc.stream_stream_rpc_method_handler(serve if method.client_streaming else _of_one_request(serve))

    def _unary(self, name: str, serve: UnaryHandler) -> UnaryHandler:
        inner = self.limits.unary(name, self.deadlines.unary(name, serve))
        return errors.unary(name, self.request_log.unary(name, inner))

    def _stream(self, name: str, serve: StreamHandler) -> StreamHandler:
        return errors.stream(name, self.request_log.stream(name, self.limits.stream(name, serve)))


def _read_when_asked(serve: UnaryHandler) -> Any:
    """To gRPC a stream, if of one: a plain request it reads before it asks anybody. It costs every call some time."""

    async def of_one(_requests: AsyncIterator[bytes], context: Context) -> bytes:
        return await serve(lambda: only_request(context), context)

    return grpc.stream_unary_rpc_method_handler(of_one)


def _of_one_request(serve: StreamHandler) -> Any:
    async def alone(context: Context) -> AsyncIterator[bytes]:
        yield await only_request(context)

    # gRPC looks whether it is a generator itself.
    async def of_one(_requests: AsyncIterator[bytes], context: Context) -> AsyncIterator[bytes]:
        async for response in serve(alone(context), context):
            yield response

    return of_one


def _no_answer(method: MethodDescriptor) -> Callable[[Message], Awaitable[Message]]:
    """What answers an RPC that the contract has and this version has not."""

    async def refuse(_request: Message) -> Message:
        raise Unimplemented(method.name)

    return refuse


def _no_stream(method: MethodDescriptor) -> Callable[[AsyncIterator[Message]], AsyncIterator[Message]]:
    async def refuse(requests: AsyncIterator[Message]) -> AsyncIterator[Message]:
        async for request in requests:
            yield await _no_answer(method)(request)
        raise Unimplemented(method.name)

    return refuse


def _snake_case(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()
