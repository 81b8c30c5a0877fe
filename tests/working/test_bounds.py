"""Bounds of the RAM of a stream and of the write-ahead log."""

import re
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from memsidecar.layers.background.runner import BATCH_ENTRIES
from memsidecar.v1 import memory_pb2 as pb
from memsidecar.v1.knowledge_pb2 import GetSummaryRequest, ListFactsRequest, SummarizeRequest
from memsidecar.v1.message_pb2 import ROLE_USER, Message
from tests.support.process import CALL_SECONDS, Client, SidecarProcess
from tests.working.components import QUICK

MIB = 1 << 20
MESSAGE_BYTES = 8_000
WARM_UP, STREAMED = 1_500, 3_000
STREAM_BYTES = STREAMED * MESSAGE_BYTES
LONG_SECONDS = 4 * CALL_SECONDS


def rss_bytes(sidecar: SidecarProcess, line: str = "VmRSS") -> int:
    status = Path(f"/proc/{sidecar.process.pid}/status")
    if not status.exists():
        pytest.skip("NOT TESTED: the RAM of a long stream. It needs /proc, and there is none here.")
    found = re.search(rf"{line}:\s+(\d+) kB", status.read_text())
    assert found is not None
    return int(found[1]) * 1024


def reset_peak(sidecar: SidecarProcess) -> None:
    """Reset the peak of resident memory (VmHWM)."""
    Path(f"/proc/{sidecar.process.pid}/clear_refs").write_text("5")


class Stream:
    """A stream that stays open until it is closed."""

    def __init__(self, client: Client, session_id: str) -> None:
        self._wanted = threading.Semaphore(0)
        self._closed = False
        self._session_id = session_id
        self._answers = client.memory.AddStream(self._requests(), timeout=LONG_SECONDS)

    def _requests(self) -> Iterator[pb.AddStreamRequest]:
        content = "x" * MESSAGE_BYTES
        while self._wanted.acquire() and not self._closed:
            yield pb.AddStreamRequest(session_id=self._session_id, message=Message(role=ROLE_USER, content=content))

    def add(self, count: int) -> int:
        """Send messages and wait for the answers; return the last sequence."""
        self._wanted.release(count)
        sequences: list[int] = [next(self._answers).result.sequence for _ in range(count)]
        return sequences[-1]

    def close(self) -> None:
        self._closed = True
        self._wanted.release()
        assert list(self._answers) == []


def until(holds: Callable[[], bool]) -> None:
    """Wait for the background tasks, which are throttled."""
    end = time.monotonic() + LONG_SECONDS
    while not holds():
        assert time.monotonic() < end, "the background does not keep up"
        time.sleep(0.1)


def until_summarized(client: Client, sequence: int) -> None:
    """Wait until the summary covers about this message."""
    request = GetSummaryRequest(session_id="s")
    until(lambda: client.knowledge.GetSummary(request).summary.last_sequence >= sequence - BATCH_ENTRIES)


def until_learned(client: Client) -> None:
    """Wait until facts are extracted from the last message; messages are processed in order."""
    client.add("last", "My name is Ada.")
    request = ListFactsRequest(session_id="last")
    until(lambda: [fact.value for fact in client.knowledge.ListFacts(request).facts] == ["Ada"])


def test_a_long_stream_keeps_no_messages_in_ram(data_dir: Path) -> None:
    """Keeping it would need all the bytes that were streamed, and more; without it, a few MB that caches still grow.

    What is learned of it in the background needs no more either, and is waited for.
    """
    with (
        SidecarProcess(data_dir, *QUICK, "--working-memory-bytes", str(MIB), executed=True) as sidecar,
        sidecar.client() as client,
    ):
        stream = Stream(client, "s")
        stream.add(WARM_UP)  # fills the caches that have bounds of their own
        until_summarized(client, WARM_UP)
        before = rss_bytes(sidecar)
        assert stream.add(STREAMED) == WARM_UP + STREAMED
        until_summarized(client, WARM_UP + STREAMED)
        grown = rss_bytes(sidecar) - before
        stream.close()
    assert grown < STREAM_BYTES // 2


def test_a_long_session_is_summarised_without_reading_all_of_it_at_once(data_dir: Path) -> None:
    lazy = ("--summary-every-messages", "100000", "--summary-tail-tokens", "10000000")
    with SidecarProcess(data_dir, *QUICK, *lazy, executed=True) as sidecar, sidecar.client() as client:
        for session_id, count in (("short", 20), ("s", STREAMED)):
            stream = Stream(client, session_id)
            stream.add(count)
            stream.close()
        until_learned(client)  # what learning takes is not what a summary takes
        client.knowledge.Summarize(SummarizeRequest(session_id="short"), timeout=LONG_SECONDS)  # loads what it needs
        before = rss_bytes(sidecar)
        reset_peak(sidecar)
        answer = client.knowledge.Summarize(SummarizeRequest(session_id="s"), timeout=LONG_SECONDS)
        assert answer.summary.last_sequence == STREAMED
        assert rss_bytes(sidecar, "VmHWM") - before < STREAM_BYTES // 2


def test_the_write_ahead_log_is_bounded_when_messages_are_large(data_dir: Path) -> None:
    checkpoint_bytes, message_bytes = 4 * MIB, 900_000
    content = "x" * message_bytes
    sizes = []
    with SidecarProcess(data_dir, *QUICK, executed=True) as sidecar, sidecar.client() as client:
        for _ in range(60):
            client.add("s", content)
            sizes.append((data_dir / "journal.db-wal").stat().st_size)
    assert max(sizes) < 4 * checkpoint_bytes + 2 * message_bytes
