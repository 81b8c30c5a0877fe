"""Somebody outside reads the journal's file for long, a backup for example: an erasure may wait for it, nobody else."""

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest

from memsidecar.v1 import memory_pb2 as pb
from tests.stores.directories import another_process
from tests.support.process import CALL_SECONDS, Client, Refusal, SidecarProcess
from tests.working.parts import QUICK

ADDS = 20
DRAIN_SECONDS = 1

READER = """
import sqlite3, sys
connection = sqlite3.connect(f"file:{sys.argv[1]}/journal.db?mode=ro", uri=True, isolation_level=None)
connection.execute("BEGIN")
connection.execute("SELECT count(*) FROM log").fetchone()
print("ready", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def read_from_outside(data_dir: Path) -> Iterator[SidecarProcess]:
    """A sidecar with something to erase, whose file a reader in another process holds in a read transaction."""
    with SidecarProcess(data_dir, *QUICK, "--drain-seconds", str(DRAIN_SECONDS)) as running:
        with running.client() as client:
            client.add("cleared", "to be erased")
            client.add("other", "to stay")
        with another_process(READER, data_dir):
            yield running


class Clear:
    """A Clear on its way, and the moment at which it was answered."""

    def __init__(self, client: Client) -> None:
        self.begun = time.monotonic()
        self._answered = threading.Event()
        self.call: Any = client.memory.Clear.future(pb.ClearRequest(session_id="cleared"), timeout=CALL_SECONDS)
        self.call.add_done_callback(self._note)

    def _note(self, _: object) -> None:
        self.ended = time.monotonic()
        self._answered.set()

    def seconds(self) -> float:
        assert self._answered.wait(CALL_SECONDS)
        return self.ended - self.begun


def seconds_of_add(client: Client, at: int) -> float:
    begun = time.monotonic()
    client.add("other", f"message {at}")
    return time.monotonic() - begun


def wait_until_erased_from_sight(client: Client) -> None:
    """The session is empty as soon as its Clear is committed; only its bytes are still to go."""
    give_up = time.monotonic() + CALL_SECONDS
    while client.recent("cleared", 1):
        assert time.monotonic() < give_up


def test_adds_to_other_sessions_do_not_wait_with_a_clear_for_an_outside_reader(
    read_from_outside: SidecarProcess,
) -> None:
    with read_from_outside.client() as client:
        clear = Clear(client)
        wait_until_erased_from_sight(client)
        adds = [seconds_of_add(client, at) for at in range(ADDS)]
        assert not clear.call.done(), "all the Adds were answered while the Clear waited"
        assert max(adds) < clear.seconds() / 5
        assert len(client.all("other")) == 1 + ADDS
        answered = clear.call.exception()
    assert answered is None or busy(answered)
    assert read_from_outside.stop() == 0


def busy(error: grpc.RpcError) -> bool:
    refused = Refusal(error)
    return refused.code is grpc.StatusCode.UNAVAILABLE and refused.reason == "BUSY"


def test_a_clear_that_waits_for_an_outside_reader_does_not_keep_the_server_from_stopping(
    read_from_outside: SidecarProcess,
) -> None:
    with read_from_outside.client() as client:
        clear = Clear(client)
        wait_until_erased_from_sight(client)
        assert not clear.call.done()
        assert read_from_outside.stop() == 0
        assert Refusal(clear.call.exception(CALL_SECONDS)).code is grpc.StatusCode.UNAVAILABLE
