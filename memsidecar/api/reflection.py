"""Reflection, for grpcurl: what may be called is told to whoever may call anything at all."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Any

import grpc.aio
from grpc_reflection.v1alpha import reflection, reflection_pb2, reflection_pb2_grpc

from memsidecar.api.admission.admission import Admission
from memsidecar.api.admission.audit import AuditLog, CallRecord
from memsidecar.api.admission.auth import Authenticator
from memsidecar.api.admission.tenant_limits import ConcurrencyLimiter
from memsidecar.api.interceptors import Context
from memsidecar.api.interceptors.errors import abort
from memsidecar.api.status import row_of
from memsidecar.domain.errors import SidecarError

MAX_REFLECTION_STREAMS = 32
IDLE_SECONDS = 30.0
_ALL = "all of them"


class Reflection:
    def __init__(self, names: Sequence[str], credentials: Authenticator, audit: AuditLog) -> None:
        # The stubs take its async generator for a coroutine.
        self._all: Any = reflection.aio.ReflectionServicer((*names, reflection.SERVICE_NAME))
        self._credentials = credentials
        self._audit = audit
        self._readers = ConcurrencyLimiter(MAX_REFLECTION_STREAMS, "readers of reflection")

    async def ServerReflectionInfo(
        self, requests: AsyncIterator[reflection_pb2.ServerReflectionRequest], context: Context
    ) -> AsyncIterator[reflection_pb2.ServerReflectionResponse]:
        try:
            self._credentials.caller(context)
            self._readers.enter(_ALL)
        except SidecarError as error:
            # Tools ask here first: who is refused here would else leave no trace.
            self._audit.note(CallRecord("ServerReflectionInfo", context.peer), row_of(error).code.name, refused=True)
            await abort(context, error)
        try:
            async for response in self._all.ServerReflectionInfo(_while_asked(requests), context):
                yield response
        finally:
            self._readers.leave(_ALL)


async def _while_asked(requests: AsyncIterator[Any]) -> AsyncIterator[Any]:
    """A tool asks what it wants to know and goes; a stream on which nothing is asked any more ends."""
    while True:
        try:
            yield await asyncio.wait_for(anext(requests), IDLE_SECONDS)
        except (StopAsyncIteration, TimeoutError):
            return


def add_reflection(server: grpc.aio.Server, names: Sequence[str], gate: Admission) -> None:
    add: Any = reflection_pb2_grpc.add_ServerReflectionServicer_to_server
    add(Reflection(names, gate.authenticator, gate.audit), server)
