"""gRPC server reflection, as grpcurl uses it, for authenticated callers."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Any

import grpc.aio
from grpc_reflection.v1alpha import reflection, reflection_pb2, reflection_pb2_grpc

from memsidecar.api.admission.admission import Admission
from memsidecar.api.admission.audit import AuditLog, CallRecord
from memsidecar.api.admission.auth import Authenticator
from memsidecar.api.admission.tenant_limits import ConcurrencyLimiter
from memsidecar.api.interceptors.call import Context
from memsidecar.api.interceptors.errors import abort
from memsidecar.api.status import row_of
from memsidecar.domain.errors import SidecarError

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
