"""The gRPC servers: listeners, TLS, health, start, drain and stop."""

import asyncio
import contextlib
import fcntl
import os
import socket
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import grpc
import grpc.aio
from grpc_health.v1 import health, health_pb2

from memsidecar.access.certificates import Certificates
from memsidecar.api.handlers import HandlerFactory, Service
from memsidecar.api.interceptors.call import Context
from memsidecar.api.standard_services import MAX_HEALTH_REQUEST_BYTES, MAX_WATCHERS, Health, add_reflection
from memsidecar.domain.errors import StartRefused
from memsidecar.domain.network_address import Address

_SOCKET_UMASK = 0o117  # mode 0660: owner and group, as between the containers of a pod

SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING
HARD_REQUEST_BYTES_FACTOR = 2
MAX_HEALTH_CALLS = 4_000
LAST_CALLS_SECONDS = 1.0
"Calls that arrive when the drain ends get their error within this time. gRPC would cancel them, without details."
MAX_CONNECTION_CALLS = 64
"Calls of one connection, in addition to streams. Further calls wait in the client."
MAX_CONNECTION_WATCHERS = 32
"""Watchers of one connection, in addition. Each stream that a connection may have is a place that it can occupy in
gRPC's queue."""
MAX_UNACCEPTED_CALLS = 8_000
"""Calls in gRPC's queue, about 27 KB each. One more is rejected without error details, whichever client it is from.

A call that was reset stays there until the event loop accepts it. One connection occupies a few hundred places at most.
"""
HARD_LIMIT_FACTOR = 4
"gRPC rejects calls without error details, so its own limit on calls stands this far beyond ours."
LIVENESS = ""
EPISODIC = "memsidecar.episodic"
"Name of retrieval in the health service. It is ready some seconds after the rest."

_OPTIONS = (
    # With it, two servers on one port would share its connections without an error.
    ("grpc.so_reuseport", 0),
    # Keepalive pings that clients may send on an idle connection.
    ("grpc.keepalive_permit_without_calls", 1),
    ("grpc.http2.min_ping_interval_without_data_ms", 10_000),
    # Closes connections without a handshake. gRPC's default is two minutes.
    ("grpc.server_handshake_timeout_ms", 10_000),
    # Clients reconnect by themselves for their next call.
    ("grpc.max_connection_idle_ms", 30 * 60_000),
    # By default, gRPC rejects calls at random from 1,000 on.
    ("grpc.server.max_pending_requests", MAX_UNACCEPTED_CALLS),
    ("grpc.server.max_pending_requests_hard_limit", MAX_UNACCEPTED_CALLS),
)
# A probe connects, calls once and disconnects.
_HEALTH_ONLY = (("grpc.max_connection_age_ms", 60_000), ("grpc.max_connection_age_grace_ms", 5_000))
# Otherwise gRPC measures a fast connection, and buffers megabytes of each request before it is read.
_NO_READ_AHEAD = (("grpc.http2.bdp_probe", 0),)


def bind(server: grpc.aio.Server, address: Address, setting: str, tls: grpc.ServerCredentials | None = None) -> Address:
    """Bind the server and return its address, with the actual port."""
    target = address.grpc_target
    try:
        port = server.add_secure_port(target, tls) if tls else server.add_insecure_port(target)
    except RuntimeError as error:
        raise StartRefused(f"cannot listen on {address} ({setting}): is something else listening there?") from error
    return address if address.unix_path else address.with_port(port)


