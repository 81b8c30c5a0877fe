"""grpc.health.v1 with limits: probes have no credentials, so a call that sends no request ends after a second."""

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any

import grpc
import grpc.aio
from grpc_health.v1 import health, health_pb2

from memsidecar.api.admission.tenant_limits import ConcurrencyLimiter
from memsidecar.api.interceptors.call import Context, decode, read_single_request
from memsidecar.api.interceptors.errors import abort
from memsidecar.domain.errors import DeadlineExceeded, SidecarError, TooLarge

MAX_HEALTH_REQUEST_BYTES = 4 * 1024
RECEIVE_SECONDS = 1.0
MAX_WATCHERS = 64
"A Watch stays open as long as its client likes. Probes use Check."
_ALL_WATCHERS = "one limit for all"


@dataclass(frozen=True)
class Health:
    """Handlers of the health service. `authenticate` raises for callers without access."""

    servicer: Any  # its stubs know only a context class of their own
    authenticate: Callable[[Context], object]
    _watchers: ConcurrencyLimiter = field(default_factory=lambda: ConcurrencyLimiter(MAX_WATCHERS, "watchers"))

    def generic_handler(self) -> grpc.GenericRpcHandler:
        serialize: Any = health_pb2.HealthCheckResponse.SerializeToString
        handlers: dict[str, Any] = {
            "Check": grpc.stream_unary_rpc_method_handler(self._check, None, serialize),
            "Watch": grpc.stream_stream_rpc_method_handler(self._watch, None, serialize),
        }
        return grpc.method_handlers_generic_handler(health.SERVICE_NAME, handlers)

    async def _check(self, _requests: AsyncIterator[bytes], context: Context) -> Any:
        return await self.servicer.Check(await self._request(context), context)

    async def _watch(self, _requests: AsyncIterator[bytes], context: Context) -> None:
        request = await self._request(context)
        try:
            self._watchers.acquire(_ALL_WATCHERS)
        except SidecarError as error:
            await abort(context, error)
        try:
            await self.servicer.Watch(request, context)
        finally:
            self._watchers.release(_ALL_WATCHERS)

    async def _request(self, context: Context) -> health_pb2.HealthCheckRequest:
        try:
            self.authenticate(context)
            return _decode(await asyncio.wait_for(read_single_request(context), RECEIVE_SECONDS))
        except TimeoutError:
            await abort(context, DeadlineExceeded())
        except SidecarError as error:
            await abort(context, error)


def _decode(data: bytes) -> health_pb2.HealthCheckRequest:
    if len(data) > MAX_HEALTH_REQUEST_BYTES:
        raise TooLarge(f"the request has {len(data)} bytes; {MAX_HEALTH_REQUEST_BYTES} are allowed")
    return decode(health_pb2.HealthCheckRequest, data)
