"""Grpc.aio servers, listeners, TLS, start/drain/stop."""

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
from memsidecar.api.health import MAX_HEALTH_REQUEST_BYTES, Health
from memsidecar.api.interceptors import Context
from memsidecar.api.reflection import add_reflection
from memsidecar.domain.errors import StartRefused
from memsidecar.domain.network_address import Address

_SOCKET_UMASK = 0o117  # leaves 0660: the owner and the group, as between the containers of a pod

SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING
HARD_REQUEST_BYTES_FACTOR = 2
MAX_HEALTH_CALLS = 4_000
HARD_LIMIT_FACTOR = 4
"gRPC refuses calls without details; so it does so only far beyond where we do, and keeps no more of them than that."
LIVENESS = ""
EPISODIC = "memsidecar.episodic"
"As health calls retrieval, which is there some seconds after the rest."

_OPTIONS = (
    # Without this, two servers on one port share its connections and neither knows.
    ("grpc.so_reuseport", 0),
    # What clients may do to keep an idle connection alive without being sent away.
    ("grpc.keepalive_permit_without_calls", 1),
    ("grpc.http2.min_ping_interval_without_data_ms", 10_000),
    # Whoever opens a connection and says nothing is sent away, long before gRPC's own two minutes.
    ("grpc.server_handshake_timeout_ms", 10_000),
    # Clients connect again by themselves when they have something to ask.
    ("grpc.max_connection_idle_ms", 30 * 60_000),
)
# A probe connects, asks once and goes. Whoever stays has something else in mind.
_HEALTH_ONLY = (("grpc.max_connection_age_ms", 60_000), ("grpc.max_connection_age_grace_ms", 5_000))
# Else gRPC learns that the line is fast, and takes megabytes of each request before anybody asked for it.
_GUARDED = (("grpc.http2.bdp_probe", 0),)


def bind(server: grpc.aio.Server, address: Address, setting: str, tls: grpc.ServerCredentials | None = None) -> Address:
    """Bind the server, and return the address it really has."""
    target = address.grpc_target
    try:
        port = server.add_secure_port(target, tls) if tls else server.add_insecure_port(target)
    except RuntimeError as error:
        raise StartRefused(f"cannot listen on {address} ({setting}): is something else listening there?") from error
    return address if address.unix_path else address.with_port(port)


@contextlib.contextmanager
def claimed(address: Address) -> Iterator[None]:
    """Make a unix socket's path ours while we begin to listen there; nothing to do for TCP.

    gRPC would take the path away from a living server without a word. A path that nobody answers on is a leftover
    and is removed. The lock beside it decides between two that start at the same moment.
    """
    if address.unix_path is None:
        yield
        return
    path = Path(address.unix_path)
    with _locked(path):
        if _answers(path):
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


def _answers(path: Path) -> bool:
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
    """One event loop, on which nothing waits for a disk."""

    def __init__(
        self,
        methods: HandlerFactory,
        services: Sequence[Service],
        max_request_bytes: int,
        tls: grpc.ServerCredentials | None = None,
    ) -> None:
        # gRPC's own refusal of a large request carries no details; so it stands further out than ours.
        self._methods = methods
        self._tls = tls
        most_bytes, most_calls = HARD_REQUEST_BYTES_FACTOR * max_request_bytes, HARD_LIMIT_FACTOR * methods.limits.most
        is_guarded = not methods.gate.is_unrestricted
        self._main = _limited_server(most_bytes, most_calls) if is_guarded else _server(most_bytes)
        self._health_only = _limited_server(MAX_HEALTH_REQUEST_BYTES, MAX_HEALTH_CALLS, *_HEALTH_ONLY)
        self._health = health.aio.HealthServicer()
        self._names = [service.descriptor.full_name for service in services]
        self._main.add_generic_rpc_handlers(tuple(methods.handler(service) for service in services))
        self._main.add_generic_rpc_handlers((Health(self._health, methods.gate.authenticator.authenticate).handler(),))
        self._health_only.add_generic_rpc_handlers((Health(self._health, _anybody).handler(),))
        add_reflection(self._main, (*self._names, health.SERVICE_NAME), methods.gate)

    async def start(self, listen: Address, health_listen: Address | None) -> Addresses:
        try:
            addresses = await self._listen(listen, health_listen)
        except StartRefused:
            await self._main.stop(None)
            await self._health_only.stop(None)
            raise
        self._watch = asyncio.ensure_future(self._methods.deadlines.watch())
        for name in (LIVENESS, *self._names):
            await self._health.set(name, SERVING)
        await self._health.set(EPISODIC, NOT_SERVING)
        return addresses

    async def set_serving(self, name: str) -> None:
        await self._health.set(name, SERVING)

    async def _listen(self, listen: Address, health_listen: Address | None) -> Addresses:
        with claimed(listen):
            listen = bind(self._main, listen, "listen", self._tls)
            await self._main.start()
        if health_listen is not None:
            with claimed(health_listen):
                health_listen = bind(self._health_only, health_listen, "health_listen")
                await self._health_only.start()
        return Addresses(listen, health_listen)

    async def stop(self, drain_seconds: float) -> None:
        """Say that we are leaving, finish what has begun, then go."""
        await self._health.enter_graceful_shutdown()
        await self._methods.limits.drain(drain_seconds)
        await self._main.stop(None)
        self._watch.cancel()
        await self._health_only.stop(None)


def _anybody(_context: Context) -> None:
    """The kubelet has no credentials."""


def _server(most_request_bytes: int) -> grpc.aio.Server:
    return grpc.aio.server(options=(*_OPTIONS, ("grpc.max_receive_message_length", most_request_bytes)))


def _limited_server(most_request_bytes: int, most_calls: int, *options: tuple[str, int]) -> grpc.aio.Server:
    limits = (("grpc.max_receive_message_length", most_request_bytes), ("grpc.max_concurrent_streams", most_calls))
    return grpc.aio.server(options=(*_OPTIONS, *_GUARDED, *options, *limits), maximum_concurrent_rpcs=most_calls)


class TlsCredentials:
    """gRPC asks `_renewed` at each handshake, on a thread of its own."""

    def __init__(self, current: Callable[[], Certificates]) -> None:
        self._current = current
        self._shown = current()

    def authenticator(self) -> grpc.ServerCredentials:
        return grpc.dynamic_ssl_server_credentials(
            _configuration(self._shown),
            cast(Any, self._renewed),  # the stubs do not know that it may return None
            require_client_authentication=self._shown.client_ca is not None,
        )

    def _renewed(self) -> grpc.ServerCertificateConfiguration | None:
        """None: as before."""
        current = self._current()
        if current is self._shown:
            return None
        self._shown = current
        return _configuration(current)


def _configuration(certificates: Certificates) -> grpc.ServerCertificateConfiguration:
    pair = (certificates.key, certificates.certificate)
    return grpc.ssl_server_certificate_configuration([pair], root_certificates=certificates.client_ca)
