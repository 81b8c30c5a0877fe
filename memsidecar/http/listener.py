"""The HTTP listener: its socket, its start and its stop."""

import asyncio
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from uvicorn.config import Config
from uvicorn.server import ServerState

from memsidecar.api.server import claim_socket
from memsidecar.domain.errors import StartRefused
from memsidecar.domain.network_address import Address
from memsidecar.http.acceptor import Acceptor
from memsidecar.http.application import Application
from memsidecar.http.connection import KEEP_ALIVE_SECONDS, HttpConnection
from memsidecar.http.exchange import IS_DRAINING, MAX_HEADER_BYTES
from memsidecar.http.tls_context import TlsContext

BACKLOG = 512
MAX_CONNECTIONS = 1_024
SEND_BUFFER_BYTES = 256 * 1024
"Of a connection, in the kernel. By default, it grows to megabytes for a client that does not read."
LAST_RESPONSES_SECONDS = 1.0
"Time after draining in which responses are sent. Then the connections are closed."
POLL_SECONDS = 0.01


@contextmanager
def bound_socket(address: Address) -> Iterator[socket.socket]:
    """Bind a socket while the block runs. Connections wait in its queue until a listener accepts them."""
    with _bind(address) as bound:
        try:
            yield bound
        finally:
            if address.unix_path is not None:
                Path(address.unix_path).unlink(missing_ok=True)


def _bind(address: Address) -> socket.socket:
    bound = socket.socket(_family(address), socket.SOCK_STREAM)
    try:
        with claim_socket(address):
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if bound.family == socket.AF_INET6:
                bound.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
            # Connections inherit it.
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER_BYTES)
            bound.bind(address.unix_path or (address.host, address.port))
            bound.listen(BACKLOG)
    except OSError as error:
        bound.close()
        raise StartRefused(
            f"cannot listen on {address} (http_listen): {error.strerror}; choose another address, or an empty one for "
            "no HTTP"
        ) from error
    except StartRefused:
        bound.close()
        raise
    bound.setblocking(False)
    return bound


def _family(address: Address) -> socket.AddressFamily:
    if address.unix_path is not None:
        return socket.AF_UNIX
    return socket.AF_INET6 if ":" in address.host else socket.AF_INET


class HttpListener:
    """Serves an application on a bound socket."""

    def __init__(
        self,
        application: Application,
        bound: socket.socket,
        address: Address,
        tls: TlsContext | None = None,
        is_draining: Callable[[], bool] = lambda: False,
    ) -> None:
        """`is_draining` returns whether connections end with their next responses."""
        self._config = Config(
            application,
            http=HttpConnection,
            ws="none",
            lifespan="off",
            interface="asgi3",
            log_config=None,
            access_log=False,
            server_header=False,
            date_header=False,
            proxy_headers=False,
            timeout_keep_alive=int(KEEP_ALIVE_SECONDS),
            h11_max_incomplete_event_size=MAX_HEADER_BYTES,
            reset_contextvars=True,
        )
        self._config.load()
        self._is_draining = is_draining
        self._state = ServerState()
        self._acceptor = Acceptor(bound, tls.listening() if tls else None, self._connection, self._has_room)
        self.address = address if address.unix_path else address.with_port(bound.getsockname()[1])

    def start(self) -> None:
        self._acceptor.start()

    def _connection(self) -> asyncio.Protocol:
        return HttpConnection(self._config, self._state, {IS_DRAINING: self._is_draining})

    def _has_room(self, opening: int) -> bool:
        return len(self._state.connections) + opening < MAX_CONNECTIONS

    async def stop(self) -> None:
        """Close the listener, let responses be sent, and close the connections."""
        await self._acceptor.stop()
        for connection in list(self._state.connections):
            connection.shutdown()
        with suppress(TimeoutError):
            async with asyncio.timeout(LAST_RESPONSES_SECONDS):
                while self._state.tasks:
                    await asyncio.sleep(POLL_SECONDS)
        for task in list(self._state.tasks):
            task.cancel()
        for connection in list(self._state.connections):
            transport: Any = connection.transport
            transport.abort()
