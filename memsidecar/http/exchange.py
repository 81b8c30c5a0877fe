"""One HTTP request and its response, as ASGI hands them over."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

MAX_HEADER_BYTES = 16 * 1024
"Request line and headers. A little more is noticed only by the application, if it arrives at once."
LINGER_SECONDS = 2.0
"Time in which a client may go on sending after its request was refused. Then the connection is closed."
TRANSPORT = "transport"
"Key of the connection's transport in the state of an ASGI scope."
IS_DRAINING = "is_draining"
"Key of a function there, which returns whether the listener ends."
RESPONSE_SECONDS = 60.0
"Time in which a client must take a response. Then its connection is closed."
TEXT = "text/plain; charset=utf-8"
JSON = "application/json"

Headers = Iterable[tuple[str, str]]


class HttpResponse(NamedTuple):
    """A complete response."""

    status: int
    content_type: str
    body: bytes
    headers: tuple[tuple[str, str], ...] = ()


class ClientDisconnected(asyncio.CancelledError):
    """The client has closed its connection. As over gRPC, the handler sees this as a cancellation."""


class Exchange:
    """A request, whose body is read on demand, and the response to it."""

    def __init__(self, scope: Mapping[str, Any], receive: Any, send: Any) -> None:
        self._receive = receive
        self._send = send
        self._is_read = False
        self._headers: dict[str, str] = {}
        self.raw_headers: list[tuple[str, str]] = [
            (name.decode("ascii"), value.decode("latin-1")) for name, value in scope["headers"]
        ]
        for name, value in self.raw_headers:
            self._headers[name] = f"{self._headers[name]}, {value}" if name in self._headers else value
        self.header_bytes = sum(len(name) + len(value) for name, value in scope["headers"])
        self.method: str = scope["method"]
        self.path: str = scope["path"]
        self.query: bytes = scope["query_string"]
        self.is_tls = scope["scheme"] == "https"
        self.client: tuple[str, int] | None = scope["client"]
        self.transport: asyncio.Transport = scope["state"][TRANSPORT]
        self._is_draining: Callable[[], bool] = scope["state"][IS_DRAINING]

    def header(self, name: str, default: str = "") -> str:
        """Return the values of a header, joined by commas."""
        return self._headers.get(name, default)

    async def chunks(self) -> AsyncIterator[bytes]:
        """Return the body as it arrives. Raises ClientDisconnected if it ends early."""
        while not self._is_read:
            event = await self._receive()
            if event["type"] == "http.disconnect":
                raise ClientDisconnected()
            self._is_read = not event["more_body"]
            yield event["body"]

    async def disconnected(self) -> None:
        """Wait until the client closes the connection. To be called when the body has been read."""
        while (await self._receive())["type"] != "http.disconnect":
            pass

    async def respond(self, response: HttpResponse) -> None:
        length = ("content-length", str(len(response.body)))
        await self.start(response.status, (("content-type", response.content_type), length, *response.headers))
        try:
            async with asyncio.timeout(RESPONSE_SECONDS):
                await self.write(response.body)
                if not self._is_read:
                    await self._discard()
                await self.end()
        except TimeoutError:
            self.transport.abort()

    async def _discard(self) -> None:
        """Receive the rest of the request. A connection that is closed with unread bytes loses the response."""
        if self.header("expect"):
            return  # the client has not begun to send it
        with suppress(TimeoutError, ClientDisconnected):
            async with asyncio.timeout(LINGER_SECONDS):
                async for _ in self.chunks():
                    pass

    async def start(self, status: int, headers: Headers) -> None:
        # Only a response that says so is meant for a cache, and a browser must not guess its type.
        fixed = {"cache-control": "no-store", "x-content-type-options": "nosniff"}
        given = (*headers, ("connection", "close")) if self._is_draining() else tuple(headers)
        missing = fixed.items() - {(name, fixed.get(name)) for name, _ in given}
        encoded = [(name.encode("ascii"), value.encode("latin-1")) for name, value in (*given, *sorted(missing))]
        await self._send({"type": "http.response.start", "status": status, "headers": encoded})

    async def write(self, data: bytes) -> None:
        """Write a part of the body. The next write, and the end, wait until the connection has taken it."""
        await self._send({"type": "http.response.body", "body": data, "more_body": True})

    async def end(self) -> None:
        await self._send({"type": "http.response.body", "body": b"", "more_body": False})
