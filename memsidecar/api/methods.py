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
        if answer is not None and method.client_streaming:
            return grpc.stream_stream_rpc_method_handler(self._stream(method, answer))
        if answer is not None:
            return grpc.unary_unary_rpc_method_handler(self._unary(method, answer))
        return _KINDS[bool(method.client_streaming), bool(method.server_streaming)](self._not_built(method))

    def _unary(self, method: MethodDescriptor, answer: Callable[[Any], Any]) -> Unary:
        request_class = GetMessageClass(method.input_type)

        async def serve(data: bytes, _context: Context) -> bytes:
            response = await answer(decode(request_class, data))
            return response if type(response) is bytes else response.SerializeToString()

        inner = self.limits.unary(method.full_name, self.deadlines.unary(method.full_name, serve))
        return errors.unary(method.full_name, self.request_log.unary(method.full_name, inner))

    def _stream(self, method: MethodDescriptor, answer: Callable[[Any], AsyncIterator[Message]]) -> Stream:
        request_class = GetMessageClass(method.input_type)

        async def decoded(requests: AsyncIterator[bytes]) -> AsyncIterator[Message]:
            async for data in requests:
                yield decode(request_class, data)

        async def serve(requests: AsyncIterator[bytes], _context: Context) -> AsyncIterator[bytes]:
            async for response in answer(decoded(requests)):
                yield response.SerializeToString()

        inner = self.limits.stream(method.full_name, serve)
        return errors.stream(method.full_name, self.request_log.stream(method.full_name, inner))

    def _not_built(self, method: MethodDescriptor) -> Callable[[Any, Context], Any]:
        async def refuse(_request: Any, context: Context) -> None:
            await errors.refuse(context, NotBuilt(method.name))

        return refuse


_KINDS: dict[tuple[bool, bool], Callable[..., Any]] = {
    (False, False): grpc.unary_unary_rpc_method_handler,
    (False, True): grpc.unary_stream_rpc_method_handler,
    (True, False): grpc.stream_unary_rpc_method_handler,
    (True, True): grpc.stream_stream_rpc_method_handler,
}


def _snake_case(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()
