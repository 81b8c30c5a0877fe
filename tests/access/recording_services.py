"""The real server and admission in this process, with services that only record the requests that reach them."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, cast

from google.protobuf.descriptor import MethodDescriptor, ServiceDescriptor
from google.protobuf.message import Message as Proto
from google.protobuf.message_factory import GetMessageClass

from memsidecar.access.policy import AccessPolicy
from memsidecar.api.admission.auth import Authenticator
from memsidecar.api.handlers import Handler, HandlerFactory
from memsidecar.api.interceptors.concurrency import InFlightCounter, InFlightLimits
from memsidecar.api.interceptors.deadlines import Deadlines
from memsidecar.api.interceptors.request_log import RequestLog
from memsidecar.api.server import Server
from memsidecar.domain.network_address import Address
from tests.bad_input.rpcs import SERVICES
from tests.support.admission import lenient_admission
from tests.support.process import Client

MAX_REQUEST_BYTES = 4 << 20


@dataclass
class RecordingService:
    """Answers every RPC of a service with an empty response, and records the request."""

    descriptor: ServiceDescriptor
    reached: list[tuple[str, Proto]] = field(default_factory=list)

    def rpcs(self) -> Mapping[str, Handler]:
        return {method.name: self._handler(method) for method in self.descriptor.methods}

    def _handler(self, method: MethodDescriptor) -> Handler:
        answer = self._stream if method.client_streaming or method.server_streaming else self._call
        return answer(method.name, GetMessageClass(method.output_type))

    def _call(self, name: str, kind: type[Proto]) -> Callable[[Proto], Any]:
        async def answer(request: Proto) -> Proto:
            self.reached.append((name, request))
            return kind()

        return answer

    def _stream(self, name: str, kind: type[Proto]) -> Callable[[AsyncIterator[Proto]], AsyncIterator[Proto]]:
        async def answer(requests: AsyncIterator[Proto]) -> AsyncIterator[Proto]:
            async for request in requests:
                self.reached.append((name, request))
                yield kind()

        return answer


@dataclass(frozen=True)
class RecordingServer:
    channel: Any
    services: list[RecordingService]

    def reached(self) -> list[tuple[str, Proto]]:
        """Return the requests since the last call."""
        found = [request for service in self.services for request in service.reached]
        for service in self.services:
            service.reached.clear()
        return found


@contextmanager
def recording_server(policy: AccessPolicy) -> Iterator[RecordingServer]:
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    services = [RecordingService(service) for service in SERVICES]
    server, address = asyncio.run_coroutine_threadsafe(_start(policy, services), loop).result(30)
    try:
        with Client(str(address)) as client:
            yield RecordingServer(client.channel, services)
    finally:
        asyncio.run_coroutine_threadsafe(server.stop(1), loop).result(30)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


async def _start(policy: AccessPolicy, services: list[RecordingService]) -> tuple[Server, Address]:
    limits = InFlightLimits(InFlightCounter(256, "calls"), InFlightCounter(32, "streams"))
    admission = lenient_admission(Authenticator(lambda: policy))
    # A service declares its descriptor in its class; a recording service has any.
    server = Server(
        HandlerFactory(RequestLog("none", 60), limits, Deadlines(30, 300), admission),
        cast(Any, services),
        MAX_REQUEST_BYTES,
    )
    addresses = await server.start(Address(host="127.0.0.1", port=0), None)
    return server, addresses.listen
