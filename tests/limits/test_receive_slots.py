"""Receive slots, without a server."""

import asyncio
from collections.abc import Coroutine
from typing import Any

import pytest

from memsidecar.api.admission.receive import ReceiveSlots
from memsidecar.api.admission.tenant_limits import pending_requests
from memsidecar.domain.errors import RateLimited

MIB = 1 << 20


def run(work: Coroutine[Any, Any, None]) -> None:
    async def in_time() -> None:
        async with asyncio.timeout(20):
            await work

    asyncio.run(in_time())


async def at_once() -> bytes:
    await asyncio.sleep(0)
    return b"request"


async def never() -> bytes:
    await asyncio.Event().wait()
    return b""


def test_any_number_of_fast_senders_are_received() -> None:
    async def work() -> None:
        slots = ReceiveSlots(4)
        assert set(await asyncio.gather(*(slots.receive("a", at_once) for _ in range(100)))) == {b"request"}

    run(work())


def test_a_slow_sender_is_evicted_with_an_error() -> None:
    async def work() -> None:
        slots = ReceiveSlots(4)
        slow = [asyncio.ensure_future(slots.receive("a", never)) for _ in range(10)]
        await asyncio.sleep(0.01)
        assert await slots.receive("a", at_once) == b"request", "the last to come is the next"
        with pytest.raises(RateLimited):
            await slow[0]
        for one in slow[1:]:
            one.cancel()
        await asyncio.gather(*slow, return_exceptions=True)
        assert await slots.receive("a", at_once) == b"request", "every place was given back"

    run(work())


def test_a_slow_sender_stays_while_no_other_waits() -> None:
    async def work() -> None:
        slots, late = ReceiveSlots(2), asyncio.Event()

        async def slowly() -> bytes:
            await late.wait()
            return b"late"

        slow = asyncio.ensure_future(slots.receive("a", slowly))
        await asyncio.sleep(0.7)
        late.set()
        assert await slow == b"late"

    run(work())


def test_one_tenant_leaves_half_of_the_slots_to_the_others() -> None:
    async def work() -> None:
        slots = ReceiveSlots(4)
        slow = [asyncio.ensure_future(slots.receive("slow", never)) for _ in range(10)]
        await asyncio.sleep(0.01)
        async with asyncio.timeout(0.3):
            assert await slots.receive("quick", at_once) == b"request"
        for one in slow:
            one.cancel()
        await asyncio.gather(*slow, return_exceptions=True)

    run(work())


def test_only_large_requests_in_progress_are_limited() -> None:
    async def work() -> None:
        budget = pending_requests(4 * MIB)
        with budget.reserve("a", 2 * MIB):
            with pytest.raises(RateLimited), budget.reserve("a", MIB):
                pass
            with (
                budget.reserve("a", 1000),
                budget.reserve("b", 2 * MIB),
                pytest.raises(RateLimited),
                budget.reserve("c", MIB),
            ):
                pass
        with budget.reserve("a", 2 * MIB):
            pass

    run(work())
