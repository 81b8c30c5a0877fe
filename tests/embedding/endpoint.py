"""A real HTTP server that speaks /v1/embeddings, well or in whatever wrong way a test asks for."""

import hashlib
import json
import socket
import struct
from base64 import b64encode
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Self

import numpy as np

from memsidecar.embedding.contract import Vectors

DIMENSIONS = 4
KEY = "sk-very-secret"


@dataclass(frozen=True)
class Request:
    path: str
    headers: dict[str, str]
    body: dict[str, object]
    client_port: int

    @property
    def texts(self) -> list[str]:
        texts = self.body["input"]
        assert isinstance(texts, list)
        return texts


def vector_of(text: str) -> list[float]:
    """Some vector that is the text's own; not of length 1."""
    digest = hashlib.sha256(text.encode()).digest()
    return [byte / 16 - 8.03 for byte in digest[:DIMENSIONS]]


def expected(*texts: str) -> Vectors:
    """What an embedder should make of the endpoint's answer."""
    vectors = [vector_of(text) for text in texts]
    return np.array([np.array(vector) / np.linalg.norm(vector) for vector in vectors], dtype=np.float32)


Item = dict[str, object]


def items(texts: Sequence[str]) -> list[Item]:
    return [{"object": "embedding", "index": i, "embedding": vector_of(text)} for i, text in enumerate(texts)]


class Handler(BaseHTTPRequestHandler):
    """Keeps connections alive, as real servers do."""

    protocol_version = "HTTP/1.1"
    # Head and body in one packet; apart, the second would wait for the first to be acknowledged.
    wbufsize = -1
    server: "_Server"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        request = Request(self.path, dict(self.headers), body, self.client_address[1])
        endpoint = self.server.endpoint
        endpoint.requests.append(request)
        (endpoint.script.pop(0) if endpoint.script else endpoint.always)(self, request)

    def log_message(self, format: str, *args: object) -> None:
        """Standard error is for failures."""

    def answer(self, status: int, content: bytes, **headers: str) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(content)

    def hang_up(self) -> None:
        self.wfile.flush()
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)


Behaviour = Callable[[Handler, Request], None]


def well(handler: Handler, request: Request) -> None:
    handler.answer(200, json.dumps({"object": "list", "data": items(request.texts)}).encode())


def status(code: int, content: bytes = b"{}", **headers: str) -> Behaviour:
    return lambda handler, _: handler.answer(code, content, **headers)


def content(body: bytes) -> Behaviour:
    return status(200, body)


def changed(change: Callable[[list[Item]], list[Item]]) -> Behaviour:
    """A good answer, but for a change of its rows."""
    return lambda handler, request: handler.answer(200, json.dumps({"data": change(items(request.texts))}).encode())


def with_first(**change: object) -> Behaviour:
    def apply(rows: list[Item]) -> list[Item]:
        return [rows[0] | change, *rows[1:]]

    return changed(apply)


def base64_rows(handler: Handler, request: Request) -> None:
    packed = [struct.pack(f"<{DIMENSIONS}f", *vector_of(text)) for text in request.texts]
    rows = [{"index": i, "embedding": b64encode(row).decode()} for i, row in enumerate(packed)]
    handler.answer(200, json.dumps({"data": rows}).encode())


def chunked(handler: Handler, request: Request) -> None:
    body = json.dumps({"data": items(request.texts)}).encode()
    handler.send_response(200)
    handler.send_header("Transfer-Encoding", "chunked")
    handler.end_headers()
    for start in range(0, len(body), 50):
        part = body[start : start + 50]
        handler.wfile.write(b"%x\r\n%s\r\n" % (len(part), part))
    handler.wfile.write(b"0\r\n\r\n")


def endless(handler: Handler, _: Request) -> None:
    """Sends until the reader has had enough."""
    handler.send_response(200)
    handler.send_header("Transfer-Encoding", "chunked")
    handler.end_headers()
    try:
        while True:
            handler.wfile.write(b"10000\r\n%s\r\n" % (b" " * 0x10000))
            handler.server.endpoint.endless_bytes += 0x10000
    except OSError:
        handler.close_connection = True


def cut_short(handler: Handler, request: Request) -> None:
    """Promises more than it sends, and hangs up."""
    body = json.dumps({"data": items(request.texts)}).encode()
    handler.send_response(200)
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body[: len(body) // 2])
    handler.hang_up()


def hung_up(handler: Handler, _: Request) -> None:
    handler.hang_up()


def limited_to(characters: int, code: int = 400, body: bytes = b"{}") -> Behaviour:
    """As a model does that takes no longer text."""

    def behave(handler: Handler, request: Request) -> None:
        too_long = any(len(text) > characters for text in request.texts)
        (status(code, body) if too_long else well)(handler, request)

    return behave


def silent_until(release: Event) -> Behaviour:
    def behave(handler: Handler, _: Request) -> None:
        release.wait(30)
        handler.close_connection = True

    return behave


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    endpoint: "Endpoint"

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that hangs up is what many tests are about."""


@dataclass
class Endpoint:
    """`script` is what the next requests meet, one each; `always` what the others do."""

    script: list[Behaviour] = field(default_factory=list)
    always: Behaviour = well
    requests: list[Request] = field(default_factory=list)
    endless_bytes: int = 0

    def __enter__(self) -> Self:
        self._server = _Server(("127.0.0.1", 0), Handler)
        self._server.endpoint = self
        self._thread = Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        # Without waiting for handlers: their connections end with the client's.
        self._server.socket.close()

    @property
    def port(self) -> int:
        return int(self._server.server_address[1])

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"
