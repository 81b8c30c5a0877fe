"""Each kind of work has its own threads, so slow work of one kind does not block another."""

import asyncio
from threading import Event

import pytest

from memsidecar.api.executors import Executors

KINDS = ("run_read", "run_search", "run_write", "run_count", "run_chunk")
THREADS = 2


@pytest.mark.parametrize("slow", KINDS)
def test_blocked_work_does_not_block_other_kinds(slow: str) -> None:
    asyncio.run(_run_others_beside(slow))


def test_fast_searches_run_one_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memsidecar.api.executors.FAST_SEARCH_SECONDS", 3600.0)  # on a busy machine 2 ms become 50
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


async def _run_others_beside(slow: str) -> None:
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
