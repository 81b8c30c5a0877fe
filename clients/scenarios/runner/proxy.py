"""A TCP proxy between a client and a sidecar that breaks, delays and refuses connections."""

import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress

CHUNK_BYTES = 1 << 16
_PREFACE_BYTES = 24
_FRAME_HEADER_BYTES = 9
_DATA = 0
_HEADERS = 1
_RST_STREAM = 3
_END_STREAM = 1


class FrameParser:
    """Parses the HTTP/2 frames of one direction to find the streams that it has ended. Plaintext HTTP/2 only."""

    def __init__(self, is_last: Callable[[int, int], bool], preface_bytes: int = 0) -> None:
        """Take `is_last`, which decides by a frame's type and flags whether it ends its stream."""
        self._is_last = is_last
        self._pending = bytearray()
        self._skip = preface_bytes

    def ended(self, data: bytes) -> set[int]:
        """Return the streams whose last frame begins in `data`."""
        self._pending += data
        streams: set[int] = set()
        while True:
            del self._pending[: (dropped := min(self._skip, len(self._pending)))]
            self._skip -= dropped
            if self._skip or len(self._pending) < _FRAME_HEADER_BYTES:
                return streams
            header = bytes(self._pending[:_FRAME_HEADER_BYTES])
            self._skip = _FRAME_HEADER_BYTES + int.from_bytes(header[:3])
            if self._is_last(header[3], header[4]):
                streams.add(int.from_bytes(header[5:]))


class Proxy:
    """TCP proxy with fault injection. Its attributes set the faults and may be changed at any time."""

    def __init__(self, target: str) -> None:
        self._target = target
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._listener.getsockname()[1]}"
        self._open: set[socket.socket] = set()
        self.refuse = False
        self.delay_seconds = 0.0
        self.lose_responses = 0
        self.cut_after_bytes = 0
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        """Break all open connections."""
        for end in list(self._open):
            _break(end)

    def close(self) -> None:
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.cut()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            if self.refuse:
                _break(client)
            else:
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        try:
            sidecar = _connected(self._target)
        except OSError:
            _break(client)
            return
        pair = ConnectionPair(self, client, sidecar)
        self._open |= {client, sidecar}
        responses = threading.Thread(target=pair.forward_responses, daemon=True)
        responses.start()
        pair.forward_requests()
        responses.join()
        self._open -= {client, sidecar}


class ConnectionPair:
    """A client's connection and the matching connection to the sidecar."""

    def __init__(self, proxy: Proxy, client: socket.socket, sidecar: socket.socket) -> None:
        self._proxy = proxy
        self._client = client
        self._sidecar = sidecar
        self._requests = FrameParser(_ends_request, _PREFACE_BYTES)
        self._answers = FrameParser(_ends_answer)
        self._answered: set[int] = set()
        self._to_lose: set[int] = set()

    def forward_requests(self) -> None:
        with suppress(OSError):
            while data := self._client.recv(CHUNK_BYTES):
                # Some clients end a request only after its response may have arrived.
                requested = self._requests.ended(data) - self._answered
                if requested and not self._to_lose and self._proxy.lose_responses > 0:
                    self._proxy.lose_responses -= 1
                    self._to_lose = requested
                self._sidecar.sendall(data)
        self._break()

    def forward_responses(self) -> None:
        with suppress(OSError):
            while data := self._sidecar.recv(CHUNK_BYTES):
                if self._proxy.delay_seconds:
                    time.sleep(self._proxy.delay_seconds)
                self._answered |= self._answers.ended(data)
                if self._to_lose:
                    if self._to_lose <= self._answered:
                        break
                    continue
                self._client.sendall(data)
                if self._is_cut(len(data)):
                    break
        self._break()

    def _is_cut(self, size: int) -> bool:
        """Return whether the limit `cut_after_bytes` of response bytes is reached. It applies once."""
        left = self._proxy.cut_after_bytes
        self._proxy.cut_after_bytes = max(0, left - size)
        return 0 < left <= size

    def _break(self) -> None:
        _break(self._client)
        _break(self._sidecar)


def _ends_request(kind: int, flags: int) -> bool:
    """Return whether a frame ends a request: its last DATA frame."""
    return kind == _DATA and bool(flags & _END_STREAM)


def _ends_answer(kind: int, flags: int) -> bool:
    """Return whether a frame ends a response: its trailers or a reset."""
    return kind == _RST_STREAM or (kind == _HEADERS and bool(flags & _END_STREAM))


def _connected(target: str) -> socket.socket:
    host, _, port = target.rpartition(":")
    return socket.create_connection((host, int(port)))


def _break(end: socket.socket) -> None:
    with suppress(OSError):
        end.shutdown(socket.SHUT_RDWR)
    end.close()
