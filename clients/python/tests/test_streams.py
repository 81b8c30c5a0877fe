"""Streams whose requests wait for responses or fail. The scenarios cover interrupted streams."""

import asyncio
import queue
from collections.abc import AsyncIterator, Iterator

import pytest

from memsidecar_client import AddStreamRequest, AsyncClient, Client, Message, Role, new_id
from memsidecar_client.errors import InvalidField
from runner.sidecar_process import SidecarProcess


def said(session_id: str, content: str) -> AddStreamRequest:
    return AddStreamRequest(session_id=session_id, message=Message(role=Role.ROLE_USER, content=content))


class SourceFailed(Exception):
    pass


def test_a_request_may_wait_for_the_answer_before_it(sidecar: SidecarProcess) -> None:
    session, answered = new_id(), queue.Queue[int]()

    def requests() -> Iterator[AddStreamRequest]:
        yield said(session, "first")
        for _ in range(3):
            yield said(session, f"after {answered.get(timeout=10)}")

    with Client(sidecar.address) as client:
        for answer in client.add_stream(requests()):
            answered.put(answer.result.sequence)
        assert [message.content for message in client.iter_messages(session_id=session)] == [
            "first",
            "after 1",
            "after 2",
            "after 3",
        ]


async def test_the_same_with_asyncio(sidecar: SidecarProcess) -> None:
    session, answered = new_id(), asyncio.Queue[int]()

    async def requests() -> AsyncIterator[AddStreamRequest]:
        yield said(session, "first")
        for _ in range(3):
            yield said(session, f"after {await answered.get()}")

    async with AsyncClient(sidecar.address) as client:
        async for answer in client.add_stream(requests(), timeout=10):
            answered.put_nowait(answer.result.sequence)
        assert len([message async for message in client.iter_messages(session_id=session)]) == 4


def test_an_error_of_the_source_reaches_the_caller(sidecar: SidecarProcess) -> None:
    def requests() -> Iterator[AddStreamRequest]:
        yield said("s", "good")
        raise SourceFailed

    with Client(sidecar.address) as client, pytest.raises(SourceFailed):
        list(client.add_stream(requests()))


async def test_an_error_of_the_source_reaches_the_caller_with_asyncio(sidecar: SidecarProcess) -> None:
    async def requests() -> AsyncIterator[AddStreamRequest]:
        yield said("s", "good")
        raise SourceFailed

    async with AsyncClient(sidecar.address) as client:
        with pytest.raises(SourceFailed):
            async for _ in client.add_stream(requests(), timeout=10):
                pass


async def test_a_stream_that_is_refused_while_requests_are_sent_has_the_error_of_the_sidecar(
    sidecar: SidecarProcess,
) -> None:
    async def requests() -> AsyncIterator[AddStreamRequest]:
        yield AddStreamRequest(session_id="s")  # without a role
        for number in range(300):
            yield said("s", f"{number} {'x' * 2_000}")

    async def refused() -> str:
        with pytest.raises(InvalidField) as raised:
            async for _ in client.add_stream(requests(), timeout=30):
                pass
        return raised.value.field

    async with AsyncClient(sidecar.address) as client:
        for _ in range(5):
            assert set(await asyncio.gather(*(refused() for _ in range(10)))) == {"message.role"}


async def test_a_cancelled_call_does_not_affect_the_client(sidecar: SidecarProcess) -> None:
    async with AsyncClient(sidecar.address) as client:
        await client.count(session_id="s")
        sidecar.pause()
        try:
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.3):
                    await client.count(session_id="s")
        finally:
            sidecar.resume()
        await client.count(session_id="s")
