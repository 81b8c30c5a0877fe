"""The real server with a service that raises given errors."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from threading import Event, Thread
from typing import Any, ClassVar, Self

import grpc
from google.protobuf.descriptor import ServiceDescriptor

from memsidecar.api.handlers import Handler, HandlerFactory
from memsidecar.api.interceptors.concurrency import InFlightCounter, InFlightLimits
from memsidecar.api.interceptors.deadlines import Deadlines
from memsidecar.api.interceptors.request_log import RequestLog
from memsidecar.api.server import Server
from memsidecar.domain.network_address import Address
from memsidecar.v1 import memory_pb2 as memory
from memsidecar.v1 import memory_pb2_grpc
from tests.support.admission import lenient_admission

MIB = 1 << 20


@dataclass(frozen=True)
class RaisingService:
    """Count raises the error that has the name of the session."""

    errors: Mapping[str, Exception]
    descriptor: ClassVar[ServiceDescriptor] = memory.DESCRIPTOR.services_by_name["MemoryService"]

    def rpcs(self) -> Mapping[str, Handler]:
        return dict.fromkeys(self.descriptor.methods_by_name, self.count)

    async def count(self, request: memory.CountRequest) -> memory.CountResponse:
        raise self.errors[request.session_id]


class RaisingServer:
    """Runs on an event loop in its own thread."""

    def __init__(self, errors: Mapping[str, Exception]) -> None:
        self._service = RaisingService(errors)
        self._ready = Event()

    def __enter__(self) -> Self:
        self._thread = Thread(target=lambda: asyncio.run(self._run()), daemon=True)
        self._thread.start()
        assert self._ready.wait(10)
        self._channel = grpc.insecure_channel(self._address)
        return self

    def __exit__(self, *_: object) -> None:
        self._channel.close()
        self._loop.call_soon_threadsafe(self._stopping.set)
        self._thread.join(30)

    async def _run(self) -> None:
        self._loop, self._stopping = asyncio.get_running_loop(), asyncio.Event()
        limits = InFlightLimits(InFlightCounter(8, "calls"), InFlightCounter(8, "streams"))
        methods = HandlerFactory(RequestLog("none", 1.0), limits, Deadlines(30.0, 300.0), lenient_admission())
        server = Server(methods, [self._service], 4 * MIB)
        addresses = await server.start(Address(host="127.0.0.1", port=0), None)
        self._address = str(addresses.listen)
        self._ready.set()
        await self._stopping.wait()
        await server.stop(1)

    def provoke(self, name: str) -> Any:
        stub: Any = memory_pb2_grpc.MemoryServiceStub(self._channel)  # type: ignore[no-untyped-call]
        try:
            stub.Count(memory.CountRequest(session_id=name), timeout=30)
        except grpc.RpcError as error:
            return error
        raise AssertionError(f"{name} was not raised")
