"""No work for a caller who no longer waits, and an end for calls that brought no deadline."""

import asyncio
from dataclasses import dataclass

from memsidecar.api.interceptors import Context, Unary
from memsidecar.domain.errors import DeadlinePassed


def _remaining(context: Context, default_seconds: float) -> float:
    remaining: float | None = context.time_remaining()
    return default_seconds if remaining is None else remaining


@dataclass(frozen=True)
class Deadlines:
    default_seconds: float

    def unary(self, _method: str, answer: Unary) -> Unary:
        default_seconds = self.default_seconds

        async def in_time(data: bytes, context: Context) -> bytes:
            remaining = _remaining(context, default_seconds)
            if remaining <= 0:
                raise DeadlinePassed()
            try:
                async with asyncio.timeout(remaining):
                    return await answer(data, context)
            except TimeoutError:
                raise DeadlinePassed() from None

        return in_time
