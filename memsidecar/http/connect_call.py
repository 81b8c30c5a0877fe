"""One call in the Connect protocol: what its headers say, its deadline, and its end when the client disconnects."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from email.message import Message as HeaderFields
from typing import Any, NamedTuple, TypeVar

import grpc
from google.protobuf.descriptor import MethodDescriptor

from memsidecar.api.status import CallAborted, rich_status
from memsidecar.domain.errors import DeadlineExceeded
from memsidecar.http.call_context import CallContext, Metadata
from memsidecar.http.connect_codec import Codecs
from memsidecar.http.exchange import Exchange
from memsidecar.http.request_body import RequestReceiver

TIMEOUT_HEADER = "connect-timeout-ms"
RPC_SYSTEM = "connectrpc"
"Name of the protocol in OpenTelemetry."
_TIMEOUT = re.compile(r"\d{1,10}", re.ASCII)
_VERSION = "1"
_UTF_8 = {"", "utf-8", "utf8"}

T = TypeVar("T")


class MediaType(NamedTuple):
    """A content type without its parameters, and whether its charset is UTF-8."""

    name: str
    is_utf_8: bool


@dataclass(frozen=True)
class Rpc:
    """A method that is served, and the wrapped handler behind it."""

    method: MethodDescriptor
    handler: Any
    codecs: Codecs
    receiver: RequestReceiver


def media_type(exchange: Exchange) -> MediaType:
    fields = HeaderFields()
    fields["content-type"] = exchange.header("content-type")
    name = exchange.header("content-type").partition(";")[0].strip().lower()
    return MediaType(name, str(fields.get_param("charset", "")).lower() in _UTF_8)


def timeout_seconds(exchange: Exchange) -> float | None:
    given = exchange.header(TIMEOUT_HEADER)
    if not given:
        return None
    if not _TIMEOUT.fullmatch(given):
        raise invalid(f"{TIMEOUT_HEADER} must be a number of milliseconds of at most 10 digits")
    return int(given) / 1000


def check_version(exchange: Exchange) -> None:
    version = exchange.header("connect-protocol-version", _VERSION)
    if version != _VERSION:
        raise invalid(f"connect-protocol-version must be {_VERSION}")


def invalid(message: str) -> CallAborted:
    return CallAborted.with_code(grpc.StatusCode.INVALID_ARGUMENT, message)


async def run_in_time(work: Awaitable[T], context: CallContext) -> T:
    """Wait for the handler, at most until the client's deadline."""
    remaining = context.time_remaining()
    try:
        async with asyncio.timeout(remaining):
            return await work
    except TimeoutError:
        raise CallAborted(rich_status(DeadlineExceeded())) from None


@contextmanager
def cancelled_by_disconnect(exchange: Exchange) -> Iterator[Callable[[], None]]:
    """Cancel the block when the client disconnects. Yields a function to call when the request has been read."""
    task = asyncio.current_task()
    assert task is not None
    watchers: list[asyncio.Task[None]] = []
    try:
        yield lambda: watchers.append(asyncio.ensure_future(_cancel_after(exchange, task)))
    finally:
        for watcher in watchers:
            watcher.cancel()


async def _cancel_after(exchange: Exchange, task: asyncio.Task[Any]) -> None:
    await exchange.disconnected()
    task.cancel()


def encoded_headers(metadata: Metadata, prefix: str = "") -> list[tuple[str, str]]:
    """Return metadata as headers. Values that are no text are left out."""
    return [(f"{prefix}{name}", value) for name, value in metadata if isinstance(value, str)]
