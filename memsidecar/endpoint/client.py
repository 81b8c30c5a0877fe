"""HTTP client: POST JSON with retries and a circuit breaker; status codes to errors."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import NoReturn, TypeVar

import urllib3
from urllib3.exceptions import HTTPError

from memsidecar.endpoint.config import EndpointConfig
from memsidecar.endpoint.resilience import (
    CircuitBreaker,
    EndpointMismatch,
    EndpointUnavailable,
    RequestRejected,
    RetryableError,
    parse_retry_after,
)

MAX_IDLE_CONNECTIONS = 8
"Connections kept for reuse. More concurrent requests open more connections, which are closed after the response."

_READ_BYTES = 1 << 16

_REJECTED_STATUSES = {HTTPStatus.BAD_REQUEST, HTTPStatus.REQUEST_ENTITY_TOO_LARGE, HTTPStatus.UNPROCESSABLE_ENTITY}
_RETRYABLE_STATUSES = {HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_EARLY, HTTPStatus.TOO_MANY_REQUESTS}
_EXPLANATIONS: Mapping[int, str] = {
    HTTPStatus.UNAUTHORIZED: "it does not accept the key",
    HTTPStatus.FORBIDDEN: "the key may not use this model",
    HTTPStatus.NOT_FOUND: "it knows no such path or model",
}

T = TypeVar("T")


class EndpointClient:
    """Thread-safe: callers share a connection pool and a circuit breaker."""

    def __init__(self, config: EndpointConfig, parent: CircuitBreaker | None = None) -> None:
        """`parent` is a circuit breaker that blocks this client's requests, too."""
        address, authorization = config.address, config.authorization
        headers = {"Authorization": authorization} if authorization else {}
        self.base = address.base
        self.breaker = CircuitBreaker(config.failures_before_open, config.cool_down_seconds, config.clock, parent)
        self._retry_policy = config.retry_policy
        self._transport = Transport(
            address.origin, address.path + config.api.path_suffix, headers, config.timeout_seconds, config.clock
        )

    def post(self, body: bytes, max_response_bytes: int, parse: Callable[[bytes], T]) -> T:
        """Return what `parse` makes of the response body. `parse` raises RetryableError for an unusable body.

        Raises EndpointUnavailable after the last attempt. Raises EndpointMismatch without a retry, as RequestRejected
        if the endpoint rejects the input.
        """
        failures = 0
        while True:
            try:
                with self.breaker.request():
                    return self._post_once(body, max_response_bytes, parse)
            except RetryableError as error:
                failures += 1
                if failures >= self._retry_policy.attempts:
                    raise EndpointUnavailable(f"no answer from {self.base}: {error}") from error
                self._retry_policy.wait(failures, error.retry_after_seconds)

    def _post_once(self, body: bytes, max_response_bytes: int, parse: Callable[[bytes], T]) -> T:
        response = self._transport.post(body, max_response_bytes)
        if response.status // 100 != 2:
            raise error_for_status(response, self.base)
        return parse(response.body)


@dataclass(frozen=True)
class Response:
    status: int
    retry_after: str | None
    body: bytes


class Transport:
    """Connection pool of one URL. Proxies of the environment are never used. Thread-safe."""

    def __init__(
        self, origin: str, path: str, headers: Mapping[str, str], timeout_seconds: float, clock: Callable[[], float]
    ) -> None:
        self._path = path
        # No compression: the size of a compressed response is not bounded before it is decoded.
        self._headers = {"Content-Type": "application/json", "Accept-Encoding": "identity", **headers}
        self._timeout_seconds = timeout_seconds
        self._clock = clock
        self._pool = urllib3.connectionpool.connection_from_url(
            origin, maxsize=MAX_IDLE_CONNECTIONS, timeout=urllib3.Timeout(timeout_seconds), retries=False
        )

    def post(self, body: bytes, max_response_bytes: int) -> Response:
        """Send one request. Redirects are not followed: another host must not get the key. Raises RetryableError."""
        deadline = self._clock() + self._timeout_seconds
        try:
            response = self._pool.urlopen(
                "POST", self._path, body, self._headers, redirect=False, preload_content=False, decode_content=False
            )
            return self._read(response, deadline, max_response_bytes)
        except HTTPError as error:
            raise RetryableError(type(error).__name__) from error

    def _read(self, response: urllib3.BaseHTTPResponse, deadline: float, max_bytes: int) -> Response:
        try:
            content = self._read_body(response, deadline, max_bytes)
            response.release_conn()
        finally:
            # Closes a connection that was not released: it still has the rest of this response.
            response.close()
        return Response(response.status, response.headers.get("Retry-After"), content)

    def _read_body(self, response: urllib3.BaseHTTPResponse, deadline: float, max_bytes: int) -> bytes:
        content = bytearray()
        while chunk := response.read1(_READ_BYTES):
            content += chunk
            if len(content) > max_bytes:
                raise RetryableError("the answer is too large")
            # The socket's timeout starts again with each byte.
            if self._clock() > deadline:
                raise RetryableError("the answer takes too long")
        return bytes(content)


def error_for_status(response: Response, base: str) -> EndpointMismatch | RetryableError:
    """Return the error for a status other than 2xx. It contains no part of the body, which may repeat key or text."""
    status = response.status
    if status in _REJECTED_STATUSES or _is_llama_cpp_too_large(response):
        return RequestRejected(f"{base} rejects the input (status {status})")
    if status in _RETRYABLE_STATUSES or status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return RetryableError(f"status {status}", parse_retry_after(response.retry_after))
    if status < HTTPStatus.BAD_REQUEST:
        return EndpointMismatch(f"{base} redirects elsewhere (status {status}), which is not followed: set its new URL")
    return EndpointMismatch(f"{base}: {_EXPLANATIONS.get(status, 'it rejects the request')} (status {status})")


def _is_llama_cpp_too_large(response: Response) -> bool:
    """Return whether llama.cpp rejects a text longer than its batch, to which it always responds with status 500."""
    return response.status == HTTPStatus.INTERNAL_SERVER_ERROR and b"too large" in response.body


def json_object(body: bytes) -> dict[str, object]:
    """Parse a body that is a JSON object. Raises RetryableError, without any part of the body."""
    try:
        # RecursionError: a body of nothing but brackets exhausts the parser's stack.
        parsed = json.loads(body, parse_constant=reject_constant)
    except (ValueError, RecursionError):
        raise RetryableError("the answer is not JSON") from None
    if not isinstance(parsed, dict):
        raise RetryableError("the answer is no JSON object")
    return parsed


def reject_constant(name: str) -> NoReturn:
    """Reject NaN and Infinity, which Python accepts and JSON does not have; for `parse_constant`. Raises ValueError."""
    raise ValueError(f"{name} is no JSON")
