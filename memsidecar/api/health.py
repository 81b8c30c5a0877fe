"""Health, as gRPC has it, for callers without credentials: whoever opens a call and says nothing is soon sent away."""

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any

import grpc
import grpc.aio
from grpc_health.v1 import health, health_pb2

from memsidecar.api.admission.tenant_limits import ConcurrencyLimiter
from memsidecar.api.interceptors import Context
from memsidecar.api.interceptors.errors import abort
from memsidecar.api.wire import decode, only_request
from memsidecar.domain.errors import DeadlineExceeded, SidecarError, TooLarge

MAX_HEALTH_REQUEST_BYTES = 4 * 1024
RECEIVE_SECONDS = 1.0
MAX_WATCHERS = 64
"They stay for as long as they like, so there is a limit to them; probes ask once."
_ALL = "all of them"


@dataclass(frozen=True)
class Health:
    """`admit` raises for whoever may not ask."""

    servicer: Any  # the stubs know a context of their own only
    admit: Callable[[Context], object]
    _watchers: ConcurrencyLimiter = field(default_factory=lambda: ConcurrencyLimiter(MAX_WATCHERS, "watchers"))

    def handler(self) -> grpc.GenericRpcHandler:
        encoded: Any = health_pb2.HealthCheckResponse.SerializeToString
        handlers: dict[str, Any] = {
            "Check": grpc.stream_unary_rpc_method_handler(self._check, None, encoded),
            "Watch": grpc.stream_stream_rpc_method_handler(self._watch, None, encoded),
        }
        return grpc.method_handlers_generic_handler(health.SERVICE_NAME, handlers)

    async def _check(self, _requests: AsyncIterator[bytes], context: Context) -> Any:
        return await self.servicer.Check(await self._request(context), context)

    async def _watch(self, _requests: AsyncIterator[bytes], context: Context) -> None:
        request = await self._request(context)
        try:
            self._watchers.enter(_ALL)
        except SidecarError as error:
            await abort(context, error)
        try:
            await self.servicer.Watch(request, context)
        finally:
            self._watchers.leave(_ALL)

    async def _request(self, context: Context) -> health_pb2.HealthCheckRequest:
        try:
            self.admit(context)
            return _decoded(await asyncio.wait_for(only_request(context), RECEIVE_SECONDS))
        except TimeoutError:
            await abort(context, DeadlineExceeded())
        except SidecarError as error:
            await abort(context, error)


def _decoded(data: bytes) -> health_pb2.HealthCheckRequest:
    if len(data) > MAX_HEALTH_REQUEST_BYTES:
        raise TooLarge(f"the request has {len(data)} bytes; {MAX_HEALTH_REQUEST_BYTES} are allowed")
    return decode(health_pb2.HealthCheckRequest, data)
