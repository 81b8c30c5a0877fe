"""Types of a call inside the server, its tenant and its caller's rights, and reading its request.

An interceptor receives a method's name and the handler behind it once, when the server is composed, and returns the
handler to use instead. Nothing is looked up or wrapped while calls come in.
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextvars import ContextVar
from typing import Any, TypeVar

import grpc.aio
from google.protobuf.message import DecodeError, Message

from memsidecar.domain.errors import InvalidField
from memsidecar.domain.session import DEFAULT_NAMESPACE

Context = grpc.aio.ServicerContext[bytes, bytes]
ReadRequest = Callable[[], Awaitable[bytes]]
Request = bytes | ReadRequest
"""The bytes of a request, or the function that reads them.

A restricted server gets the function: a call that is rejected before its request is read occupies no memory.
"""
UnaryHandler = Callable[[Request, Context], Awaitable[bytes]]
StreamHandler = Callable[[AsyncIterator[bytes], Context], AsyncIterator[bytes]]

current_tenant: ContextVar[str] = ContextVar("namespace of the call", default="")
caller_is_admin: ContextVar[bool] = ContextVar("whether the caller has the role admin", default=False)

M = TypeVar("M", bound=Message)

_NAMESPACE_TAG = b"\x0a"  # field 1, length-delimited
_MAX_VARINT_END = 6


async def read_single_request(context: Context) -> bytes:
    """Read the request of a unary call that gRPC handles as a stream."""
    data: Any = await context.read()
    if data is grpc.aio.EOF:
        raise InvalidField("request", "is missing: the call ended without one")
    return bytes(data)


def leading_namespace(data: bytes) -> str:
    """Return the namespace at the start of an encoded request, where every encoder writes field 1.

    A guess that costs no decoding. The decoded request decides which namespace a call belongs to.
    """
    if data[:1] != _NAMESPACE_TAG:
        return DEFAULT_NAMESPACE
    length, shift, at = 0, 0, 1
    while at < min(len(data), _MAX_VARINT_END):
        length |= (data[at] & 0x7F) << shift
        shift, at = shift + 7, at + 1
        if data[at - 1] < 0x80:
            break
    return data[at : at + length].decode("utf-8", "replace") or DEFAULT_NAMESPACE


def decode(message_class: type[M], data: bytes) -> M:
    try:
        return message_class.FromString(data)
    except DecodeError:
        raise InvalidField("request", f"is not a valid encoding of {message_class.DESCRIPTOR.full_name}") from None
