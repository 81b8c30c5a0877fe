"""Turns: never more at once than there are places, nobody forgotten, and a crowd of one does not delay another."""

import asyncio
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from memsidecar.api.fair_queue import FairSemaphore, SerialWhileFast
from memsidecar.api.interceptors.call import current_tenant

CALLS = st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 3), st.booleans()), max_size=40)


@given(CALLS, st.integers(1, 3))
def test_all_get_their_turn_and_no_more_at_once_than_may(calls: list[tuple[str, int, bool]], places: int) -> None:
    of_one = max(1, places - 1)
    turns, inside, done = FairSemaphore(places, of_one), Counter[str](), 0

    async def call(tenant: str, length: int) -> None:
        nonlocal done
        current_tenant.set(tenant)
        async with turns.slot():
            inside[tenant] += 1
            try:
                assert inside.total() <= places
                assert inside[tenant] <= of_one
                for _ in range(length):
                    await asyncio.sleep(0)
            finally:
                inside[tenant] -= 1
        done += 1

    async def all_of_them() -> None:
        tasks = [asyncio.create_task(call(tenant, length)) for tenant, length, _ in calls]
        await asyncio.sleep(0)
        for task, (_, _, given_up) in zip(tasks, calls, strict=True):
            if given_up and not task.done():
                task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.wait_for(call("late", 0), 5)

    asyncio.run(all_of_them())
    assert done >= 1 + sum(not given_up for _, _, given_up in calls)


def test_a_crowd_does_not_delay_somebody_else() -> None:
    order: list[str] = []
    turns = FairSemaphore(2, 1)

    async def call(tenant: str) -> None:
        current_tenant.set(tenant)
        async with turns.slot():
            order.append(tenant)
            await asyncio.sleep(0)

    async def all_of_them() -> None:
        await asyncio.gather(*(call("crowd") for _ in range(50)), call("other"))

    asyncio.run(all_of_them())
    assert order.index("other") <= 1


@given(st.lists(st.booleans(), max_size=20))
def test_quick_ones_go_one_at_a_time_even_where_some_give_up(giving_up: list[bool]) -> None:
    turns, inside = SerialWhileFast(60), 0

    async def call() -> None:
        nonlocal inside
        async with turns.slot():
            inside += 1
            try:
                assert inside == 1
                await asyncio.sleep(0)
            finally:
                inside -= 1

    async def all_of_them() -> None:
        tasks = [asyncio.create_task(call()) for _ in giving_up]
        await asyncio.sleep(0)
        for task, gives_up in zip(tasks, giving_up, strict=True):
            if gives_up:
                task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.wait_for(call(), 5)

    asyncio.run(all_of_them())


def test_a_slow_one_does_not_keep_the_next_one_nor_lets_two_in_when_it_ends() -> None:
    turns, slow_may_end = SerialWhileFast(0.001), asyncio.Event()

    async def slow() -> None:
        async with turns.slot():
            await slow_may_end.wait()

    async def all_of_them() -> None:
        first = asyncio.create_task(slow())
        await asyncio.sleep(0)
        async with asyncio.timeout(5), turns.slot():
            slow_may_end.set()
            await first
        assert turns._lock._value == 1

    asyncio.run(all_of_them())
