"""From a service's methods to what gRPC calls: every RPC of the contract is there, built or not."""

import re
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import grpc
from google.protobuf.descriptor import MethodDescriptor, ServiceDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from memsidecar.api.interceptors import Context, Stream, Unary, errors
from memsidecar.api.interceptors.deadlines import Deadlines
from memsidecar.api.interceptors.limits import Limits
from memsidecar.api.interceptors.request_log import RequestLog
from memsidecar.api.wire import decode
from memsidecar.domain.errors import NotBuilt


class Service(Protocol):
    """What answers the RPCs of a service: a method for each that is built, named in snake case."""

    descriptor: ClassVar[ServiceDescriptor]


@dataclass(frozen=True)
class Methods:
    """Puts the interceptors around each method, once."""

    request_log: RequestLog
    limits: Limits
    deadlines: Deadlines

    def handler(self, service: Service) -> grpc.GenericRpcHandler:
        handlers = {method.name: self._method(method, service) for method in service.descriptor.methods}
        return grpc.method_handlers_generic_handler(service.descriptor.full_name, handlers)

    def _method(self, method: MethodDescriptor, service: Service) -> Any:
        answer = getattr(service, _snake_case(method.name), None)
        kind = _KINDS[bool(method.client_streaming), bool(method.server_streaming)]
        if method.client_streaming or method.server_streaming:
            return kind(self._stream(method.full_name, _streaming(method, answer) if answer else _no_stream(method)))
        return kind(self._unary(method.full_name, _answering(method, answer) if answer else _no_answer(method)))

    def _unary(self, name: str, serve: Unary) -> Unary:
        inner = self.limits.unary(name, self.deadlines.unary(name, serve))
        return errors.unary(name, self.request_log.unary(name, inner))

    def _stream(self, name: str, serve: Stream) -> Stream:
        return errors.stream(name, self.request_log.stream(name, self.limits.stream(name, serve)))


def _answering(method: MethodDescriptor, answer: Callable[[Any], Any]) -> Unary:
    request_class = GetMessageClass(method.input_type)

    async def serve(data: bytes, _context: Context) -> bytes:
        response = await answer(decode(request_class, data))
        return response if type(response) is bytes else response.SerializeToString()

    return serve


def _streaming(method: MethodDescriptor, answer: Callable[[Any], AsyncIterator[Message]]) -> Stream:
    request_class = GetMessageClass(method.input_type)

    async def decoded(requests: AsyncIterator[bytes]) -> AsyncIterator[Message]:
        async for data in requests:
            yield decode(request_class, data)

    async def serve(requests: AsyncIterator[bytes], _context: Context) -> AsyncIterator[bytes]:
        async for response in answer(decoded(requests)):
            yield response.SerializeToString()

    return serve


def _no_answer(method: MethodDescriptor) -> Unary:
    """What answers an RPC that the contract has and this version has not."""

    async def refuse(_data: bytes, _context: Context) -> bytes:
        raise NotBuilt(method.name)

    return refuse


def _no_stream(method: MethodDescriptor) -> Stream:
    async def refuse(_requests: AsyncIterator[bytes], _context: Context) -> AsyncIterator[bytes]:
        yield await _no_answer(method)(b"", _context)

    return refuse


_KINDS: dict[tuple[bool, bool], Callable[..., Any]] = {
    (False, False): grpc.unary_unary_rpc_method_handler,
    (False, True): grpc.unary_stream_rpc_method_handler,
    (True, True): grpc.stream_stream_rpc_method_handler,
}


def _snake_case(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()
