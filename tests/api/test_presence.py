"""Whether somebody waits for an answer, as background work sees it."""

import asyncio
from collections.abc import AsyncIterator

from memsidecar.api.interceptors.concurrency import InFlightCounter, InFlightLimits


def limits() -> InFlightLimits:
    return InFlightLimits(InFlightCounter(10, "calls"), InFlightCounter(10, "streams"))


def test_who_calls_waits_until_the_answer_is_there() -> None:
    mine = limits()
    is_busy = mine.somebody_waits()
    assert not is_busy()
    mine.calls.enter()
    assert is_busy()
    assert is_busy()
    mine.calls.now -= 1
    assert not is_busy()


async def _drawn(mine: InFlightLimits, requests: int) -> None:
    async def come() -> AsyncIterator[bytes]:
        for _ in range(requests):
            yield b""

    async def answer(given: AsyncIterator[bytes], _context: object) -> AsyncIterator[bytes]:
        async for one in given:
            yield one

    async for _ in mine.stream("stream", answer)(come(), None):  # type: ignore[arg-type] # it does not look at it
        pass


def test_who_called_since_is_here_though_nobody_waits() -> None:
    mine = limits()
    waits, is_here = mine.somebody_waits(), mine.somebody_is_here()
    mine.calls.enter()
    mine.calls.now -= 1
    assert not waits()
    assert is_here()
    assert not is_here()


def test_a_stream_waits_only_while_something_comes() -> None:
    mine = limits()
    one, other = mine.somebody_waits(), mine.somebody_is_here()
    mine.streams.enter()
    assert one()
    assert other()
    assert not one()
    assert not other()
    asyncio.run(_drawn(mine, 3))
    assert one()
    assert not one()
    assert other()
