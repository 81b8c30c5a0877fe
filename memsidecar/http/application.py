"""The ASGI application: pages that are read with GET, and the RPCs."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from memsidecar.http.browser_guard import BrowserGuard
from memsidecar.http.connection import MAX_HEADER_BYTES
from memsidecar.http.exchange import JSON, TEXT, ClientDisconnected, Exchange, HttpResponse

Page = Callable[[], HttpResponse]
"Returns the content of a path that is read with GET, without credentials."


class Application:
    """Routes requests by their path."""

    def __init__(self, pages: Mapping[str, Page], guard: BrowserGuard) -> None:
        self._pages = pages
        self._guard = guard

    async def __call__(self, scope: Mapping[str, Any], receive: Any, send: Any) -> None:
        exchange = Exchange(scope, receive, send)
        try:
            if exchange.header_bytes > MAX_HEADER_BYTES:
                await exchange.respond(_text(431, f"at most {MAX_HEADER_BYTES} bytes of headers are allowed"))
            elif problem := self._guard.problem(exchange):
                await exchange.respond(_text(403, problem))
            elif exchange.path in self._pages:
                await self._show(self._pages[exchange.path], exchange)
            else:
                await exchange.respond(_text(404, "there is nothing at this path"))
        except ClientDisconnected:
            pass  # no one is left to respond to

    async def _show(self, page: Page, exchange: Exchange) -> None:
        if exchange.method not in {"GET", "HEAD"}:
            await exchange.respond(_text(405, "this path is read with GET", ("allow", "GET, HEAD")))
            return
        await exchange.respond(page())


def health_pages(is_draining: Callable[[], bool]) -> dict[str, Page]:
    """Return the pages of liveness and readiness probes."""

    def live() -> HttpResponse:
        return _status(200, "SERVING")

    def ready() -> HttpResponse:
        return _status(503, "NOT_SERVING") if is_draining() else _status(200, "SERVING")

    return {"/healthz": live, "/readyz": ready}


def _status(code: int, status: str) -> HttpResponse:
    return HttpResponse(code, JSON, json.dumps({"status": status}).encode())


def _text(status: int, message: str, *headers: tuple[str, str]) -> HttpResponse:
    return HttpResponse(status, TEXT, f"{message}\n".encode(), headers)
