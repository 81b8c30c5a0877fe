"""Calls with deadlines, tokens, retries, pages and streams, for asyncio."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any, TypeVar

import grpc
import grpc.aio
from google.protobuf.message import Message as Proto

from memsidecar_client import _health
from memsidecar_client._aio_status import FirstStatus
from memsidecar_client._connection import Connection
from memsidecar_client._replay import AsyncOnce, AsyncReplay
from memsidecar_client._retry import Attempts, at_least_one
from memsidecar_client._timeout import check_left, checked, checked_of_client
from memsidecar_client._translation import ended_early, failure, options_of, path_of, to_bytes
from memsidecar_client.errors import Cancelled, Closed, MemsidecarError

Answer = TypeVar("Answer", bound=Proto)


class AsyncCalls:
    """A channel and the shared parts of its calls. It belongs to the event loop of its first call."""

    def __init__(self, connection: Connection, timeout: float | None, attempts: int) -> None:
        self._connection = connection
        self._timeout = checked_of_client(timeout)
        self._attempts = at_least_one(attempts)
        self._closed = False
        self._opened: Any = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stubs: dict[str, Any] = {}

    async def close(self) -> None:
        """Ends the connection; calls in progress end with Closed. To close again is harmless."""
        self._closed = True
        if self._opened is not None:
            await self._opened.close()

    async def wait_until_ready(self, timeout: float) -> None:
        """Returns as soon as the sidecar says that it serves. Raises DeadlineExceeded when it does not in time."""
        attempts, check = Attempts(1, checked(timeout)), self._channel.unary_unary(_health.PATH)
        while True:
            try:
                if _health.serves(await self._sent(check, _health.REQUEST, attempts.begin(), wait_for_ready=True)):
                    return
            except MemsidecarError as error:
                _health.check_worth_waiting(error, self._connection.address, timeout)
            await asyncio.sleep(_health.POLL_SECONDS)

    @property
    def _channel(self) -> Any:
        """Open the channel with the first call: before it there may be no event loop."""
        self._check_usable()
        if self._opened is None:
            self._opened, self._loop = _channel(self._connection), asyncio.get_running_loop()
        return self._opened

    def _check_usable(self) -> None:
        """Reject a second event loop: gRPC's own error does not name the cause."""
        if self._closed:
            raise Closed()
        if self._loop is not None and self._loop is not asyncio.get_running_loop():
            raise RuntimeError("an AsyncClient belongs to the event loop of its first call; make one for each loop")

    async def _call(self, method: str, request: Proto, answer: type[Answer], timeout: float | None) -> Answer:
        stub = self._stubs.get(method) or self._stub(method, answer)
        attempts = Attempts(self._attempts, self._timeout if timeout is None else timeout, method)
        while True:
            try:
                found: Answer = await self._sent(stub, request, attempts.begin())
                return found
            except MemsidecarError as error:
                await asyncio.sleep(attempts.wait_after(error))

    async def _paged(
        self, method: str, request: Any, answer: type[Answer], items: str, timeout: float | None
    ) -> AsyncIterator[Any]:
        while True:
            page: Any = await self._call(method, request, answer, timeout)
            for item in getattr(page, items):
                yield item
            request.page_token = page.next_page_token
            if not request.page_token:
                return

    async def _answers(
        self, method: str, request: Proto, answer: type[Answer], timeout: float | None
    ) -> AsyncIterator[Answer]:
        """Retries until the first response. After that the caller resumes from the last cursor."""
        stub = self._channel.unary_stream(path_of(method), to_bytes, answer.FromString)
        attempts = Attempts(self._attempts, timeout)
        while True:
            answered = False
            try:
                async with aclosing(self._streamed(stub, request, attempts.begin())) as answers:
                    async for response in answers:
                        answered = True
                        yield response
                return
            except MemsidecarError as error:
                if answered:
                    raise
                await asyncio.sleep(attempts.wait_after(error))

    async def _sent_again(
        self, method: str, requests: AsyncIterator[Any], answer: type[Answer], timeout: float | None
    ) -> AsyncIterator[Answer]:
        """Resume an interrupted stream with the unacknowledged messages. Its only deadline is the given one."""
        stub = self._channel.stream_stream(path_of(method), to_bytes, answer.FromString)
        attempts, replay = Attempts(self._attempts, timeout), AsyncReplay(requests)
        try:
            while True:
                try:
                    async with aclosing(self._streamed(stub, replay.unanswered(), attempts.begin())) as answers:
                        async for response in answers:
                            replay.answered()
                            attempts.progressed()
                            yield response
                    replay.check()
                    if replay.is_over:
                        return
                    raise ended_early()
                except MemsidecarError as error:
                    replay.check()
                    await asyncio.sleep(attempts.wait_after(error))
        finally:
            await replay.close()

    async def _exchanged(
        self, method: str, requests: AsyncIterator[Any], answer: type[Answer], timeout: float | None
    ) -> AsyncIterator[Answer]:
        source, stub = AsyncOnce(requests), self._channel.stream_stream(path_of(method), to_bytes, answer.FromString)
        try:
            async with aclosing(self._streamed(stub, source, Attempts(1, timeout).begin())) as answers:
                async for response in answers:
                    yield response
        except MemsidecarError:
            source.check()
            raise

    async def _streamed(self, stub: Any, requests: Any, timeout: float | None) -> Any:
        """End the stream when the caller stops reading."""
        check_left(timeout)
        stream = stub(requests, timeout=timeout, metadata=self._connection.metadata())
        status = FirstStatus(stream)
        try:
            async for response in stream:
                yield response
        except grpc.aio.AioRpcError as error:
            raise self._failure(status.error or error) from error
        except asyncio.CancelledError:
            raise self._why_cancelled() from None
        finally:
            stream.cancel()

    async def _sent(self, stub: Any, request: Any, timeout: float | None, **options: Any) -> Any:
        """Make one attempt and convert gRPC's errors."""
        self._check_usable()
        check_left(timeout)
        try:
            return await stub(request, timeout=timeout, metadata=self._connection.metadata(), **options)
        except grpc.aio.AioRpcError as error:
            raise self._failure(error) from error
        except asyncio.CancelledError:
            raise self._why_cancelled() from None

    def _why_cancelled(self) -> BaseException:
        """Distinguish a cancelled task from a cancelled call, for which gRPC raises the same error."""
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            return asyncio.CancelledError()
        return Closed() if self._closed else Cancelled("the call was cancelled", grpc.StatusCode.CANCELLED)

    def _failure(self, error: grpc.RpcError) -> MemsidecarError:
        return Closed() if self._closed else failure(error, self._connection)

    def _stub(self, method: str, answer: type[Answer]) -> Any:
        """Return the cached stub: creating one costs as much as a call."""
        made = self._channel.unary_unary(path_of(method), to_bytes, answer.FromString)
        return self._stubs.setdefault(method, made)


def _channel(connection: Connection) -> grpc.aio.Channel:
    options = options_of(connection)
    if connection.credentials is None:
        return grpc.aio.insecure_channel(connection.address, options)
    return grpc.aio.secure_channel(connection.address, connection.credentials, options)
