"""The context of a call over HTTP: the parts of gRPC's context that interceptors, admission and handlers use."""

import ssl
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

import grpc
import grpc.aio
from google.rpc import status_pb2

from memsidecar.api.status import CallAborted
from memsidecar.http.exchange import Exchange

STATUS_DETAILS = "grpc-status-details-bin"
_NAME_KEYS = {"URI": "peer_uri", "DNS": "peer_dns"}

Metadata = Sequence[tuple[str, str | bytes]]


class CallContext:
    """Implements what is used of `grpc.aio.ServicerContext`, for one request over HTTP."""

    def __init__(self, exchange: Exchange, timeout_seconds: float | None) -> None:
        self._exchange = exchange
        self._deadline = None if timeout_seconds is None else time.monotonic() + timeout_seconds
        self._done_callbacks: list[Callable[[Any], None]] = []
        self.headers: list[tuple[str, str | bytes]] = []
        self.trailers: list[tuple[str, str | bytes]] = []

    def invocation_metadata(self) -> Metadata:
        return self._exchange.raw_headers

    def time_remaining(self) -> float | None:
        return None if self._deadline is None else self._deadline - time.monotonic()

    def peer(self) -> str:
        """Return the address of the client in the form that gRPC gives it in the audit log."""
        client = self._exchange.client
        if client is None:
            return "unix:"
        host, port = client
        return f"ipv6:%5B{host}%5D:{port}" if ":" in host else f"ipv4:{host}:{port}"

    def auth_context(self) -> Mapping[str, Sequence[bytes]]:
        """Return the names of the client's certificate, which the handshake has verified."""
        connection = self._exchange.transport.get_extra_info("ssl_object")
        certificate = connection.getpeercert() if isinstance(connection, ssl.SSLObject) else None
        names: dict[str, list[bytes]] = {}
        alternatives: Any = (certificate or {}).get("subjectAltName", ())
        for kind, name in alternatives:
            if kind in _NAME_KEYS:
                names.setdefault(_NAME_KEYS[kind], []).append(str(name).encode())
        return names

    def add_done_callback(self, callback: Callable[[Any], None]) -> None:
        self._done_callbacks.append(callback)

    def finish(self) -> None:
        """Call the done-callbacks: the response was taken, or the client is gone."""
        for callback in self._done_callbacks:
            callback(self)
        self._done_callbacks.clear()

    async def send_initial_metadata(self, metadata: Metadata) -> None:
        """Set headers of the response. They are sent with its first bytes."""
        self.headers.extend(metadata)

    def set_trailing_metadata(self, metadata: Metadata) -> None:
        self.trailers.extend(metadata)

    async def abort(self, code: grpc.StatusCode, details: str = "", trailing_metadata: Metadata = ()) -> NoReturn:
        status = status_pb2.Status(code=code.value[0], message=details)
        for key, value in trailing_metadata:
            if key == STATUS_DETAILS and isinstance(value, bytes):
                status = status_pb2.Status.FromString(value)
            else:
                self.trailers.append((key, value))
        raise CallAborted(status)
