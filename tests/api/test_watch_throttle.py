"""Watchers get few turns while calls are in flight, all of them afterwards, and each in its order."""

import asyncio
from itertools import pairwise

import pytest

from memsidecar.api.interceptors.call import current_tenant
from memsidecar.api.watch_throttle import (
    BUSY_SECONDS,
    BUSY_SHARE,
    LIGHT_LOAD,
    MAX_TURNS,
    MIN_TURNS,
    QUIET_SECONDS,
    TURN_SECONDS,
    DeliveryThrottle,
)

WATCHERS = 40
BUSY_CHECKS = 5


async def take_turns(throttle: DeliveryThrottle, done: list[int], count: int = WATCHERS) -> None:
    async def take(number: int) -> None:
        await throttle.turn()
        done.append(number)

    await asyncio.gather(*(take(number) for number in range(count)))


def turns_while_busy(cpu_seconds_per_check: float, seconds_per_check: float = QUIET_SECONDS) -> list[int]:
    """Return the turns between the checks for calls, for as many checks as calls are in flight."""
    done: list[int] = []
    done_at_check: list[int] = []

    def is_busy() -> bool:
        done_at_check.append(len(done))
        return len(done_at_check) <= BUSY_CHECKS

    throttle = DeliveryThrottle(
        is_busy, lambda: len(done_at_check) * cpu_seconds_per_check, lambda: len(done_at_check) * seconds_per_check
    )
    asyncio.run(take_turns(throttle, done))
    assert done == list(range(WATCHERS)), "the rest afterwards; first come, first served"
    return [after - before for before, after in pairwise(done_at_check[: BUSY_CHECKS + 1])]


def test_turns_take_their_share_of_the_cpu_time_while_calls_are_in_flight() -> None:
    for turns in (1, 2, 4):
        given = turns_while_busy(turns * TURN_SECONDS / BUSY_SHARE)
        assert sum(given) == pytest.approx(turns * BUSY_CHECKS, abs=1)
        assert max(given) <= turns + 1


def test_turns_are_given_when_the_process_gets_no_cpu_time_or_much() -> None:
    assert sum(turns_while_busy(0.0)) == int(1 + MIN_TURNS * BUSY_CHECKS)
    assert max(turns_while_busy(3600.0)) == MAX_TURNS


def test_the_cpu_time_that_calls_do_not_need_is_for_watchers() -> None:
    assert turns_while_busy(0.1 * BUSY_SECONDS, BUSY_SECONDS)[:2] == [MAX_TURNS, MAX_TURNS], "calls need a tenth"
    busy = turns_while_busy(LIGHT_LOAD * BUSY_SECONDS, BUSY_SECONDS)
    assert sum(busy) < MAX_TURNS, "calls need as much as they may get"
    assert turns_while_busy(0.1 * BUSY_SECONDS, 2 * BUSY_SECONDS) == turns_while_busy(0.1 * BUSY_SECONDS), "late ticks"


def test_a_pause_between_two_calls_is_no_end_of_the_load() -> None:
    done: list[int] = []
    checks = 0

    def is_busy() -> bool:
        nonlocal checks
        checks += 1
        return checks % 2 == 1 and checks < 2 * BUSY_CHECKS

    throttle = DeliveryThrottle(is_busy, lambda: 0.0, lambda: checks * 0.6 * QUIET_SECONDS)
    asyncio.run(take_turns(throttle, done))
    assert checks > 2 * BUSY_CHECKS, (
        "the first of the checks without a call is within the quiet time after the last call"
    )


def test_a_cancelled_watcher_takes_no_turn() -> None:
    async def run() -> int:
        checks = 0

        def is_busy() -> bool:
            nonlocal checks
            checks += 1
            return True

        throttle = DeliveryThrottle(is_busy, lambda: checks * TURN_SECONDS / BUSY_SHARE)
        cancelled = [asyncio.ensure_future(throttle.turn()) for _ in range(WATCHERS)]
        kept = asyncio.ensure_future(throttle.turn())
        await asyncio.sleep(0)
        for task in cancelled:
            task.cancel()
        await kept
        return checks

    assert asyncio.run(run()) <= 3, "with a turn for each cancelled one, there would be more"


def test_namespaces_take_turns_however_many_watchers_each_has() -> None:
    async def run() -> list[str]:
        given: list[str] = []
        throttle = DeliveryThrottle(lambda: True, lambda: 0.0, lambda: 0.0)  # at most one turn at a time

        async def watch(namespace: str) -> None:
            current_tenant.set(namespace)
            while given.count("one watcher") < BUSY_CHECKS:
                await throttle.turn()
                given.append(namespace)

        namespaces = ["many watchers"] * WATCHERS + ["one watcher"]
        watchers = [asyncio.ensure_future(watch(namespace)) for namespace in namespaces]
        await watchers[-1]
        throttle.stop()
        return given[: 2 * BUSY_CHECKS]

    assert asyncio.run(run()) == ["many watchers", "one watcher"] * BUSY_CHECKS


def test_a_stopped_throttle_lets_all_pass() -> None:
    async def run() -> list[int]:
        done: list[int] = []
        throttle = DeliveryThrottle(lambda: True)
        waiting = asyncio.ensure_future(take_turns(throttle, done, 1_000))
        await asyncio.sleep(0)
        throttle.stop()
        await throttle.turn()
        assert len(done) < 1_000
        await waiting
        return done

    assert len(asyncio.run(run())) == 1_000
