"""One HTTP/1.1 connection: uvicorn's protocol on h11, with limits on headers and idle time."""

import asyncio
import logging
import sys
from typing import Any

import h11
from uvicorn.config import Config
from uvicorn.protocols.http.h11_impl import STATUS_PHRASES, H11Protocol, RequestResponseCycle
from uvicorn.server import ServerState

from memsidecar.http.exchange import LINGER_SECONDS, MAX_HEADER_BYTES, TRANSPORT

log = logging.getLogger(__name__)

HEADER_SECONDS = 10.0
"Time in which the headers of a request must arrive after its first byte, or after the connection was opened."
KEEP_ALIVE_SECONDS = 75.0

# uvicorn logs a warning for each malformed request, which any client can cause as often as it likes.
logging.getLogger("uvicorn.error").setLevel(logging.ERROR)


class HttpConnection(H11Protocol):
    """uvicorn's protocol, which has no limit on the time that headers take, and closes before the client has read."""

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self._header_timer: asyncio.TimerHandle | None = None
        self._is_refused = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.app_state[TRANSPORT] = transport
        self._limit_header_time()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_header_timer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._is_refused:
            return
        super().data_received(data)
        cycle: RequestResponseCycle | None = self.cycle
        if cycle is None or cycle.response_complete:
            self._limit_header_time()
        else:
            self._stop_header_timer()

    def send_400_response(self, msg: str) -> None:
        """Refuse a malformed request. Called by uvicorn while it handles h11's error, which knows the status."""
        error = sys.exception()
        status = error.error_status_hint if isinstance(error, h11.RemoteProtocolError) else 400
        if self.conn.our_state in {h11.IDLE, h11.SEND_RESPONSE}:
            body = f"at most {MAX_HEADER_BYTES} bytes of headers are allowed" if status == 431 else msg
            self._send_refusal(status, body.encode("ascii"))
        # A connection that is closed with unread bytes is reset, and the client may lose the response.
        self._is_refused = True
        if self.transport.can_write_eof():
            self.transport.write_eof()
        self.loop.call_later(LINGER_SECONDS, self.transport.close)

    def _send_refusal(self, status: int, body: bytes) -> None:
        headers = [
            (b"content-type", b"text/plain; charset=utf-8"),
            (b"content-length", str(len(body)).encode()),
            (b"connection", b"close"),
        ]
        response = h11.Response(status_code=status, headers=headers, reason=STATUS_PHRASES[status])
        self.transport.write(self.conn.send(response))
        self.transport.write(self.conn.send(h11.Data(data=body)))
        self.conn.send(h11.EndOfMessage())

    def _limit_header_time(self) -> None:
        if self._header_timer is None and not self._is_idle():
            self._header_timer = self.loop.call_later(HEADER_SECONDS, self.transport.close)

    def _is_idle(self) -> bool:
        """Return whether the connection is between two requests, where the time limit of keep-alive applies."""
        return self.timeout_keep_alive_task is not None

    def _stop_header_timer(self) -> None:
        if self._header_timer is not None:
            self._header_timer.cancel()
            self._header_timer = None
