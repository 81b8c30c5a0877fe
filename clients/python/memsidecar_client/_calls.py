"""Calls with deadlines, tokens, retries, pages and streams, for threads."""

import time
from collections.abc import Iterator
from typing import Any, TypeVar

import grpc
from google.protobuf.message import Message as Proto

from memsidecar_client import _health
from memsidecar_client._connection import Connection
from memsidecar_client._replay import Once, Replay
from memsidecar_client._retry import Attempts, at_least_one
from memsidecar_client._timeout import check_left, checked, checked_of_client
from memsidecar_client._translation import ended_early, failure, options_of, path_of, to_bytes
from memsidecar_client.errors import Closed, MemsidecarError

Answer = TypeVar("Answer", bound=Proto)


class Calls:
    """A channel and the shared parts of its calls."""

    def __init__(self, connection: Connection, timeout: float | None, attempts: int) -> None:
        self._connection = connection
        self._timeout = checked_of_client(timeout)
        self._attempts = at_least_one(attempts)
        self._closed = False
        self._channel: Any = _channel(connection)
        self._stubs: dict[str, Any] = {}

    def close(self) -> None:
        """Ends the connection; calls in progress end with Closed. To close again is harmless."""
        self._closed = True
        self._channel.close()

    def wait_until_ready(self, timeout: float) -> None:
        """Returns as soon as the sidecar says that it serves. Raises DeadlineExceeded when it does not in time."""
        attempts, check = Attempts(1, checked(timeout)), self._channel.unary_unary(_health.PATH)
        while True:
            try:
                if _health.serves(self._sent(check, _health.REQUEST, attempts.begin(), wait_for_ready=True)):
                    return
            except MemsidecarError as error:
                _health.check_worth_waiting(error, self._connection.address, timeout)
            time.sleep(_health.POLL_SECONDS)

    def _call(self, method: str, request: Proto, answer: type[Answer], timeout: float | None) -> Answer:
        stub = self._stubs.get(method) or self._stub(method, answer)
        attempts = Attempts(self._attempts, self._timeout if timeout is None else timeout, method)
        while True:
            try:
                found: Answer = self._sent(stub, request, attempts.begin())
                return found
            except MemsidecarError as error:
                time.sleep(attempts.wait_after(error))

    def _paged(
        self, method: str, request: Any, answer: type[Answer], items: str, timeout: float | None
    ) -> Iterator[Any]:
        while True:
            page: Any = self._call(method, request, answer, timeout)
            yield from getattr(page, items)
            request.page_token = page.next_page_token
            if not request.page_token:
                return

    def _answers(self, method: str, request: Proto, answer: type[Answer], timeout: float | None) -> Iterator[Answer]:
        """Retries until the first response. After that the caller resumes from the last cursor."""
        stub = self._channel.unary_stream(path_of(method), to_bytes, answer.FromString)
        attempts = Attempts(self._attempts, timeout)
        while True:
            answered = False
            try:
                for response in self._streamed(stub, request, attempts.begin()):
                    answered = True
                    yield response
                return
            except MemsidecarError as error:
                if answered:
                    raise
                time.sleep(attempts.wait_after(error))

    def _sent_again(
        self, method: str, requests: Iterator[Any], answer: type[Answer], timeout: float | None
    ) -> Iterator[Answer]:
        """Resume an interrupted stream with the unacknowledged messages. Its only deadline is the given one."""
        stub = self._channel.stream_stream(path_of(method), to_bytes, answer.FromString)
        attempts, replay = Attempts(self._attempts, timeout), Replay(requests)
        while True:
            try:
                for response in self._streamed(stub, replay.unanswered(), attempts.begin()):
                    replay.answered()
                    attempts.progressed()
                    yield response
                if replay.is_over:
                    return
                raise ended_early()
            except MemsidecarError as error:
                replay.check()
                time.sleep(attempts.wait_after(error))

    def _exchanged(
        self, method: str, requests: Iterator[Any], answer: type[Answer], timeout: float | None
    ) -> Iterator[Answer]:
        source, stub = Once(requests), self._channel.stream_stream(path_of(method), to_bytes, answer.FromString)
        try:
            yield from self._streamed(stub, source, Attempts(1, timeout).begin())
        except MemsidecarError:
            source.check()
            raise

    def _streamed(self, stub: Any, requests: Any, timeout: float | None) -> Iterator[Any]:
        """End the stream when the caller stops reading."""
        stream = self._sent(stub, requests, timeout)
        try:
            while (response := self._read(stream)) is not None:
                yield response
        finally:
            stream.cancel()

    def _read(self, stream: Any) -> Any:
        try:
            return next(stream, None)
        except grpc.RpcError as error:
            raise self._failure(error) from error

    def _sent(self, stub: Any, request: Any, timeout: float | None, **options: Any) -> Any:
        """Make one attempt and convert gRPC's errors."""
        if self._closed:
            raise Closed()
        check_left(timeout)
        try:
            return stub(request, timeout=timeout, metadata=self._connection.metadata(), **options)
        except grpc.RpcError as error:
            raise self._failure(error) from error

    def _failure(self, error: grpc.RpcError) -> MemsidecarError:
        return Closed() if self._closed else failure(error, self._connection)

    def _stub(self, method: str, answer: type[Answer]) -> Any:
        """Return the cached stub: creating one costs as much as a call."""
        made = self._channel.unary_unary(path_of(method), to_bytes, answer.FromString)
        return self._stubs.setdefault(method, made)


def _channel(connection: Connection) -> grpc.Channel:
    options = options_of(connection)
    if connection.credentials is None:
        return grpc.insecure_channel(connection.address, options)
    return grpc.secure_channel(connection.address, connection.credentials, options)
