"""How much at once, and how large. Beyond it a call is refused at once rather than queued into its deadline."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field

from memsidecar.api.interceptors import Context, Stream, Unary
from memsidecar.domain.errors import Busy, TooLarge


@dataclass
class InFlight:
    """Counted on the event loop only, so a plain number will do."""

    most: int
    what: str
    now: int = 0

    def enter(self) -> None:
        if self.now >= self.most:
            raise Busy(f"{self.most} {self.what} are in flight; try again")
        self.now += 1


@dataclass(frozen=True)
class Limits:
    max_request_bytes: int
    calls: InFlight = field()
    streams: InFlight = field()

    def unary(self, _method: str, answer: Unary) -> Unary:
        calls = self.calls

        async def limited(data: bytes, context: Context) -> bytes:
            self._check_size(data)
            calls.enter()
            try:
                return await answer(data, context)
            finally:
                calls.now -= 1

        return limited

    def stream(self, _method: str, answer: Stream) -> Stream:
        streams = self.streams

        async def limited(requests: AsyncIterator[bytes], context: Context) -> AsyncIterator[bytes]:
            streams.enter()
            try:
                async for one in answer(self._sized(requests), context):
                    yield one
            finally:
                streams.now -= 1

        return limited

    async def _sized(self, requests: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        async for data in requests:
            self._check_size(data)
            yield data

    def _check_size(self, data: bytes) -> None:
        if len(data) > self.max_request_bytes:
            raise TooLarge(f"the request has {len(data)} bytes; {self.max_request_bytes} are allowed")
