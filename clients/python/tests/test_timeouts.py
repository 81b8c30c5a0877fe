"""Timeouts: infinity is no limit, and a call with an expired deadline is not sent."""

import asyncio
import math
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from memsidecar_client import AsyncClient, Client, new_id
from memsidecar_client.errors import Closed, DeadlineExceeded, Unreachable
from runner.sidecar_process import SidecarProcess

NOWHERE = "127.0.0.1:1"
NOTHING_LEFT = [0, 0.0, -0.001, -1, -math.inf]
REFUSED: list[tuple[Any, type[Exception]]] = [
    (math.nan, ValueError),
    ("3", TypeError),
    (True, TypeError),
    ([], TypeError),
]
UNLIMITED = [math.inf, 1e10, 1e300]
refused = pytest.mark.parametrize(("timeout", "kind"), REFUSED, ids=repr)
unlimited = pytest.mark.parametrize("timeout", UNLIMITED)
over = pytest.mark.parametrize("timeout", NOTHING_LEFT, ids=repr)


@refused
@pytest.mark.parametrize("client", [Client, AsyncClient])
def test_a_client_rejects_an_invalid_timeout(
    client: Callable[..., object], timeout: Any, kind: type[Exception]
) -> None:
    with pytest.raises(kind, match="timeout"):
        client(NOWHERE, timeout=timeout)


@over
@pytest.mark.parametrize("client", [Client, AsyncClient])
def test_a_clients_timeout_must_be_positive(client: Callable[..., object], timeout: float) -> None:
    with pytest.raises(ValueError, match=f"timeout: {timeout} is not more than 0 seconds"):
        client(NOWHERE, timeout=timeout)


@over
def test_a_call_with_an_expired_deadline_is_not_sent(sidecar: SidecarProcess, timeout: float) -> None:
    session = new_id()
    with Client(sidecar.address) as memory:
        memory.wait_until_ready(10)
        for call in (
            lambda: memory.add(session_id=session, role="user", content="Hello.", timeout=timeout),
            lambda: list(memory.iter_messages(session_id=session, timeout=timeout)),
            lambda: list(memory.export(timeout=timeout)),
            lambda: list(memory.watch(timeout=timeout)),
            lambda: list(memory.add_stream(_untouched(), timeout=timeout)),
            lambda: list(memory.import_(_untouched(), timeout=timeout)),
        ):
            with pytest.raises(DeadlineExceeded, match="no time is left"):
                call()
        with pytest.raises(DeadlineExceeded, match=r"was not ready within 0 seconds"):
            memory.wait_until_ready(timeout)
        assert memory.count(session_id=session).stats.message_count == 0
    with pytest.raises(Closed):
        memory.count(session_id=session, timeout=timeout)


@over
async def test_a_call_with_an_expired_deadline_is_not_sent_with_asyncio(
    sidecar: SidecarProcess, timeout: float
) -> None:
    session = new_id()
    async with AsyncClient(sidecar.address) as memory:
        await memory.wait_until_ready(10)
        with pytest.raises(DeadlineExceeded, match="no time is left"):
            await memory.add(session_id=session, role="user", content="Hello.", timeout=timeout)
        for answers in (
            memory.iter_messages(session_id=session, timeout=timeout),
            memory.export(timeout=timeout),
            memory.watch(timeout=timeout),
            memory.add_stream(_untouched(), timeout=timeout),
            memory.import_(_untouched(), timeout=timeout),
        ):
            with pytest.raises(DeadlineExceeded, match="no time is left"):
                await anext(aiter(answers))
        with pytest.raises(DeadlineExceeded, match=r"was not ready within 0 seconds"):
            await memory.wait_until_ready(timeout)
        assert (await memory.count(session_id=session)).stats.message_count == 0
    with pytest.raises(Closed):
        await memory.count(session_id=session, timeout=timeout)


def _untouched() -> Iterator[Any]:
    """Fail if a request is taken from a stream that must not start."""
    yield pytest.fail("a request was taken")


@refused
def test_a_call_rejects_an_invalid_timeout(timeout: Any, kind: type[Exception]) -> None:
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


def test_infinity_overrides_the_clients_timeout(sidecar: SidecarProcess) -> None:
    """The sidecar is paused for longer than the client's timeout."""
    with Client(sidecar.address, timeout=0.2) as memory:
        memory.count(session_id="s", timeout=5)
        sidecar.pause()
        asyncio.run(_resume_after(0.6, sidecar, lambda: memory.count(session_id="s", timeout=math.inf)))


async def _resume_after(seconds: float, sidecar: SidecarProcess, call: Callable[[], object]) -> None:
    calling = asyncio.create_task(asyncio.to_thread(call))
    await asyncio.sleep(seconds)
    sidecar.resume()
    await calling


def test_an_async_client_rejects_a_second_event_loop() -> None:
    memory = AsyncClient(NOWHERE, attempts=1)

    async def count() -> None:
        await memory.count(session_id="s")

    with pytest.raises(Unreachable):
        asyncio.run(count())
    with pytest.raises(RuntimeError, match="belongs to the event loop of its first call"):
        asyncio.run(count())
    asyncio.run(memory.close())
