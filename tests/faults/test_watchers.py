"""Watchers that do not read, cancel, or lose their sidecar: each can resume, and none affects others."""

import random
import threading
from collections.abc import Iterator
from pathlib import Path

import grpc
import pytest

from memsidecar.v1 import memory_pb2 as memory
from memsidecar.v1.message_pb2 import ROLE_USER, Message
from memsidecar.v1.session_pb2 import WatchRequest
from tests.support.process import CALL_SECONDS, Client, Refusal, SidecarProcess, refusal
from tests.support.waiting import until
from tests.support.watch_stream import ADDED, HEARTBEAT, WatchStream

NAMESPACE = "watched"
FLAGS = ("--tokenizer", "chars4", "--drain-seconds", "3600")
LONG_ID = "x" * 200
UNREAD = 2_000
"Events of this number, with long ids, do not fit into a small window."
SMALL_WINDOW = (("grpc.http2.bdp_probe", 0), ("grpc.http2.lookahead_bytes", 65_535))
"By default a client of gRPC receives four megabytes that it does not read."
KILLS = 5


def add_batch(client: Client, start: int, count: int) -> list[str]:
    ids = [f"{number}-{LONG_ID}" for number in range(start, start + count)]
    messages = [Message(id=message_id, role=ROLE_USER, content="words") for message_id in ids]
    request = memory.AddBatchRequest(namespace=NAMESPACE, session_id="s", messages=messages)
    client.memory.AddBatch(request, timeout=CALL_SECONDS)
    return ids


def ended(stream: WatchStream) -> tuple[list[str], Refusal]:
    """Read to the end of the stream; return the ids of the added messages, and the error."""
    ids: list[str] = []
    try:
        while True:
            event = stream.next()
            if event.kind == ADDED:
                ids.append(event.id)
    except grpc.RpcError as error:
        return ids, Refusal(error)


def test_a_watcher_that_does_not_read_is_cut_off_and_can_resume_while_others_go_on(data_dir: Path) -> None:
    flags = (*FLAGS, "--watch-slow-reader-seconds", "0.5")
    with (
        SidecarProcess(data_dir, *flags) as sidecar,
        sidecar.client() as client,
        sidecar.client(*SMALL_WINDOW) as slow_client,
        WatchStream(client, NAMESPACE) as reading,
        WatchStream(slow_client, NAMESPACE) as slow,
    ):
        ids = add_batch(client, 0, UNREAD)
        assert [event.id for event in reading.events(UNREAD)] == ids
        until(lambda: "reason=SLOW_READER" in sidecar.log())
        ids += add_batch(client, UNREAD, 1)
        assert [event.id for event in reading.events(1)] == ids[-1:]
        read, error = ended(slow)
        assert (error.code, error.reason) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "SLOW_READER")
        assert 0 < len(read) < UNREAD and read == ids[: len(read)]
        with WatchStream(slow_client, NAMESPACE, cursor=error.metadata["cursor"]) as resumed:
            rest = [event.id for event in resumed.until(lambda found: found and found[-1].id == ids[-1])]
        assert rest == ids[-len(rest) :], "without holes up to the end"
        assert len(read) + len(rest) >= len(ids), "and none between the last event and the cursor"
        assert "Traceback" not in sidecar.log()


def test_cancelled_watchers_leave_nothing_behind(data_dir: Path) -> None:
    flags = (*FLAGS, "--max-watchers", "2", "--watch-slow-reader-seconds", "3600")
    with SidecarProcess(data_dir, *flags) as sidecar, sidecar.client(*SMALL_WINDOW) as client:
        for number in range(20):
            with WatchStream(client, NAMESPACE) as stream:
                if number % 2:
                    add_batch(client, number * UNREAD, UNREAD)  # some are cancelled while a response is not taken
                assert stream.first.kind == HEARTBEAT
            until(lambda: is_admitted(client))
        with WatchStream(client, NAMESPACE), WatchStream(client, "other"):
            refused = refusal(lambda: WatchStream(client, NAMESPACE))
            assert (refused.code, refused.reason) == (grpc.StatusCode.UNAVAILABLE, "OVERLOADED")
        assert "Traceback" not in sidecar.log()


def is_admitted(client: Client) -> bool:
    """Return whether two watchers are admitted, as many as there may be."""
    try:
        with WatchStream(client, NAMESPACE), WatchStream(client, NAMESPACE):
            return True
    except grpc.RpcError:
        return False


