"""Acceptance of connections. Those whose TLS handshake is not finished count, too.

A server of asyncio makes any number of handshakes at once, and tells of a connection after its handshake.
"""

import asyncio
import logging
import socket
import ssl
from collections.abc import Callable

log = logging.getLogger(__name__)

HANDSHAKE_SECONDS = 10.0
"A connection without a handshake for so long is closed."
RETRY_SECONDS = 1.0
"Pause after a connection could not be accepted: the process has no file descriptors left."


class Acceptor:
    """Hands connections of a listening socket to the protocols that `make_protocol` returns."""

    def __init__(
        self,
        listening: socket.socket,
        tls: ssl.SSLContext | None,
        make_protocol: Callable[[], asyncio.Protocol],
        has_room: Callable[[int], bool],
    ) -> None:
        """`has_room` returns whether one more connection is allowed beside so many that are being opened."""
        self._socket = listening
        self._tls = tls
        self._make_protocol = make_protocol
        self._has_room = has_room
        self._opening: set[asyncio.Task[None]] = set()
        self._accepting: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._accepting = asyncio.ensure_future(self._accept_all())

    async def _accept_all(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            try:
                accepted, _ = await loop.sock_accept(self._socket)
            except ConnectionError:  # the client is gone already
                continue
            except OSError as error:
                log.warning("no connection can be accepted: %s", error.strerror)
                await asyncio.sleep(RETRY_SECONDS)
                continue
            if not self._has_room(len(self._opening)):
                accepted.close()
                continue
            task = asyncio.ensure_future(self._open(accepted))
            self._opening.add(task)
            task.add_done_callback(self._opening.discard)

    async def _open(self, accepted: socket.socket) -> None:
        timeout = HANDSHAKE_SECONDS if self._tls else None
        try:
            await asyncio.get_running_loop().connect_accepted_socket(
                self._make_protocol, accepted, ssl=self._tls, ssl_handshake_timeout=timeout
            )
        except OSError:  # TLS's own errors, a client that is gone, and a timeout
            accepted.close()

    async def stop(self) -> None:
        """Accept no more connections, and close the listening socket."""
        tasks = [task for task in (self._accepting, *self._opening) if task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._socket.close()
