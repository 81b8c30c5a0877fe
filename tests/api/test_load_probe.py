"""The load probe, by which background tasks see calls in flight."""

import asyncio
from collections.abc import AsyncIterator

from memsidecar.api.interceptors.concurrency import InFlightCounter, InFlightLimits


def limits() -> InFlightLimits:
    return InFlightLimits(InFlightCounter(10, "calls"), InFlightCounter(10, "streams"))


def test_a_call_is_in_flight_until_it_is_released() -> None:
    in_flight = limits()
    probe = in_flight.load_probe(finished_calls=False)
    assert not probe.is_busy()
    in_flight.calls.acquire()
    assert probe.is_busy()
    assert probe.is_busy()
    in_flight.calls.release()
    assert not probe.is_busy()


async def _run_stream(in_flight: InFlightLimits, requests: int) -> None:
    async def requests_of() -> AsyncIterator[bytes]:
        for _ in range(requests):
            yield b""

    async def answer(given: AsyncIterator[bytes], _context: object) -> AsyncIterator[bytes]:
        async for request in given:
            yield request

    async for _ in in_flight.stream("stream", answer)(requests_of(), None):  # type: ignore[arg-type] # it does not look at it
        pass


def test_a_finished_call_is_reported_once_by_the_probe_of_finished_calls() -> None:
    in_flight = limits()
    pending, recent = in_flight.load_probe(finished_calls=False), in_flight.load_probe(finished_calls=True)
    in_flight.calls.acquire()
    in_flight.calls.release()
    assert not pending.is_busy()
    assert recent.is_busy()
    assert not recent.is_busy()


def test_a_watcher_is_no_load() -> None:
    in_flight = limits()
    probes = [in_flight.load_probe(finished_calls=finished) for finished in (True, False)]
    busy: list[bool] = []

    async def watch(_request: object, _context: object) -> bytes:
        busy.extend(probe.is_busy() for probe in probes)
        return b""

    asyncio.run(in_flight.watch("Watch", watch)(b"", None))  # type: ignore[arg-type] # it does not look at it
    assert [*busy, *(probe.is_busy() for probe in probes)] == [False] * 4


def test_a_stream_is_in_flight_only_while_it_receives_messages() -> None:
    in_flight = limits()
    pending, recent = in_flight.load_probe(finished_calls=False), in_flight.load_probe(finished_calls=True)
    in_flight.streams.acquire()
    assert pending.is_busy()
    assert recent.is_busy()
    assert not pending.is_busy()
    assert not recent.is_busy()
    asyncio.run(_run_stream(in_flight, 3))
    assert pending.is_busy()
    assert not pending.is_busy()
    assert recent.is_busy()