@contextlib.contextmanager
def claim_socket(address: Address) -> Iterator[None]:
    """Hold a unix socket's path while the server starts to listen there; does nothing for TCP.

    gRPC would replace the socket of a running server without an error. A socket that accepts no connection is left
    over from an earlier server and is removed. A lock file decides between two servers that start at the same time.
    """
    if address.unix_path is None:
        yield
        return
    path = Path(address.unix_path)
    with _locked(path):
        if _accepts_connections(path):
            raise StartRefused(f"{path} is in use by another server")
        path.unlink(missing_ok=True)
        before = os.umask(_SOCKET_UMASK)
        try:
            yield
        finally:
            os.umask(before)


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    try:
        descriptor = os.open(f"{path}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise StartRefused(f"cannot listen on unix:{path}: {error.strerror}") from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError:
        raise StartRefused(f"{path} is being taken by another server") from None
    finally:
        os.close(descriptor)


def _accepts_connections(path: Path) -> bool:
    if path.exists() and not path.is_socket():
        raise StartRefused(f"{path} exists and is not a socket")
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.connect(str(path))
        except OSError:
            return False
        return True


@dataclass(frozen=True)
class Addresses:
    listen: Address
    health_listen: Address | None


class Server:
    """The main server and the health-only server, on one event loop that never blocks."""

    def __init__(
        self,
        factory: HandlerFactory,
        services: Sequence[Service],
        max_request_bytes: int,
        tls: grpc.ServerCredentials | None = None,
    ) -> None:
        self._factory = factory
        self._tls = tls
        # gRPC's own rejection of a large request has no error details, so its limit is higher than ours.
        hard_bytes = HARD_REQUEST_BYTES_FACTOR * max_request_bytes
        watchers = min(MAX_CONNECTION_WATCHERS, factory.limits.watchers.limit)
        streams = MAX_CONNECTION_CALLS + factory.limits.streams.limit + watchers
        if factory.admission.is_unrestricted:
            self._main = _server(hard_bytes, streams)
        else:
            self._main = _server(hard_bytes, streams, HARD_LIMIT_FACTOR * factory.limits.limit, _NO_READ_AHEAD)
        self._health_only = _server(
            MAX_HEALTH_REQUEST_BYTES,
            MAX_CONNECTION_CALLS + MAX_WATCHERS,
            MAX_HEALTH_CALLS,
            (*_NO_READ_AHEAD, *_HEALTH_ONLY),
        )
        self._health = health.aio.HealthServicer()
        self._names = [service.descriptor.full_name for service in services]
        self._main.add_generic_rpc_handlers(tuple(factory.generic_handler(service) for service in services))
        authenticate = factory.admission.authenticator.authenticate
        self._main.add_generic_rpc_handlers((Health(self._health, authenticate, tells_version=True).generic_handler(),))
        for_probes = Health(self._health, _allow_all, tells_version=False)
        self._health_only.add_generic_rpc_handlers((for_probes.generic_handler(),))
        add_reflection(self._main, (*self._names, health.SERVICE_NAME), factory.admission)

    async def start(self, listen: Address, health_listen: Address | None) -> Addresses:
        try:
            addresses = await self._listen(listen, health_listen)
        except StartRefused:
            await self._main.stop(None)
            await self._health_only.stop(None)
            raise
        self._watch = asyncio.ensure_future(self._factory.deadlines.watch())
        for name in (LIVENESS, *self._names):
            await self._health.set(name, SERVING)
        await self._health.set(EPISODIC, NOT_SERVING)
        return addresses

    async def set_serving(self, name: str) -> None:
        await self._health.set(name, SERVING)

    async def _listen(self, listen: Address, health_listen: Address | None) -> Addresses:
        with claim_socket(listen):
            listen = bind(self._main, listen, "listen", self._tls)
            await self._main.start()
        if health_listen is not None:
            with claim_socket(health_listen):
                health_listen = bind(self._health_only, health_listen, "health_listen")
                await self._health_only.start()
        return Addresses(listen, health_listen)

    async def stop(self, drain_seconds: float) -> None:
        """Report NOT_SERVING, drain pending calls, then close."""
        await self._health.enter_graceful_shutdown()
        await self._factory.limits.drain(drain_seconds)
        await self._main.stop(LAST_CALLS_SECONDS)
        self._watch.cancel()
        await self._health_only.stop(None)


def _allow_all(_context: Context) -> None:
    """Authenticate every caller: the kubelet has no credentials."""


def _server(
    max_request_bytes: int,
    max_connection_streams: int,
    max_calls: int | None = None,
    options: Sequence[tuple[str, int]] = (),
) -> grpc.aio.Server:
    limits = (
        ("grpc.max_receive_message_length", max_request_bytes),
        ("grpc.max_concurrent_streams", max_connection_streams),
        # Streams that have ended and are not released yet. Without them, a client that uses all streams of its
        # connection would be refused the next one.
        ("grpc.http2.max_deallocating_streams", max_connection_streams),
    )
    return grpc.aio.server(options=(*_OPTIONS, *options, *limits), maximum_concurrent_rpcs=max_calls)


class TlsCredentials:
    """Server credentials that follow the certificate files. gRPC calls `_reload` at each handshake, on its thread."""

    def __init__(self, current: Callable[[], Certificates]) -> None:
        self._current = current
        self._used = current()

    def authenticator(self) -> grpc.ServerCredentials:
        return grpc.dynamic_ssl_server_credentials(
            _configuration(self._used),
            cast(Any, self._reload),  # the stubs do not know that it may return None
            require_client_authentication=self._used.client_ca is not None,
        )

    def _reload(self) -> grpc.ServerCertificateConfiguration | None:
        """Return the new configuration; None if nothing has changed."""
        current = self._current()
        if current is self._used:
            return None
        self._used = current
        return _configuration(current)


def _configuration(certificates: Certificates) -> grpc.ServerCertificateConfiguration:
    pair = (certificates.key, certificates.certificate)
    return grpc.ssl_server_certificate_configuration([pair], root_certificates=certificates.client_ca)
