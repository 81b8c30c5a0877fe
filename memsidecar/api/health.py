"""Health, as gRPC has it, for callers without credentials: so their requests are received a few at a time."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import grpc
import grpc.aio
from grpc_health.v1 import health, health_pb2

from memsidecar.api.gate.reception import Reception
from memsidecar.api.interceptors import Context
from memsidecar.api.interceptors.errors import refuse
from memsidecar.api.wire import decode, only_request
from memsidecar.domain.errors import SidecarError, TooLarge

NOBODY = "nobody in particular"
MOST_REQUEST_BYTES = 4 * 1024


@dataclass(frozen=True)
class Health:
    servicer: Any  # the stubs know a context of their own only
    reception: Reception

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
        await self.servicer.Watch(await self._request(context), context)

    async def _request(self, context: Context) -> health_pb2.HealthCheckRequest:
        try:
            return self._decoded(await self.reception.receive(NOBODY, lambda: only_request(context)))
        except SidecarError as error:
            await refuse(context, error)

    def _decoded(self, data: bytes) -> health_pb2.HealthCheckRequest:
        if len(data) > MOST_REQUEST_BYTES:
            raise TooLarge(f"the request has {len(data)} bytes; {MOST_REQUEST_BYTES} are allowed")
        return decode(health_pb2.HealthCheckRequest, data)
