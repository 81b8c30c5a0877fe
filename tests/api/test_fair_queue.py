"""FairSemaphore and SerialWhileFast: limits hold, all callers are served, and tenants do not delay each other."""

import asyncio
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from memsidecar.api.fair_queue import FairSemaphore, SerialWhileFast
from memsidecar.api.interceptors.call import current_tenant

CALLS = st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 3), st.booleans()), max_size=40)


@given(CALLS, st.integers(1, 3))
def test_all_calls_get_a_slot_within_the_limits(calls: list[tuple[str, int, bool]], slots: int) -> None:
    slots_per_tenant = max(1, slots - 1)
    semaphore, holders, done = FairSemaphore(slots, slots_per_tenant), Counter[str](), 0

    async def call(tenant: str, length: int) -> None:
        nonlocal done
        current_tenant.set(tenant)
        async with semaphore.slot():
            holders[tenant] += 1
            try:
                assert holders.total() <= slots
                assert holders[tenant] <= slots_per_tenant
                for _ in range(length):
                    await asyncio.sleep(0)
            finally:
                holders[tenant] -= 1
        done += 1

    async def run_all() -> None:
        tasks = [asyncio.create_task(call(tenant, length)) for tenant, length, _ in calls]
        await asyncio.sleep(0)
        for task, (_, _, cancelled) in zip(tasks, calls, strict=True):
            if cancelled and not task.done():
                task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.wait_for(call("late", 0), 5)

    asyncio.run(run_all())
    assert done >= 1 + sum(not cancelled for _, _, cancelled in calls)


def test_many_calls_of_one_tenant_do_not_delay_another() -> None:
    order: list[str] = []
    semaphore = FairSemaphore(2, 1)

    async def call(tenant: str) -> None:
        current_tenant.set(tenant)
        async with semaphore.slot():
            order.append(tenant)
            await asyncio.sleep(0)

    async def run_all() -> None:
        await asyncio.gather(*(call("busy") for _ in range(50)), call("other"))

    asyncio.run(run_all())
    assert order.index("other") <= 1


@given(st.lists(st.booleans(), max_size=20))
def test_fast_calls_run_one_at_a_time_despite_cancellations(cancellations: list[bool]) -> None:
    semaphore, holders = SerialWhileFast(60), 0

    async def call() -> None:
        nonlocal holders
        async with semaphore.slot():
            holders += 1
            try:
                assert holders == 1
                await asyncio.sleep(0)
            finally:
                holders -= 1

    async def run_all() -> None:
        tasks = [asyncio.create_task(call()) for _ in cancellations]
        await asyncio.sleep(0)
        for task, is_cancelled in zip(tasks, cancellations, strict=True):
            if is_cancelled:
                task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.wait_for(call(), 5)

    asyncio.run(run_all())


def test_a_slow_call_does_not_block_the_next_and_frees_one_slot() -> None:
    semaphore, slow_may_end = SerialWhileFast(0.001), asyncio.Event()

    async def slow() -> None:
        async with semaphore.slot():
            await slow_may_end.wait()

    async def run_all() -> None:
        first = asyncio.create_task(slow())
        await asyncio.sleep(0)
        async with asyncio.timeout(5), semaphore.slot():
            slow_may_end.set()
            await first
        assert semaphore._lock._value == 1

    asyncio.run(run_all())
