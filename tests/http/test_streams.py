"""Streams of responses: events, callers that disconnect or do not read, and the end of the sidecar."""

import http.client
import json
import signal
import socket
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any, Self

import pytest

from memsidecar.v1 import memory_pb2 as memory
from memsidecar.v1.message_pb2 import ROLE_USER, Message
from tests.http.connect_client import END, envelope, path_of, post
from tests.http.http_client import HTTP, HttpClient
from tests.support.process import CALL_SECONDS, SidecarProcess
from tests.support.waiting import HANG_SECONDS, until

LONG_ID = "x" * 250
"Ids are in each event, so events of long ones fill the buffers of a connection sooner."


class WatchStream:
    """An open Watch over HTTP."""

    def __init__(self, address: str, **request: str) -> None:
        host, _, port = address.rpartition(":")
        self._connection = http.client.HTTPConnection(host, int(port), timeout=HANG_SECONDS)
        self._connection.request(
            "POST",
            path_of("Watch"),
            envelope(json.dumps(request).encode()),
            {"Content-Type": "application/connect+json"},
        )
        self._response = self._connection.getresponse()

    def next(self) -> tuple[int, Any]:
        """Return flags and content of the next envelope."""
        prefix = self._response.read(5)
        return prefix[0], json.loads(self._response.read(int.from_bytes(prefix[1:])))

    def close(self) -> None:
        self._response.close()
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def test_events_are_delivered(http_sidecar: SidecarProcess) -> None:
    with http_sidecar.client() as client, WatchStream(http_sidecar.ready["http_listen"], session_id="seen") as watch:
        assert watch.next()[1]["kind"] == "EVENT_KIND_HEARTBEAT"
        client.add("unseen", "hello")
        added = client.add("seen", "hello")
        flags, event = watch.next()
        assert (flags, event["kind"], event["id"]) == (0, "EVENT_KIND_ADDED", added.message_id)


def test_a_watcher_that_disconnects_frees_its_place(data_dir: Path) -> None:
    with SidecarProcess(data_dir, *HTTP, "--max-watchers", "1") as sidecar:
        address = sidecar.ready["http_listen"]
        with WatchStream(address) as first:
            assert first.next()[1]["kind"] == "EVENT_KIND_HEARTBEAT"
            with WatchStream(address) as second:
                flags, end = second.next()
                assert (flags, end["error"]["code"]) == (END, "unavailable")

        def is_free() -> bool:
            with WatchStream(address) as later:
                return later.next()[0] == 0

        until(is_free)


def test_a_watcher_ends_when_the_sidecar_stops(data_dir: Path) -> None:
    with SidecarProcess(data_dir, *HTTP) as sidecar, WatchStream(sidecar.ready["http_listen"]) as watch:
        assert watch.next()[0] == 0
        sidecar.process.send_signal(signal.SIGTERM)
        flags, end = watch.next()
        assert (flags, end["error"]["code"]) == (END, "unavailable")
        assert sidecar.process.wait(HANG_SECONDS) == 0


@contextmanager
def unread_watch(address: str) -> Iterator[None]:
    """Open a Watch of which nothing is read."""
    host, _, port = address.rpartition(":")
    with closing(socket.socket()) as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        connection.connect((host, int(port)))
        body = envelope(b"{}")
        head = f"POST {path_of('Watch')} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n"
        connection.sendall(head.encode() + b"Content-Type: application/connect+json\r\n\r\n" + body)
        connection.recv(1)
        yield


def test_a_watcher_that_does_not_read_is_cut_off(data_dir: Path) -> None:
    with SidecarProcess(data_dir, *HTTP, "--watch-slow-reader-seconds", "0.5", "--tokenizer", "chars4") as sidecar:
        batch = memory.AddBatchRequest(
            session_id=LONG_ID, user_id=LONG_ID, messages=[Message(role=ROLE_USER, content="x")] * 10_000
        )
        with sidecar.client() as client, unread_watch(sidecar.ready["http_listen"]):
            client.memory.AddBatch(batch, timeout=CALL_SECONDS)
            until(lambda: "reason=SLOW_READER" in sidecar.log())


def test_a_request_that_is_cut_short_is_a_cancelled_call(data_dir: Path) -> None:
    with SidecarProcess(data_dir, *HTTP, "--audit", "all") as sidecar:
        with HttpClient(sidecar.ready["http_listen"]) as client:
            client.begin(path_of("Count"), length=100, **{"Content-Type": "application/json"})
        until(lambda: "code=CANCELLED" in sidecar.log())
        assert sidecar.stop() == 0
        assert "Traceback" not in sidecar.log() and "event=bug" not in sidecar.log()


@pytest.mark.parametrize("path", ["Count", "Watch"])
def test_open_connections_do_not_delay_the_end(data_dir: Path, path: str) -> None:
    with SidecarProcess(data_dir, *HTTP, "--drain-seconds", "0") as sidecar:
        content_type = "application/json" if path == "Count" else "application/connect+json"
        with HttpClient(sidecar.ready["http_listen"]) as sending, HttpClient(sidecar.ready["http_listen"]) as idle:
            assert idle.get("/healthz").status == 200
            sending.begin(path_of(path), length=100, **{"Content-Type": content_type})
            assert sidecar.stop() == 0
        assert "Traceback" not in sidecar.log()


def test_requests_that_never_arrive_take_no_place_among_the_calls(data_dir: Path) -> None:
    """Without access control, as over gRPC: the request is received before its call begins."""
    flags = ("--max-concurrent-calls", "2", "--max-concurrent-streams", "2")
    with SidecarProcess(data_dir, *HTTP, *flags) as sidecar, sidecar.client() as client, ExitStack() as opened:
        host, _, port = sidecar.ready["http_listen"].rpartition(":")
        for name, content_type in [("Add", "application/json")] * 12 + [("Export", "application/connect+json")] * 4:
            connection = opened.enter_context(socket.create_connection((host, int(port))))
            head = f"POST {path_of(name)} HTTP/1.1\r\nHost: localhost\r\nContent-Type: {content_type}\r\n"
            connection.sendall(f"{head}Content-Length: 100\r\n\r\n".encode() + b"{")
        for number in range(20):
            client.add("s", f"message {number}")
        with HttpClient(sidecar.ready["http_listen"]) as http:
            assert post(http, "Count", b'{"session_id":"s"}').json()["stats"]["messageCount"] == 20
