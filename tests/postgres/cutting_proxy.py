"""A TCP proxy in front of PostgreSQL that loses a connection at a chosen moment of a transaction."""

import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from enum import Enum
from types import TracebackType
from typing import Self

CHUNK_BYTES = 1 << 16
COMMITTED = b"C\x00\x00\x00\x0bCOMMIT\x00"
"The server's answer to COMMIT: the message CommandComplete."


class Cut(Enum):
    """When the connection is lost. After the cut all later connections work."""

    NONE = "none"
    BEFORE_REQUEST = "before the request"
    BEFORE_ANSWER = "between COMMIT and its answer"
    BEFORE_ANSWER_TO_MARK = "between the request with the mark and its answer"


class CuttingProxy:
    """Listens on loopback while it is open. `cut` is what happens to the next transaction, or to the request with
    `mark`; `marked_requests` counts these. `disconnect` loses the clients only: the server does not notice before it
    answers.
    """

    def __init__(self, server_port: int) -> None:
        self._server_port = server_port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listener.getsockname()[1])
        self.cut = Cut.NONE
        self.mark = b""
        self.cuts = 0
        self.marked_requests = 0
        self._marked = False
        self._clients: list[socket.socket] = []
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, _: type[BaseException] | None, __: BaseException | None, ___: TracebackType | None) -> None:
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return  # closed
            self._clients.append(client)
            server = socket.create_connection(("127.0.0.1", self._server_port))
            for source, target, loses in (
                (client, server, self._loses_request),
                (server, client, self._loses_answer),
            ):
                threading.Thread(target=_pump, args=(source, target, loses), daemon=True).start()

    def disconnect(self) -> None:
        """Lose all clients. Their requests go on at the server."""
        for client in self._clients:
            with suppress(OSError):
                client.shutdown(socket.SHUT_RDWR)
        self._clients.clear()

    def _loses_request(self, chunk: bytes) -> bool:
        is_marked = bool(self.mark) and self.mark in chunk
        self.marked_requests += is_marked
        self._marked = is_marked and self.cut is Cut.BEFORE_ANSWER_TO_MARK
        return self._cuts_now(Cut.BEFORE_REQUEST)

    def _loses_answer(self, chunk: bytes) -> bool:
        if self._marked:
            return self._cuts_now(Cut.BEFORE_ANSWER_TO_MARK)
        return COMMITTED in chunk and self._cuts_now(Cut.BEFORE_ANSWER)

    def _cuts_now(self, cut: Cut) -> bool:
        with self._lock:
            if self.cut is not cut:
                return False
            self.cut = Cut.NONE
            self.cuts += 1
            return True


def _pump(source: socket.socket, target: socket.socket, loses: Callable[[bytes], bool]) -> None:
    """Copy what comes until an end is closed or the chunk is to be lost; then close both."""
    with suppress(OSError):
        while (chunk := source.recv(CHUNK_BYTES)) and not loses(chunk):
            target.sendall(chunk)
    for end in (source, target):
        with suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)
        end.close()
