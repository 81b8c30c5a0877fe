"""A real HTTP server with valid and invalid behaviours."""

import json
import socket
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Self

from tests.support.waiting import until

KEY = "sk-very-secret"


@dataclass(frozen=True)
class Request:
    path: str
    headers: dict[str, str]
    body: dict[str, object]
    client_port: int

    @property
    def texts(self) -> list[str]:
        """Return the texts to embed."""
        texts = self.body["input"]
        assert isinstance(texts, list)
        return texts

    @property
    def contents(self) -> tuple[str, str]:
        """Return the contents of the messages to a language model."""
        messages = self.body["messages"]
        assert isinstance(messages, list)
        assert [message["role"] for message in messages] == ["system", "user"]
        return messages[0]["content"], messages[1]["content"]


class Handler(BaseHTTPRequestHandler):
    """Handler that keeps connections alive, as real servers do."""

    protocol_version = "HTTP/1.1"
    # Head and body in one packet; apart, the second would wait for the first to be acknowledged.
    wbufsize = -1
    server: "Listener"

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

    def answer_in_chunks(self, content: bytes) -> None:
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for start in range(0, len(content), 50):
            part = content[start : start + 50]
            self.wfile.write(b"%x\r\n%s\r\n" % (len(part), part))
        self.wfile.write(b"0\r\n\r\n")

    def answer_half(self, content: bytes) -> None:
        """Announce more bytes than are sent, and hang up."""
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content[: len(content) // 2])
        self.hang_up()

    def hang_up(self) -> None:
        self.wfile.flush()
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)


Behaviour = Callable[[Handler, Request], None]


def status(code: int, content: bytes = b"{}", **headers: str) -> Behaviour:
    return lambda handler, _: handler.answer(code, content, **headers)


def content(body: bytes) -> Behaviour:
    return status(200, body)


nothing_wrong = content(b"{}")


def chunked(body: bytes) -> Behaviour:
    return lambda handler, _: handler.answer_in_chunks(body)


def endless(handler: Handler, _: Request) -> None:
    """Send until the reader hangs up."""
    handler.send_response(200)
    handler.send_header("Transfer-Encoding", "chunked")
    handler.end_headers()
    sent_bytes = 0
    try:
        while True:
            handler.wfile.write(b"10000\r\n%s\r\n" % (b" " * 0x10000))
            sent_bytes += 0x10000
    except OSError:
        handler.close_connection = True
    handler.server.endpoint.endless_bytes = sent_bytes


def hung_up(handler: Handler, _: Request) -> None:
    handler.hang_up()


def silent_until(release: Event) -> Behaviour:
    def behave(handler: Handler, _: Request) -> None:
        release.wait(30)
        handler.close_connection = True

    return behave


class Listener(ThreadingHTTPServer):
    daemon_threads = True
    endpoint: "Server"

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignore clients that hang up, as many tests do."""


@dataclass
class Server:
    """`script` has one behaviour for each of the next requests; `always` is that of the others."""

    script: list[Behaviour] = field(default_factory=list)
    always: Behaviour = nothing_wrong
    requests: list[Request] = field(default_factory=list)
    endless_bytes: int | None = None
    "What was sent of an endless answer when the reader hung up."

    def wait_for_hang_up(self) -> int:
        """Return the bytes that were sent of an endless answer."""
        until(lambda: self.endless_bytes is not None)
        assert self.endless_bytes is not None
        return self.endless_bytes

    def __enter__(self) -> Self:
        self._server = Listener(("127.0.0.1", 0), Handler)
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
