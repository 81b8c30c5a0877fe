"""The conformance service: handlers of the kind that the sidecar's services have."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, NoReturn

import grpc
from google.protobuf.any_pb2 import Any as PackedAny
from google.rpc import status_pb2

from memsidecar.api.status import row_of
from memsidecar.domain.errors import SidecarError
from memsidecar.http.call_context import STATUS_DETAILS
from memsidecar.http.connect_call import Rpc
from memsidecar.http.connect_codec import Codecs
from memsidecar.http.request_body import RequestReceiver
from tests.http.conformance.protos import conformance_service, message_class

Read = Callable[[], Awaitable[bytes]]
CODES = {code.value[0]: code for code in grpc.StatusCode}


def conformance_rpcs(codecs: Codecs) -> dict[str, Rpc]:
    """Return the RPCs that the listener can serve."""
    service = conformance_service()
    handlers = {"Unary": unary, "ServerStream": server_stream, "Unimplemented": unimplemented}
    receiver = RequestReceiver(None)
    return {
        f"/{service.full_name}/{name}": Rpc(service.methods_by_name[name], _handler(name, handler), codecs, receiver)
        for name, handler in handlers.items()
    }


def _handler(name: str, handler: Callable[[Any, Any], Awaitable[bytes]]) -> Any:
    request_class = message_class(f"{name}Request")

    async def decoded(read: Any, context: Any) -> bytes:
        try:
            data = await read()
        except SidecarError as error:
            # Without the details that the sidecar's interceptor adds: the suite expects none.
            await context.abort(row_of(error).code, str(error))
            raise AssertionError from error
        return await handler(request_class.FromString(data), context)

    return decoded


async def unary(request: Any, context: Any) -> bytes:
    definition = request.response_definition
    await _set_metadata(definition, context)
    await asyncio.sleep(definition.response_delay_ms / 1000)
    info = _request_info(request, context)
    if definition.HasField("error"):
        await _abort(definition.error, context, info)
    response = message_class("UnaryResponse")()
    response.payload.data = definition.response_data
    response.payload.request_info.CopyFrom(info)
    encoded: bytes = response.SerializeToString()
    return encoded


async def server_stream(request: Any, context: Any) -> bytes:
    definition = request.response_definition
    await _set_metadata(definition, context)
    info: Any = _request_info(request, context)
    for data in definition.response_data:
        await asyncio.sleep(definition.response_delay_ms / 1000)
        response = message_class("ServerStreamResponse")()
        response.payload.data = data
        if info is not None:
            response.payload.request_info.CopyFrom(info)
        info = None
        await context.write(response.SerializeToString())
    if definition.HasField("error"):
        await _abort(definition.error, context, info)
    return b""


async def unimplemented(_request: Any, context: Any) -> bytes:
    await context.abort(grpc.StatusCode.UNIMPLEMENTED, "this is not implemented")
    raise AssertionError


async def _set_metadata(definition: Any, context: Any) -> None:
    await context.send_initial_metadata(_metadata(definition.response_headers))
    context.set_trailing_metadata(_metadata(definition.response_trailers))


def _metadata(headers: Iterable[Any]) -> list[tuple[str, str]]:
    return [(header.name.lower(), value) for header in headers for value in header.value]


def _request_info(request: Any, context: Any) -> Any:
    info = message_class("ConformancePayload.RequestInfo")()
    headers: dict[str, list[str]] = {}
    for name, value in context.invocation_metadata():
        headers.setdefault(name, []).append(value)
    for name, values in headers.items():
        info.request_headers.add(name=name, value=values)
    if (remaining := context.time_remaining()) is not None:
        info.timeout_ms = round(remaining * 1000)
    info.requests.add().Pack(request)
    return info


async def _abort(error: Any, context: Any, info: Any) -> NoReturn:
    """End the call with the error. It describes the request, unless a response has."""
    details = list(error.details)
    if info is not None:
        packed = PackedAny()
        packed.Pack(info)
        details.append(packed)
    status = status_pb2.Status(code=error.code, message=error.message, details=details)
    await context.abort(CODES[error.code], error.message, [(STATUS_DETAILS, status.SerializeToString())])
    raise AssertionError
