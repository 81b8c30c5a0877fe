"""Whether somebody waits for an answer, as background work sees it."""

import asyncio
from collections.abc import AsyncIterator

from memsidecar.api.interceptors.concurrency import InFlightCounter, InFlightLimits


def limits() -> InFlightLimits:
    return InFlightLimits(InFlightCounter(10, "calls"), InFlightCounter(10, "streams"))


def test_who_calls_waits_until_the_answer_is_there() -> None:
    mine = limits()
    probe = mine.load_probe(finished_calls=False)
    assert not probe.is_busy()
    mine.calls.acquire()
    assert probe.is_busy()
    assert probe.is_busy()
    mine.calls.release()
    assert not probe.is_busy()


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
    pending, recent = mine.load_probe(finished_calls=False), mine.load_probe(finished_calls=True)
    mine.calls.acquire()
    mine.calls.release()
    assert not pending.is_busy()
    assert recent.is_busy()
    assert not recent.is_busy()


def test_a_stream_waits_only_while_something_comes() -> None:
    mine = limits()
    pending, recent = mine.load_probe(finished_calls=False), mine.load_probe(finished_calls=True)
    mine.streams.acquire()
    assert pending.is_busy()
    assert recent.is_busy()
    assert not pending.is_busy()
    assert not recent.is_busy()
    asyncio.run(_drawn(mine, 3))
    assert pending.is_busy()
    assert not pending.is_busy()
    assert recent.is_busy()
