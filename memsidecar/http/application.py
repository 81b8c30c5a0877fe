"""The ASGI application: pages that are read with GET, and the RPCs."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import grpc
from google.rpc import status_pb2

from memsidecar.http.browser_guard import BrowserGuard
from memsidecar.http.connect_call import Rpc
from memsidecar.http.connect_codec import json_bytes
from memsidecar.http.connect_errors import error_object
from memsidecar.http.connect_stream import serve_stream
from memsidecar.http.connect_unary import serve_unary
from memsidecar.http.exchange import JSON, MAX_HEADER_BYTES, TEXT, Exchange, HttpResponse

Page = Callable[[Exchange], Awaitable[HttpResponse]]
"Returns the content of a path that is read with GET, without credentials. It does not read the body of the request."


class Application:
    """Routes requests by their path."""

    def __init__(self, rpcs: Mapping[str, Rpc], pages: Mapping[str, Page], guard: BrowserGuard) -> None:
        self._rpcs = rpcs
        self._pages = pages
        self._guard = guard

    async def __call__(self, scope: Mapping[str, Any], receive: Any, send: Any) -> None:
        exchange = Exchange(scope, receive, send)
        try:
            if exchange.header_bytes > MAX_HEADER_BYTES:
                await exchange.respond(_text(431, f"at most {MAX_HEADER_BYTES} bytes of headers are allowed"))
            elif problem := self._guard.problem(exchange):
                await exchange.respond(_text(403, problem))
            elif (rpc := self._rpcs.get(exchange.path)) is not None:
                await (serve_stream if rpc.method.server_streaming else serve_unary)(rpc, exchange)
            elif exchange.path in self._pages:
                await self._show(self._pages[exchange.path], exchange)
            else:
                await exchange.respond(_not_found())
        except asyncio.CancelledError:
            # The client has disconnected, or the listener stops.
            exchange.transport.abort()

    async def _show(self, page: Page, exchange: Exchange) -> None:
        if exchange.method not in {"GET", "HEAD"}:
            await exchange.respond(_text(405, "this path is read with GET", ("allow", "GET, HEAD")))
            return
        response = await page(exchange)
        tag = dict(response.headers).get("etag")
        if tag is not None and tag in exchange.header("if-none-match").replace(" ", "").split(","):
            response = HttpResponse(304, response.content_type, b"", response.headers)
        await exchange.respond(response)


def health_pages(is_draining: Callable[[], bool]) -> dict[str, Page]:
    """Return the pages of liveness and readiness probes."""

    async def live(_exchange: Exchange) -> HttpResponse:
        return _status(200, "SERVING")

    async def ready(_exchange: Exchange) -> HttpResponse:
        return _status(503, "NOT_SERVING") if is_draining() else _status(200, "SERVING")

    return {"/healthz": live, "/readyz": ready}


def _not_found() -> HttpResponse:
    status = status_pb2.Status(
        code=grpc.StatusCode.UNIMPLEMENTED.value[0],
        message="there is nothing at this path; RPCs with a stream of requests are served over gRPC only",
    )
    return HttpResponse(404, JSON, json_bytes(error_object(status)))


def _status(code: int, status: str) -> HttpResponse:
    return HttpResponse(code, JSON, json_bytes({"status": status}))


def _text(status: int, message: str, *headers: tuple[str, str]) -> HttpResponse:
    return HttpResponse(status, TEXT, f"{message}\n".encode(), headers)
