"""HTTP/2 caller that misbehaves in ways that no gRPC client permits: it stalls, floods and never reads."""

import select
import selectors
import socket
import ssl
import struct
import threading
import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Self

import h2.config
import h2.connection
import h2.errors
import h2.events
import h2.exceptions
import h2.settings

SERVICE = "/memsidecar.v1.MemoryService/"
HEALTH_CHECK = "/grpc.health.v1.Health/Check"
_RECEIVE_BYTES = 1 << 16
_SOCKET_SECONDS = 10.0

_PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
_HEADERS, _RST_STREAM, _SETTINGS, _PING = 1, 3, 4, 6
_ACK, _END_HEADERS = 1, 4
_BURST_CALLS = 200

Header = tuple[str, str]


def framed(message: bytes) -> bytes:
    """Return the message with gRPC's length prefix."""
    return struct.pack(">BI", 0, len(message)) + message


class RawCaller:
    """One connection. It reads only in `listen`, and grants the server at most `window` bytes."""

    def __init__(
        self,
        address: str,
        window: int = 65_535,
        tls: ssl.SSLContext | None = None,
        headers: Iterable[Header] = (),
    ) -> None:
        self._headers = tuple(headers)
        host, port = address.rsplit(":", 1)
        self.socket = socket.create_connection((host, int(port)), timeout=_SOCKET_SECONDS)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if tls is not None:
            self.socket = tls.wrap_socket(self.socket, server_hostname=host)
        self._http = h2.connection.H2Connection(h2.config.H2Configuration(header_encoding="utf-8"))
        self._http.local_settings = h2.settings.Settings(
            client=True, initial_values={h2.settings.SettingCodes.INITIAL_WINDOW_SIZE: window}
        )
        self._http.initiate_connection()
        self.statuses: dict[int, int] = {}
        self.trailers: dict[int, dict[str, str]] = defaultdict(dict)
        self.received: dict[int, int] = defaultdict(int)
        self.resets = 0
        self.is_closed = False
        self._flush()

    @property
    def most_streams(self) -> int:
        """Return the concurrent streams that the server permits on one connection."""
        return int(self._http.remote_settings.max_concurrent_streams)

    def call(self, method: str, headers: Iterable[Header] = ()) -> int:
        """Begin a call without sending its request."""
        stream = self._http.get_next_available_stream_id()
        fixed = ((":method", "POST"), (":scheme", "http"), (":path", method), (":authority", "localhost"))
        grpc = (("content-type", "application/grpc"), ("te", "trailers"))
        self._http.send_headers(stream, [*fixed, *grpc, *self._headers, *headers])
        self._flush()
        return stream

    def ask(self, method: str, message: bytes, headers: Iterable[Header] = ()) -> int:
        """Send a complete call with a small request."""
        stream = self.call(method, headers)
        self._http.send_data(stream, framed(message), end_stream=True)
        self._flush()
        return stream

    def send(self, streams: Sequence[int], data: bytes, seconds: float) -> int:
        """Send on all streams in turn, as fast as the server accepts; return the accepted bytes."""
        sent = dict.fromkeys(streams, 0)
        give_up = time.monotonic() + seconds
        while not self.is_closed and time.monotonic() < give_up:
            open_streams = [one for one in streams if one not in self.statuses and sent[one] < len(data)]
            if not open_streams:
                break
            if not sum(self._send_some(one, data, sent) for one in open_streams):
                self.listen(0.05)
            else:
                self.listen(0)
        return sum(sent.values())

    def _send_some(self, stream: int, data: bytes, sent: dict[int, int]) -> int:
        try:
            room = min(self._http.local_flow_control_window(stream), self._http.max_outbound_frame_size)
            piece = data[sent[stream] : sent[stream] + room]
            if piece:
                self._http.send_data(stream, piece)
                self._flush()
        except (h2.exceptions.ProtocolError, OSError):  # the server has ended the stream, or the connection
            self.statuses.setdefault(stream, -1)
            return 0
        sent[stream] += len(piece)
        return len(piece)

    def end(self, stream: int) -> None:
        self._http.end_stream(stream)
        self._flush()

    def cancel(self, stream: int) -> None:
        self._http.reset_stream(stream, h2.errors.ErrorCodes.CANCEL)
        self._flush()

    def ping(self) -> None:
        self._http.ping(b"12345678")
        self._flush()

    def grant(self, size: int, streams: Iterable[int]) -> None:
        """Permit the server to send `size` more bytes on each stream."""
        for stream in streams:
            self._http.increment_flow_control_window(size)
            self._http.increment_flow_control_window(size, stream)
        self._flush()

    def raw(self, data: bytes) -> None:
        """Send raw bytes, valid HTTP/2 or not."""
        self.socket.sendall(data)

    def listen(self, seconds: float) -> None:
        """Receive for the given time, and send the replies that HTTP/2 requires."""
        give_up = time.monotonic() + seconds
        while not self.is_closed:
            patience = max(0.0, give_up - time.monotonic())
            if not self._pending() and not self._readable(patience):
                return
            self._take()
            if patience == 0.0:
                return

    def until_answered(self, streams: Iterable[int], seconds: float) -> list[int]:
        """Return the gRPC status of each stream; -1 if there is none after that time."""
        waiting, give_up = set(streams), time.monotonic() + seconds
        wanted = sorted(waiting)
        while waiting - self.statuses.keys() and not self.is_closed and time.monotonic() < give_up:
            self.listen(0.02)
        return [self.statuses.get(one, -1) for one in wanted]

    def _readable(self, seconds: float) -> bool:
        with selectors.PollSelector() as selector:  # select() supports at most 1,024 files
            selector.register(self.socket, selectors.EVENT_READ)
            return bool(selector.select(seconds))

    def _pending(self) -> bool:
        return isinstance(self.socket, ssl.SSLSocket) and self.socket.pending() > 0

    def _take(self) -> None:
        try:
            data = self.socket.recv(_RECEIVE_BYTES)
            events = self._http.receive_data(data) if data else []
        except (OSError, h2.exceptions.ProtocolError):
            data, events = b"", []
        self.is_closed = self.is_closed or not data
        for event in events:
            self._note(event)
        if not self.is_closed:
            self._flush()

    def _note(self, event: h2.events.Event) -> None:
        if isinstance(event, h2.events.DataReceived) and event.stream_id and event.data is not None:
            self.received[event.stream_id] += len(event.data)
        elif isinstance(event, h2.events.TrailersReceived | h2.events.ResponseReceived) and event.stream_id:
            self._note_headers(event.stream_id, event.headers or ())
        elif isinstance(event, h2.events.StreamReset):
            self.resets += 1
            self.statuses.setdefault(event.stream_id or 0, -1)
        elif isinstance(event, h2.events.ConnectionTerminated):
            self.is_closed = True

    def _note_headers(self, stream: int, headers: Iterable[tuple[str | bytes, str | bytes]]) -> None:
        found = {str(name): str(value) for name, value in headers}
        self.trailers[stream] |= found
        if "grpc-status" in found:
            self.statuses[stream] = int(found["grpc-status"])

    def _flush(self) -> None:
        try:
            self.socket.sendall(self._http.data_to_send())
        except OSError:
            self.is_closed = True

    def close(self) -> None:
        self.socket.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class ResetFlood:
    """Connections that begin calls and reset them at once, as fast as the server reads.

    The frames are made here: h2 would take most of the time. Each connection has a thread, and is replaced when the
    server closes it.
    """

    def __init__(self, address: str, connections: int, method: str) -> None:
        host, port = address.rsplit(":", 1)
        self._address = (host, int(port))
        self._header_block = _header_block(method)
        self._stopping = threading.Event()
        self._threads = [threading.Thread(target=self._run, daemon=True) for _ in range(connections)]
        self._sent_calls = [0] * connections

    @property
    def sent_calls(self) -> int:
        return sum(self._sent_calls)

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopping.set()
        for thread in self._threads:
            thread.join()

    def _run(self) -> None:
        number = self._threads.index(threading.current_thread())
        while not self._stopping.is_set():
            with suppress(OSError), socket.create_connection(self._address, timeout=_SOCKET_SECONDS) as connection:
                self._flood(connection, number)

    def _flood(self, connection: socket.socket, number: int) -> None:
        connection.sendall(_PREFACE + _frame(_SETTINGS, 0, 0, b"") + _frame(_SETTINGS, _ACK, 0, b""))
        connection.setblocking(False)
        stream, unsent, unread = 1, b"", b""
        while not self._stopping.is_set():
            if not unsent:
                unsent = self._burst(stream)
                stream += 2 * _BURST_CALLS
                self._sent_calls[number] += _BURST_CALLS
            readable, writable, _ = select.select([connection], [connection], [], 0.1)
            if readable:
                data = connection.recv(_RECEIVE_BYTES)
                if not data:
                    return
                replies, unread = _replies(unread + data)
                unsent += replies
            if writable:
                unsent = unsent[connection.send(unsent) :]

    def _burst(self, first_stream: int) -> bytes:
        cancel = struct.pack(">I", h2.errors.ErrorCodes.CANCEL)
        streams = range(first_stream, first_stream + 2 * _BURST_CALLS, 2)
        return b"".join(
            _frame(_HEADERS, _END_HEADERS, stream, self._header_block) + _frame(_RST_STREAM, 0, stream, cancel)
            for stream in streams
        )


def _frame(kind: int, flags: int, stream: int, content: bytes) -> bytes:
    return struct.pack(">I", len(content))[1:] + struct.pack(">BBI", kind, flags, stream) + content


def _header_block(method: str) -> bytes:
    """Return the headers of a call, each as a literal that is not indexed: every call may have the same bytes."""
    fixed = ((":method", "POST"), (":scheme", "http"), (":path", method), (":authority", "localhost"))
    headers = (*fixed, ("content-type", "application/grpc"), ("te", "trailers"))
    return b"".join(
        b"\0" + bytes([len(name)]) + name.encode() + bytes([len(value)]) + value.encode() for name, value in headers
    )


def _replies(data: bytes) -> tuple[bytes, bytes]:
    """Return the replies to the pings in received frames, and the beginning of an incomplete frame."""
    replies, at = b"", 0
    while at + 9 <= len(data) and at + 9 + (size := int.from_bytes(data[at : at + 3], "big")) <= len(data):
        if data[at + 3] == _PING and not data[at + 4] & _ACK:
            replies += _frame(_PING, _ACK, 0, data[at + 9 : at + 9 + size])
        at += 9 + size
    return replies, data[at:]
