"""The standard services: health with limits, and reflection for authenticated callers, as grpcurl uses it.

Probes have no credentials, so a health call that sends no request ends after a second.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import grpc
import grpc.aio
from grpc_health.v1 import health, health_pb2
from grpc_reflection.v1alpha import reflection, reflection_pb2, reflection_pb2_grpc

from memsidecar import __version__
from memsidecar.api.admission.admission import Admission
from memsidecar.api.admission.audit import AuditLog, CallRecord
from memsidecar.api.admission.auth import Authenticator
from memsidecar.api.admission.tenant_limits import ConcurrencyLimiter
from memsidecar.api.interceptors.call import Context, decode, read_single_request
from memsidecar.api.interceptors.errors import abort
from memsidecar.api.status import row_of
from memsidecar.domain.errors import DeadlineExceeded, SidecarError, TooLarge

VERSION_KEY = "memsidecar-version"
TIME_KEY = "memsidecar-time"
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
    tells_version: bool
    "Whether a Check also tells the version and the time of the sidecar, as trailing metadata, for `memsidecar doctor`."
    _watchers: ConcurrencyLimiter = field(default_factory=lambda: ConcurrencyLimiter(MAX_WATCHERS, "watchers"))

    def generic_handler(self) -> grpc.GenericRpcHandler:
        serialize: Any = health_pb2.HealthCheckResponse.SerializeToString
        handlers: dict[str, Any] = {
            "Check": grpc.stream_unary_rpc_method_handler(self._check, None, serialize),
            "Watch": grpc.stream_stream_rpc_method_handler(self._watch, None, serialize),
        }
        return grpc.method_handlers_generic_handler(health.SERVICE_NAME, handlers)

    async def _check(self, _requests: AsyncIterator[bytes], context: Context) -> Any:
        request = await self._request(context)
        if self.tells_version:
            context.set_trailing_metadata(((VERSION_KEY, __version__), (TIME_KEY, f"{time.time():.3f}")))
        return await self.servicer.Check(request, context)

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


MAX_REFLECTION_STREAMS = 32
IDLE_SECONDS = 30.0
_ALL_STREAMS = "one limit for all"


class Reflection:
    def __init__(self, names: Sequence[str], authenticator: Authenticator, audit: AuditLog) -> None:
        # The stubs take its async generator for a coroutine.
        self._servicer: Any = reflection.aio.ReflectionServicer((*names, reflection.SERVICE_NAME))
        self._authenticator = authenticator
        self._audit = audit
        self._streams = ConcurrencyLimiter(MAX_REFLECTION_STREAMS, "reflection streams")

    async def ServerReflectionInfo(
        self, requests: AsyncIterator[reflection_pb2.ServerReflectionRequest], context: Context
    ) -> AsyncIterator[reflection_pb2.ServerReflectionResponse]:
        try:
            self._authenticator.authenticate(context)
            self._streams.acquire(_ALL_STREAMS)
        except SidecarError as error:
            # Tools call reflection first, so a rejected client would otherwise leave no trace in the audit log.
            self._audit.record(CallRecord("ServerReflectionInfo", context.peer), row_of(error).code.name, denied=True)
            await abort(context, error)
        try:
            async for response in self._servicer.ServerReflectionInfo(_until_idle(requests), context):
                yield response
        finally:
            self._streams.release(_ALL_STREAMS)


async def _until_idle(requests: AsyncIterator[Any]) -> AsyncIterator[Any]:
    """Yield requests until none has come for IDLE_SECONDS."""
    while True:
        try:
            yield await asyncio.wait_for(anext(requests), IDLE_SECONDS)
        except (StopAsyncIteration, TimeoutError):
            return


def add_reflection(server: grpc.aio.Server, names: Sequence[str], admission: Admission) -> None:
    add: Any = reflection_pb2_grpc.add_ServerReflectionServicer_to_server
    add(Reflection(names, admission.authenticator, admission.audit), server)
