"""POST JSON with retries; status -> error."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import NoReturn, TypeVar

import urllib3
from urllib3.exceptions import HTTPError

from memsidecar.endpoint.config import EndpointConfig
from memsidecar.endpoint.errors import EndpointMismatch, EndpointUnavailable, RequestRejected, RetryableError
from memsidecar.endpoint.resilience import CircuitBreaker, parse_retry_after

# Connections kept for reuse. More requests at once open more, which are closed after their answer.
MAX_IDLE_CONNECTIONS = 8

_READ_AT_ONCE_BYTES = 1 << 16

_REFUSES_INPUT = {HTTPStatus.BAD_REQUEST, HTTPStatus.REQUEST_ENTITY_TOO_LARGE, HTTPStatus.UNPROCESSABLE_ENTITY}
_LATER = {HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_EARLY, HTTPStatus.TOO_MANY_REQUESTS}

_MEANING: Mapping[int, str] = {
    HTTPStatus.UNAUTHORIZED: "it does not accept the key",
    HTTPStatus.FORBIDDEN: "the key may not use this model",
    HTTPStatus.NOT_FOUND: "it knows no such path or model",
}

T = TypeVar("T")


@dataclass(frozen=True)
class Response:
    status: int
    retry_after: str | None
    body: bytes


class Transport:
    """Thread-safe. Connections are kept alive and shared; proxies of the environment are never used."""

    def __init__(
        self, origin: str, path: str, headers: Mapping[str, str], timeout_seconds: float, clock: Callable[[], float]
    ) -> None:
        self._path = path
        # Compressed, a small answer could become one without bound.
        self._headers = {"Content-Type": "application/json", "Accept-Encoding": "identity", **headers}
        self._timeout_seconds = timeout_seconds
        self._clock = clock
        self._pool = urllib3.connectionpool.connection_from_url(
            origin, maxsize=MAX_IDLE_CONNECTIONS, timeout=urllib3.Timeout(timeout_seconds), retries=False
        )

    def post(self, body: bytes, largest_answer_bytes: int) -> Response:
        """Follows no redirect, for another host must not get the key. Raises Unanswered."""
        deadline = self._clock() + self._timeout_seconds
        try:
            response = self._pool.urlopen(
                "POST", self._path, body, self._headers, redirect=False, preload_content=False, decode_content=False
            )
            return self._read(response, deadline, largest_answer_bytes)
        except HTTPError as failed:
            raise RetryableError(type(failed).__name__) from failed

    def _read(self, response: urllib3.BaseHTTPResponse, deadline: float, largest_bytes: int) -> Response:
        try:
            content = self._content(response, deadline, largest_bytes)
            response.release_conn()
        finally:
            # A connection that was not released is closed with it: the rest of this answer would begin the next one.
            response.close()
        return Response(response.status, response.headers.get("Retry-After"), content)

    def _content(self, response: urllib3.BaseHTTPResponse, deadline: float, largest_bytes: int) -> bytes:
        content = bytearray()
        while chunk := response.read1(_READ_AT_ONCE_BYTES):
            content += chunk
            if len(content) > largest_bytes:
                raise RetryableError("the answer is too large")
            # The timeout of the socket begins anew with each byte.
            if self._clock() > deadline:
                raise RetryableError("the answer takes too long")
        return bytes(content)


def error_for_status(answer: Response, base: str) -> EndpointMismatch | RetryableError:
    """The error for a status other than 2xx. It shows nothing of the body, which may repeat the key or a text."""
    status = answer.status
    if status in _REFUSES_INPUT or _too_large_says_llama_cpp(answer):
        return RequestRejected(f"{base} refuses the input (status {status})")
    if status in _LATER or status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return RetryableError(f"status {status}", parse_retry_after(answer.retry_after))
    if status < HTTPStatus.BAD_REQUEST:
        return EndpointMismatch(f"{base} redirects elsewhere (status {status}), which is not followed: set its new URL")
    return EndpointMismatch(f"{base}: {_MEANING.get(status, 'it refuses')} (status {status})")


def _too_large_says_llama_cpp(answer: Response) -> bool:
    """It answers 500 to a text that is longer than its batch, and would answer so for ever."""
    return answer.status == HTTPStatus.INTERNAL_SERVER_ERROR and b"too large" in answer.body


class EndpointClient:
    """Thread-safe: callers share kept connections and one breaker."""

    def __init__(self, settings: EndpointConfig, elder: CircuitBreaker | None = None) -> None:
        """While the breaker `elder` refuses requests, so does this endpoint."""
        address, authorization = settings.address, settings.authorization
        headers = {"Authorization": authorization} if authorization else {}
        self.base = address.base
        self.breaker = CircuitBreaker(settings.failures_before_open, settings.cool_down_seconds, settings.clock, elder)
        self._patience = settings.retry_policy
        self._transport = Transport(
            address.origin, address.path + settings.api.leaf, headers, settings.timeout_seconds, settings.clock
        )

    def post(self, body: bytes, largest_answer_bytes: int, read: Callable[[bytes], T]) -> T:
        """What `read` makes of the answer. It raises Unanswered for one that is not as it should be, to ask again.

        Raises EndpointAway, or EndpointMismatch at once: InputRefused where it is the input that is refused.
        """
        failures = 0
        while True:
            try:
                with self.breaker.request():
                    return self._asked_once(body, largest_answer_bytes, read)
            except RetryableError as failed:
                failures += 1
                if failures >= self._patience.attempts:
                    raise EndpointUnavailable(f"no answer from {self.base}: {failed}") from failed
                self._patience.wait(failures, failed.asked_seconds)

    def _asked_once(self, body: bytes, largest_answer_bytes: int, read: Callable[[bytes], T]) -> T:
        answer = self._transport.post(body, largest_answer_bytes)
        if answer.status // 100 != 2:
            raise error_for_status(answer, self.base)
        return read(answer.body)


def json_object(body: bytes) -> dict[str, object]:
    """The object that a body is. Raises Unanswered, which shows and carries nothing of it."""
    try:
        # A body that is nothing but brackets exhausts the parser's stack.
        answer = json.loads(body, parse_constant=reject_constant)
    except (ValueError, RecursionError):
        raise RetryableError("the answer is not JSON") from None
    if not isinstance(answer, dict):
        raise RetryableError("the answer is no JSON object")
    return answer


def reject_constant(name: str) -> NoReturn:
    """For `parse_constant`: Python reads NaN and Infinity, JSON has neither. Raises ValueError."""
    raise ValueError(f"{name} is no JSON")
