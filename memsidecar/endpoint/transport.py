"""One POST to one host, with bounds on its time and on its answer."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import urllib3
from urllib3.exceptions import HTTPError

from memsidecar.endpoint.errors import Unanswered

# Connections kept for reuse. More requests at once open more, which are closed after their answer.
KEPT_CONNECTIONS = 8

_READ_AT_ONCE_BYTES = 1 << 16


@dataclass(frozen=True)
class Answer:
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
            origin, maxsize=KEPT_CONNECTIONS, timeout=urllib3.Timeout(timeout_seconds), retries=False
        )

    def post(self, body: bytes, largest_answer_bytes: int) -> Answer:
        """Follows no redirect, for another host must not get the key. Raises Unanswered."""
        deadline = self._clock() + self._timeout_seconds
        try:
            response = self._pool.urlopen(
                "POST", self._path, body, self._headers, redirect=False, preload_content=False, decode_content=False
            )
            return self._read(response, deadline, largest_answer_bytes)
        except HTTPError as failed:
            raise Unanswered(type(failed).__name__) from failed

    def _read(self, response: urllib3.BaseHTTPResponse, deadline: float, largest_bytes: int) -> Answer:
        try:
            content = self._content(response, deadline, largest_bytes)
            response.release_conn()
        finally:
            # A connection that was not released is closed with it: the rest of this answer would begin the next one.
            response.close()
        return Answer(response.status, response.headers.get("Retry-After"), content)

    def _content(self, response: urllib3.BaseHTTPResponse, deadline: float, largest_bytes: int) -> bytes:
        content = bytearray()
        while chunk := response.read1(_READ_AT_ONCE_BYTES):
            content += chunk
            if len(content) > largest_bytes:
                raise Unanswered("the answer is too large")
            # The timeout of the socket begins anew with each byte.
            if self._clock() > deadline:
                raise Unanswered("the answer takes too long")
        return bytes(content)
