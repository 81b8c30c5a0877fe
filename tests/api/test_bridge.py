"""Each kind of work has threads of its own: what is slow in one takes none of another's."""

import asyncio
from threading import Event

import pytest

from memsidecar.api.bridge import Bridge

KINDS = ("reading", "searching", "writing", "counting", "chunking")
THREADS = 2


@pytest.mark.parametrize("slow", KINDS)
def test_work_that_is_stuck_holds_up_no_other_kind(slow: str) -> None:
    asyncio.run(_go_on_beside(slow))


async def _go_on_beside(slow: str) -> None:
    bridge, go = Bridge(THREADS), Event()
    stuck = [asyncio.ensure_future(getattr(bridge, slow)(go.wait, 30)) for _ in range(THREADS * 2)]
    try:
        for kind in set(KINDS) - {slow}:
            assert await asyncio.wait_for(getattr(bridge, kind)(lambda: "done"), 10) == "done"
        assert not any(work.done() for work in stuck)
    finally:
        go.set()
        await asyncio.gather(*stuck)
        bridge.close()
