"""Reflection, for grpcurl: what may be called is told to whoever may call anything at all."""

from collections.abc import AsyncIterator, Sequence
from typing import Any

import grpc.aio
from grpc_reflection.v1alpha import reflection, reflection_pb2, reflection_pb2_grpc

from memsidecar.api.gate.credentials import Credentials
from memsidecar.api.interceptors import Context
from memsidecar.api.interceptors.errors import refuse
from memsidecar.domain.errors import BadCredentials


class Reflection:
    def __init__(self, names: Sequence[str], credentials: Credentials) -> None:
        # The stubs take its async generator for a coroutine.
        self._all: Any = reflection.aio.ReflectionServicer((*names, reflection.SERVICE_NAME))
        self._credentials = credentials

    async def ServerReflectionInfo(
        self, requests: AsyncIterator[reflection_pb2.ServerReflectionRequest], context: Context
    ) -> AsyncIterator[reflection_pb2.ServerReflectionResponse]:
        try:
            self._credentials.caller(context)
        except BadCredentials as error:
            await refuse(context, error)
        async for response in self._all.ServerReflectionInfo(requests, context):
            yield response


def add_reflection(server: grpc.aio.Server, names: Sequence[str], credentials: Credentials) -> None:
    add: Any = reflection_pb2_grpc.add_ServerReflectionServicer_to_server
    add(Reflection(names, credentials), server)
