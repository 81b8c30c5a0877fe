"""Each kind of work has threads of its own: what is slow in one takes none of another's."""

import asyncio
from threading import Event

import pytest

from memsidecar.api.executors import Executors

KINDS = ("run_read", "run_search", "run_write", "run_count", "run_chunk")
THREADS = 2


@pytest.mark.parametrize("slow", KINDS)
def test_work_that_is_stuck_holds_up_no_other_kind(slow: str) -> None:
    asyncio.run(_go_on_beside(slow))


def test_quick_searches_never_run_at_the_same_time() -> None:
    running: list[int] = []

    def search() -> int:
        running.append(1)
        seen = len(running)
        Event().wait(0.002)
        running.pop()
        return seen

    async def search_often() -> list[int]:
        executors = Executors(THREADS)
        try:
            return await asyncio.gather(*(executors.run_search(search) for _ in range(20)))
        finally:
            executors.close()

    assert asyncio.run(search_often()) == [1] * 20


async def _go_on_beside(slow: str) -> None:
    executors, go = Executors(THREADS), Event()
    stuck = [asyncio.ensure_future(getattr(executors, slow)(go.wait, 30)) for _ in range(THREADS * 2)]
    try:
        for kind in set(KINDS) - {slow}:
            assert await asyncio.wait_for(getattr(executors, kind)(lambda: "done"), 10) == "done"
        assert not any(work.done() for work in stuck)
    finally:
        go.set()
        await asyncio.gather(*stuck)
        executors.close()
