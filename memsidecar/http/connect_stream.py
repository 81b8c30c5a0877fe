"""Streams of responses in the Connect protocol: each message of a body is in an envelope, and so is the end."""

import asyncio
import struct
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from typing import Any

import grpc

from memsidecar.api.interceptors.call import ReadRequest, StreamHandler
from memsidecar.api.status import CallAborted
from memsidecar.domain.errors import InvalidField, TooLarge
from memsidecar.http.call_context import CallContext
from memsidecar.http.connect_call import (
    Rpc,
    cancelled_by_disconnect,
    check_version,
    encoded_headers,
    media_type,
    run_in_time,
    timeout_seconds,
)
from memsidecar.http.connect_codec import GZIP, MIN_COMPRESSED_BYTES, accepts_gzip, check_encoding, json_bytes
from memsidecar.http.connect_errors import error_object
from memsidecar.http.connect_unary import unsupported_media_type
from memsidecar.http.exchange import RESPONSE_SECONDS, TEXT, ClientDisconnected, Exchange, HttpResponse
from memsidecar.http.json_decoder import REQUEST

CODECS = {"application/connect+json": "json", "application/connect+proto": "proto"}
_PREFIX = struct.Struct(">BI")
_COMPRESSED = 1
_END = 2


async def serve_stream(rpc: Rpc, exchange: Exchange) -> None:
    """Answer one call with a stream of responses."""
    media = media_type(exchange)
    if exchange.method != "POST":
        await exchange.respond(HttpResponse(405, TEXT, b"RPCs are called with POST\n", (("allow", "POST"),)))
    elif media.name not in CODECS or not media.is_utf_8:
        await exchange.respond(unsupported_media_type(*CODECS))
    else:
        await _ResponseStream(rpc, exchange, media.name).serve()


class _ResponseStream:
    """The call and its responses."""

    def __init__(self, rpc: Rpc, exchange: Exchange, content_type: str) -> None:
        self._rpc = rpc
        self._exchange = exchange
        self._content_type = content_type
        self._codec = CODECS[content_type]
        self._gzips = accepts_gzip(exchange.header("connect-accept-encoding"))
        self._context: CallContext | None = None
        self._is_started = False

    async def serve(self) -> None:
        end: dict[str, Any] = {}
        try:
            await self._run()
        except CallAborted as aborted:
            end["error"] = error_object(aborted.status)
        finally:
            if self._context is not None:
                self._context.finish()
        if self._context is not None and (trailers := _metadata(encoded_headers(self._context.trailers))):
            end["metadata"] = trailers
        try:
            async with asyncio.timeout(RESPONSE_SECONDS):
                await self._write(_END, json_bytes(end))
                await self._exchange.end()
        except TimeoutError:
            self._exchange.transport.abort()

    async def _run(self) -> None:
        check_version(self._exchange)
        context = self._context = StreamContext(self._exchange, timeout_seconds(self._exchange), self)
        encoding = check_encoding(self._exchange.header("connect-content-encoding"))
        with cancelled_by_disconnect(self._exchange) as begin_watching:

            async def call() -> None:
                received = await self._rpc.receiver.begin(lambda: self._read_request(encoding))

                async def read() -> bytes:
                    data = await received()
                    begin_watching()
                    return await self._rpc.codecs.decode_request(self._rpc.method, self._codec, data)

                await self._rpc.handler(read, context)

            await run_in_time(call(), context)

    async def _read_request(self, encoding: str) -> bytes:
        flags, data = await self._read_envelope()
        if flags & ~_COMPRESSED:
            raise InvalidField(REQUEST, f"has an envelope with the unknown flags {flags}")
        if not flags:
            return data
        if encoding != GZIP:
            raise CallAborted.with_code(grpc.StatusCode.INTERNAL, "the request is compressed, and names no encoding")
        return await self._rpc.codecs.decompress(encoding, data)

    async def _read_envelope(self) -> tuple[int, bytes]:
        max_bytes = self._rpc.codecs.limits.max_request_bytes
        body = bytearray()
        async for chunk in self._exchange.chunks():
            body += chunk
            if len(body) >= _PREFIX.size and (length := _PREFIX.unpack_from(body)[1]) > max_bytes:
                raise TooLarge(f"the request has {length} bytes; {max_bytes} are allowed")
            if len(body) > max_bytes + _PREFIX.size:
                break
        if not body:
            raise CallAborted.with_code(grpc.StatusCode.UNIMPLEMENTED, "the request is missing: expected one message")
        flags, length = _PREFIX.unpack_from(body) if len(body) >= _PREFIX.size else (0, len(body))
        if len(body) < _PREFIX.size + length:
            raise InvalidField(REQUEST, "ends within its envelope")
        if len(body) > _PREFIX.size + length:
            raise CallAborted.with_code(grpc.StatusCode.UNIMPLEMENTED, "expected one message, and got more")
        return flags, bytes(body[_PREFIX.size :])

    async def send(self, response: bytes) -> None:
        """Send a response. Waits until the connection has taken the one before."""
        body = await self._rpc.codecs.encode_response(self._rpc.method, self._codec, response)
        if self._gzips and len(body) >= MIN_COMPRESSED_BYTES:
            await self._write(_COMPRESSED, await self._rpc.codecs.compress(body))
        else:
            await self._write(0, body)

    async def _write(self, flags: int, data: bytes) -> None:
        if not self._is_started:
            self._is_started = True
            headers = [("content-type", self._content_type)]
            if self._gzips:
                headers.append(("connect-content-encoding", GZIP))
            own = encoded_headers(self._context.headers) if self._context is not None else []
            await self._exchange.start(200, headers + own)
        try:
            async with asyncio.timeout(RESPONSE_SECONDS):
                await self._exchange.write(_PREFIX.pack(flags, len(data)) + data)
        except TimeoutError:
            self._exchange.transport.abort()
            raise ClientDisconnected() from None


class StreamContext(CallContext):
    """The context of a call whose handler writes its responses itself."""

    def __init__(self, exchange: Exchange, timeout: float | None, stream: _ResponseStream) -> None:
        super().__init__(exchange, timeout)
        self._stream = stream

    async def write(self, response: bytes) -> None:
        await self._stream.send(response)


def writing(handler: StreamHandler) -> Any:
    """Return a handler that writes the responses of another one, which yields them."""

    async def write_all(read: ReadRequest, context: Any) -> None:
        async def requests() -> AsyncIterator[bytes]:
            yield await read()

        responses: Any = handler(requests(), context)
        async with aclosing(responses):
            async for response in responses:
                await context.write(response)

    return write_all


def _metadata(headers: Sequence[tuple[str, str]]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, value in headers:
        found.setdefault(name, []).append(value)
    return found