def test_heartbeats_come_while_nothing_happens_in_the_scope(data_dir: Path) -> None:
    with (
        SidecarProcess(data_dir, *FLAGS, "--watch-heartbeat-seconds", "0.05") as sidecar,
        sidecar.client() as client,
        WatchStream(client, NAMESPACE, session_id="quiet") as quiet,
    ):
        for number in range(3):
            add_batch(client, number, 1)
            assert quiet.next().kind == HEARTBEAT
        cursor = quiet.cursor
        client.add("quiet", "words", namespace=NAMESPACE, id="end")
        with WatchStream(client, NAMESPACE, session_id="quiet", cursor=cursor) as resumed:
            assert [event.id for event in resumed.events(1)] == ["end"]


def test_watchers_do_not_delay_a_shutdown_and_get_a_retryable_error(data_dir: Path) -> None:
    with SidecarProcess(data_dir, *FLAGS, "--watch-slow-reader-seconds", "3600") as sidecar:
        with sidecar.client() as client, sidecar.client(*SMALL_WINDOW) as slow_client:
            waiting = WatchStream(client, NAMESPACE)
            WatchStream(slow_client, NAMESPACE)
            add_batch(client, 0, UNREAD)
            waiting.events(UNREAD)
            assert sidecar.stop() == 0
            _, error = ended(waiting)
            assert (error.code, error.reason) == (grpc.StatusCode.UNAVAILABLE, "SHUTTING_DOWN") and error.retry
        assert "Traceback" not in sidecar.log()


class Writer:
    """Adds messages one by one until the sidecar is gone; records the acknowledged ids."""

    def __init__(self, client: Client, kill: int) -> None:
        self.acknowledged: list[str] = []
        self._client = client
        self._kill = kill
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            for number in range(1_000_000):
                message_id = f"{self._kill}-{number}"
                self._client.add("s", "words", namespace=NAMESPACE, id=message_id)
                self.acknowledged.append(message_id)
        except grpc.RpcError:
            return

    def join(self) -> None:
        self._thread.join()


def read_until_it_ends(stream: WatchStream, cursors: list[str], read: list[str]) -> Iterator[None]:
    try:
        while True:
            event = stream.next()
            cursors.append(event.cursor)
            if event.kind == ADDED:
                read.append(event.id)
            yield
    except grpc.RpcError:
        return


@pytest.mark.adversary
def test_a_watcher_resumes_after_kills_and_misses_nothing(data_dir: Path) -> None:
    chance = random.Random(20)
    acknowledged: list[str] = []
    read: list[str] = []
    cursors: list[str] = []
    sidecar = SidecarProcess(data_dir, *FLAGS)
    with sidecar:
        for kill in range(KILLS):
            if kill:
                sidecar.start()
            with sidecar.client() as client, sidecar.client() as watching:
                cursor = {"cursor": cursors[-1]} if cursors else {}
                stream = WatchStream(watching, NAMESPACE, **cursor)
                cursors.append(stream.cursor)
                writer = Writer(client, kill)
                reading = read_until_it_ends(stream, cursors, read)
                for _ in range(chance.randint(1, 60)):
                    next(reading)
                sidecar.kill()
                for _ in reading:
                    pass
                writer.join()
                acknowledged += writer.acknowledged
        sidecar.start()
        with sidecar.client() as client:
            stored = [message.id for message in client.all("s", namespace=NAMESPACE)]
            with WatchStream(client, NAMESPACE, cursor=cursors[-1]) as last:
                client.add("s", "words", namespace=NAMESPACE, id="end")
                read += [event.id for event in last.until(lambda found: found and found[-1].id == "end")]
    assert set(acknowledged) <= set(stored)
    assert read == [*stored, "end"], "each message once, in order, although the stream was cut at any point"


def test_a_cursor_ahead_of_the_log_is_refused(data_dir: Path) -> None:
    """It is that of a journal that was restored from an older copy."""
    with SidecarProcess(data_dir, *FLAGS) as sidecar:
        with sidecar.client() as client, WatchStream(client, NAMESPACE) as stream:
            add_batch(client, 0, 2)
            cursor = stream.events(2)[1].cursor
        sidecar.kill()
        for file in data_dir.glob("journal*"):
            file.unlink()
        sidecar.start()
        with sidecar.client() as client:
            request = WatchRequest(namespace=NAMESPACE, cursor=cursor)
            refused = refusal(lambda: next(client.sessions.Watch(request)))
            assert (refused.code, refused.field) == (grpc.StatusCode.INVALID_ARGUMENT, "cursor")
