"""Unary calls of the Connect protocol: one body is the request, one the response or the error."""

from math import ceil
from typing import Any

from google.rpc import status_pb2

from memsidecar.api.status import CallAborted
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
from memsidecar.http.connect_codec import (
    GZIP,
    MIN_COMPRESSED_BYTES,
    accepts_gzip,
    check_encoding,
    json_bytes,
)
from memsidecar.http.connect_errors import error_object, http_status, retry_seconds
from memsidecar.http.exchange import JSON, TEXT, Exchange, HttpResponse
from memsidecar.http.request_body import read_body

CODECS = {JSON: "json", "application/proto": "proto"}
_TRAILER = "trailer-"


async def serve_unary(rpc: Rpc, exchange: Exchange) -> None:
    """Answer one call. The handler reads the request, after it has authenticated the caller."""
    media = media_type(exchange)
    codec = CODECS.get(media.name)
    if exchange.method != "POST":
        await exchange.respond(HttpResponse(405, TEXT, b"RPCs are called with POST\n", (("allow", "POST"),)))
    elif codec is None or not media.is_utf_8:
        await exchange.respond(unsupported_media_type(*CODECS))
    else:
        await _serve(rpc, exchange, codec, media.name)


def unsupported_media_type(*supported: str) -> HttpResponse:
    names = ", ".join(supported)
    return HttpResponse(
        415, TEXT, f"expected a content type of {names}, with the charset utf-8\n".encode(), (("accept-post", names),)
    )


async def _serve(rpc: Rpc, exchange: Exchange, codec: str, content_type: str) -> None:
    context: CallContext | None = None
    try:
        check_version(exchange)
        context = CallContext(exchange, timeout_seconds(exchange))
        encoding = check_encoding(exchange.header("content-encoding"))
        with cancelled_by_disconnect(exchange) as begin_watching:

            async def receive() -> bytes:
                return await read_body(exchange, rpc.codecs.limits.max_request_bytes)

            async def call() -> Any:
                received = await rpc.receiver.begin(receive)

                async def read() -> bytes:
                    data = await received()
                    begin_watching()
                    return await rpc.codecs.decode_request(
                        rpc.method, codec, await rpc.codecs.decompress(encoding, data)
                    )

                return await rpc.handler(read, context)

            encoded = await run_in_time(call(), context)
            body = await rpc.codecs.encode_response(rpc.method, codec, encoded)
        await _respond(rpc, exchange, HttpResponse(200, content_type, body), context)
    except CallAborted as aborted:
        await _respond(rpc, exchange, _error_response(aborted.status), context)
    finally:
        if context is not None:
            context.finish()


async def _respond(rpc: Rpc, exchange: Exchange, response: HttpResponse, context: CallContext | None) -> None:
    headers = list(response.headers)
    if context is not None:
        headers += encoded_headers(context.headers) + encoded_headers(context.trailers, _TRAILER)
    body = response.body
    if len(body) >= MIN_COMPRESSED_BYTES and accepts_gzip(exchange.header("accept-encoding")):
        body = await rpc.codecs.compress(body)
        headers.append(("content-encoding", GZIP))
    await exchange.respond(HttpResponse(response.status, response.content_type, body, tuple(headers)))


def _error_response(status: status_pb2.Status) -> HttpResponse:
    headers: list[tuple[str, str]] = []
    if (seconds := retry_seconds(status.details)) is not None:
        headers.append(("retry-after", str(ceil(seconds))))
    code = http_status(status)
    if code == 401:
        headers.append(("www-authenticate", "Bearer"))
    return HttpResponse(code, JSON, json_bytes(error_object(status)), tuple(headers))
