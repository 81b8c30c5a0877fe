"""Requests of Connect calls: when their bodies are received, and for how long that may take."""

import asyncio
from dataclasses import dataclass

from memsidecar.api.admission.receive import ReceiveSlots
from memsidecar.api.interceptors.call import ReadRequest
from memsidecar.api.status import CallAborted
from memsidecar.domain.errors import DeadlineExceeded, SidecarError, TooLarge
from memsidecar.http.exchange import ClientDisconnected, Exchange

RECEIVE_SECONDS = 30.0
"Time in which a request must arrive."
_ANY_CALLER = ""


@dataclass(frozen=True)
class RequestReceiver:
    """Receives the bodies of requests before their calls begin, as gRPC does. `slots` is None with access control.

    A call that waits for its request would occupy a place among the calls in flight, also of gRPC. With access control
    a caller is authenticated first, and admission has slots of its own.
    """

    slots: ReceiveSlots | None

    async def begin(self, read: ReadRequest) -> ReadRequest:
        """Return what the handler calls for its request. An error of an early read is raised there, where it counts."""
        timed = _timed(read)
        if self.slots is None:
            return timed
        try:
            data = await self.slots.receive(_ANY_CALLER, timed)
        except (SidecarError, CallAborted, ClientDisconnected) as error:
            return _raising(error)
        return _returning(data)


def _timed(read: ReadRequest) -> ReadRequest:
    async def read_in_time() -> bytes:
        try:
            async with asyncio.timeout(RECEIVE_SECONDS):
                return await read()
        except TimeoutError:
            raise DeadlineExceeded() from None

    return read_in_time


def _returning(data: bytes) -> ReadRequest:
    async def read() -> bytes:
        return data

    return read


def _raising(error: BaseException) -> ReadRequest:
    async def read() -> bytes:
        raise error

    return read


async def read_body(exchange: Exchange, max_bytes: int) -> bytes:
    """Read the body, and raise TooLarge as soon as it exceeds the limit."""
    announced = exchange.header("content-length")
    if announced.isdigit() and int(announced) > max_bytes:
        raise TooLarge(f"the request has {announced} bytes; {max_bytes} are allowed")
    body = bytearray()
    async for chunk in exchange.chunks():
        body += chunk
        if len(body) > max_bytes:
            raise TooLarge(f"the request has more than {max_bytes} bytes; {max_bytes} are allowed")
    return bytes(body)
