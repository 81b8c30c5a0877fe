"""The gRPC server: the services, health, reflection, and a second listener with health alone."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

import grpc
import grpc.aio
from grpc_health.v1 import health, health_pb2, health_pb2_grpc

from memsidecar.api.listening import bind, claimed
from memsidecar.api.methods import Methods, Service
from memsidecar.api.reflection import add_reflection
from memsidecar.domain.address import Address
from memsidecar.domain.errors import StartRefused

SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING
HARD_REQUEST_BYTES_FACTOR = 4
LIVENESS = ""
EPISODIC = "memsidecar.episodic"
"As health calls retrieval, which is there some seconds after the rest."

_OPTIONS = (
    # Without this, two servers on one port share its connections and neither knows.
    ("grpc.so_reuseport", 0),
    # What clients may do to keep an idle connection alive without being sent away.
    ("grpc.keepalive_permit_without_calls", 1),
    ("grpc.http2.min_recv_ping_interval_without_data_ms", 10_000),
    # Whoever opens a connection and says nothing is sent away, long before gRPC's own two minutes.
    ("grpc.server_handshake_timeout_ms", 10_000),
)


@dataclass(frozen=True)
class Addresses:
    listen: Address
    health_listen: Address | None


class Server:
    """One event loop, on which nothing waits for a disk."""

    def __init__(
        self,
        methods: Methods,
        services: Sequence[Service],
        max_request_bytes: int,
        tls: grpc.ServerCredentials | None = None,
    ) -> None:
        # gRPC's own refusal of a large request carries no details; so it stands further out than ours.
        limit = ("grpc.max_receive_message_length", HARD_REQUEST_BYTES_FACTOR * max_request_bytes)
        self._methods = methods
        self._tls = tls
        self._main = grpc.aio.server(options=(*_OPTIONS, limit))
        self._health_only = grpc.aio.server(options=_OPTIONS)
        self._health = health.aio.HealthServicer()
        self._names = [service.descriptor.full_name for service in services]
        self._main.add_generic_rpc_handlers(tuple(methods.handler(service) for service in services))
        for server in (self._main, self._health_only):
            health_pb2_grpc.add_HealthServicer_to_server(self._health, server)
        add_reflection(self._main, (*self._names, health.SERVICE_NAME), methods.gate.credentials)

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
