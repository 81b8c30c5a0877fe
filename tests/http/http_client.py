"""A plain HTTP client on one connection."""

import http.client
import json
import socket
from collections.abc import Mapping
from typing import Any, NamedTuple, Self

from tests.support.waiting import HANG_SECONDS

HTTP = ("--http-listen", "127.0.0.1:0")


class Answer(NamedTuple):
    status: int
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


class HttpClient:
    def __init__(self, address: str) -> None:
        host, _, port = address.rpartition(":")
        self._connection = http.client.HTTPConnection(host, int(port), timeout=HANG_SECONDS)

    def send(self, method: str, path: str, body: bytes | None = None, **headers: str) -> Answer:
        """Send a request. An underscore in a header's name stands for a hyphen."""
        self._connection.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
        return self.answer()

    def begin(self, path: str, length: int, **headers: str) -> None:
        """Send the headers of a POST, and nothing of its body."""
        self._connection.putrequest("POST", path)
        for name, value in {"Content-Length": str(length), **headers}.items():
            self._connection.putheader(name, value)
        self._connection.endheaders()

    def answer(self) -> Answer:
        """Return the response to the last request."""
        response = self._connection.getresponse()
        names = {name.lower(): value for name, value in response.getheaders()}
        return Answer(response.status, names, response.read())

    def get(self, path: str, **headers: str) -> Answer:
        return self.send("GET", path, None, **headers)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()


def raw_exchange(address: str, data: bytes) -> bytes:
    """Send bytes, and return everything that the server sends until it closes the connection."""
    host, _, port = address.rpartition(":")
    with socket.create_connection((host, int(port)), timeout=HANG_SECONDS) as connection:
        connection.sendall(data)
        received = b""
        while part := connection.recv(65_536):
            received += part
        return received
