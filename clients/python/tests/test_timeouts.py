"""How long a call may take: more than 0 seconds, and infinity is no limit."""

import asyncio
import math
from collections.abc import Callable
from typing import Any

import pytest

from conductor.process import SidecarProcess
from memsidecar_client import AsyncClient, Client
from memsidecar_client.errors import Unreachable

NOWHERE = "127.0.0.1:1"
REFUSED: list[tuple[Any, type[Exception]]] = [
    (0, ValueError),
    (-1, ValueError),
    (-math.inf, ValueError),
    (math.nan, ValueError),
    ("3", TypeError),
    (True, TypeError),
    ([], TypeError),
]
UNLIMITED = [math.inf, 1e10, 1e300]
refused = pytest.mark.parametrize(("timeout", "kind"), REFUSED, ids=repr)
unlimited = pytest.mark.parametrize("timeout", UNLIMITED)


@refused
@pytest.mark.parametrize("client", [Client, AsyncClient])
def test_a_client_refuses_what_is_no_time(client: Callable[..., object], timeout: Any, kind: type[Exception]) -> None:
    with pytest.raises(kind, match="timeout"):
        client(NOWHERE, timeout=timeout)


@refused
def test_a_call_refuses_what_is_no_time(timeout: Any, kind: type[Exception]) -> None:
    with Client(NOWHERE) as memory:
        for call in (
            lambda: memory.count(session_id="s", timeout=timeout),
            lambda: memory.iter_messages(session_id="s", timeout=timeout),
            lambda: memory.add_stream([], timeout=timeout),
            lambda: memory.import_([], timeout=timeout),
            lambda: memory.watch(timeout=timeout),
            lambda: memory.wait_until_ready(timeout),
        ):
            with pytest.raises(kind, match="timeout"):
                call()


@refused
async def test_the_same_with_asyncio(timeout: Any, kind: type[Exception]) -> None:
    async with AsyncClient(NOWHERE) as memory:
        for call in (
            lambda: memory.count(session_id="s", timeout=timeout),
            lambda: memory.wait_until_ready(timeout),
        ):
            with pytest.raises(kind, match="timeout"):
                await call()
        with pytest.raises(kind, match="timeout"):
            memory.add_stream([], timeout=timeout)
        with pytest.raises(kind, match="timeout"):
            memory.iter_messages(session_id="s", timeout=timeout)


@unlimited
def test_infinity_is_no_limit(sidecar: SidecarProcess, timeout: float) -> None:
    with Client(sidecar.address, timeout=timeout) as memory:
        memory.wait_until_ready(timeout)
        memory.count(session_id="s")
    with Client(sidecar.address) as memory:
        memory.count(session_id="s", timeout=timeout)
        assert list(memory.iter_messages(session_id="none", timeout=timeout)) == []
        assert list(memory.add_stream([], timeout=timeout)) == []


@unlimited
async def test_infinity_is_no_limit_with_asyncio(sidecar: SidecarProcess, timeout: float) -> None:
    async with AsyncClient(sidecar.address, timeout=timeout) as memory:
        await memory.wait_until_ready(timeout)
        await memory.count(session_id="s")
        await memory.count(session_id="s", timeout=timeout)
        assert [answer async for answer in memory.add_stream([], timeout=timeout)] == []


def test_infinity_is_in_place_of_the_clients_own_limit(sidecar: SidecarProcess) -> None:
    """The sidecar stands still for longer than the client would wait."""
    with Client(sidecar.address, timeout=0.2) as memory:
        memory.count(session_id="s", timeout=5)
        sidecar.pause()
        asyncio.run(_resume_after(0.6, sidecar, lambda: memory.count(session_id="s", timeout=math.inf)))


async def _resume_after(seconds: float, sidecar: SidecarProcess, call: Callable[[], object]) -> None:
    calling = asyncio.create_task(asyncio.to_thread(call))
    await asyncio.sleep(seconds)
    sidecar.resume()
    await calling


def test_an_async_client_says_that_it_belongs_to_one_event_loop() -> None:
    memory = AsyncClient(NOWHERE, attempts=1)

    async def count() -> None:
        await memory.count(session_id="s")

    with pytest.raises(Unreachable):
        asyncio.run(count())
    with pytest.raises(RuntimeError, match="belongs to the event loop of its first call"):
        asyncio.run(count())
    asyncio.run(memory.close())
