"""A long read transaction of another process, such as a backup, delays erasures only."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest

from memsidecar.v1 import memory_pb2 as pb
from tests.stores.directories import another_process
from tests.support.process import CALL_SECONDS, Client, Refusal, SidecarProcess
from tests.support.waiting import until
from tests.working.components import QUICK

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
def long_read(data_dir: Path) -> Iterator[SidecarProcess]:
    """A sidecar with a session to erase, while another process holds a read transaction."""
    with SidecarProcess(data_dir, *QUICK, "--drain-seconds", str(DRAIN_SECONDS)) as running:
        with running.client() as client:
            client.add("cleared", "to be erased")
            client.add("other", "to stay")
        with another_process(READER, data_dir):
            yield running


def clear_of(client: Client) -> Any:
    """Start a Clear."""
    return client.memory.Clear.future(pb.ClearRequest(session_id="cleared"), timeout=CALL_SECONDS)


def wait_until_cleared(client: Client) -> None:
    """Wait until the Clear is committed and the session is empty; its bytes are not purged yet."""
    until(lambda: not client.recent("cleared", 1), "the session is empty")


def test_adds_do_not_wait_for_a_clear_that_waits_for_a_reader(
    long_read: SidecarProcess,
) -> None:
    with long_read.client() as client:
        clear = clear_of(client)
        wait_until_cleared(client)
        for at in range(ADDS):
            client.add("other", f"message {at}")
        assert not clear.done(), "all the Adds were answered while the Clear waited"
        assert len(client.all("other")) == 1 + ADDS
        answered = clear.exception()
    assert answered is None or busy(answered)
    assert long_read.stop() == 0


def busy(error: grpc.RpcError) -> bool:
    refused = Refusal(error)
    return refused.code is grpc.StatusCode.UNAVAILABLE and refused.reason == "OVERLOADED"


def test_the_server_stops_during_a_clear_that_waits_for_a_reader(
    long_read: SidecarProcess,
) -> None:
    with long_read.client() as client:
        clear = clear_of(client)
        wait_until_cleared(client)
        assert not clear.done()
        assert long_read.stop() == 0
        assert Refusal(clear.exception(CALL_SECONDS)).code is grpc.StatusCode.UNAVAILABLE
