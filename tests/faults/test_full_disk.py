"""A full disk: writes are refused with a reason, reads and erasures work, and writes resume by themselves."""

from collections.abc import Iterator
from pathlib import Path

import grpc
import pytest

from memsidecar.stores.sqlite.integrity import examine
from memsidecar.v1 import memory_pb2 as pb
from memsidecar.v1 import session_pb2
from memsidecar.v1.message_pb2 import Message, Role
from tests.support.process import CALL_SECONDS, Client, SidecarProcess, refusal
from tests.support.small_disk import ForeignFile, small_disk_at, write_until_full

DISK_BYTES = 4 << 20
LARGE = "x" * 30_000
NO_SUMMARIES = ("--summary-every-messages", "100000", "--summary-tail-tokens", "10000000")
"Summaries of large texts take longer than the tests. One test has the default."

FLAGS = ("--tokenizer", "chars4", "--ballast-bytes", "524288", "--wal-checkpoint-bytes", "262144", *NO_SUMMARIES)


@pytest.fixture
def disk_bytes() -> int:
    return DISK_BYTES


@pytest.fixture
def small_disk(data_dir: Path, disk_bytes: int) -> Iterator[Path]:
    with small_disk_at(data_dir, disk_bytes) as disk:
        yield disk


@pytest.fixture
def sidecar(small_disk: Path) -> Iterator[SidecarProcess]:
    with SidecarProcess(small_disk, *FLAGS) as running:
        yield running


def fill(client: Client, session_id: str, content: str) -> list[str]:
    """Add until the disk is full; return the acknowledged contents."""
    acked: list[str] = []

    def add(number: int) -> None:
        text = f"{number} {content}"
        client.add(session_id, text)
        acked.append(text)

    write_until_full(add)
    return acked


def check_contents(client: Client, expected: dict[str, list[str]]) -> None:
    for session_id, contents in expected.items():
        found = client.all(session_id)
        assert [message.content for message in found] == contents
        assert client.recent(session_id, len(contents) + 1)[-1:] == found[-1:]
        count = client.memory.Count(pb.CountRequest(session_id=session_id), timeout=CALL_SECONDS)
        assert count.stats.message_count == len(contents)


def check_after_restarts(sidecar: SidecarProcess, expected: dict[str, list[str]]) -> None:
    sidecar.kill()
    sidecar.start()
    with sidecar.client() as client:
        check_contents(client, expected)
    assert sidecar.stop() == 0
    assert examine(sidecar.data_dir) == []


def test_a_file_of_another_program_fills_the_disk(sidecar: SidecarProcess) -> None:
    foreign = ForeignFile(sidecar.data_dir)
    with sidecar.client() as client:
        expected = {"a": ["hello"], "b": ["world"]}
        client.add("a", "hello")
        client.add("b", "world")
        foreign.fill_disk()
        expected["c"] = fill(client, "c", LARGE)
        check_contents(client, expected)
        foreign.remove()
        client.add("a", LARGE)
        expected["a"].append(LARGE)
        check_contents(client, expected)
    check_after_restarts(sidecar, expected)


def test_the_journal_itself_fills_the_disk(sidecar: SidecarProcess) -> None:
    with sidecar.client() as client:
        expected = {"large": fill(client, "large", LARGE), "small": fill(client, "small", "y" * 500)}
        check_contents(client, expected)
    check_after_restarts(sidecar, expected)


@pytest.mark.parametrize("delete_session", [False, True], ids=["Clear", "DeleteSession"])
@pytest.mark.parametrize("by_foreign_file", [False, True], ids=["filled by the journal", "filled by a foreign file"])
def test_erasing_works_on_a_full_disk_and_frees_space(
    sidecar: SidecarProcess, delete_session: bool, by_foreign_file: bool
) -> None:
    with sidecar.client() as client:
        for n in range(20):
            client.add("erased", f"{n} {LARGE}")
        if by_foreign_file:
            ForeignFile(sidecar.data_dir).fill_disk()
        expected = {"kept": fill(client, "kept", LARGE)}
        erase(client, "erased", delete_session)
        expected["erased"] = []
        check_contents(client, expected)
        client.add("kept", LARGE)
        expected["kept"].append(LARGE)
    check_after_restarts(sidecar, expected)


@pytest.mark.parametrize("disk_bytes", [16 << 20])
@pytest.mark.parametrize("by_foreign_file", [False, True], ids=["filled by the journal", "filled by a foreign file"])
def test_erasing_works_with_a_log_larger_than_the_free_space(small_disk: Path, by_foreign_file: bool) -> None:
    """With default sizes the write-ahead log has megabytes that do not fit into the main file yet."""
    content = "x" * 200_000
    with SidecarProcess(small_disk, "--tokenizer", "chars4") as sidecar, sidecar.client() as client:
        for n in range(20):
            client.add("erased", f"{n} {content}")
        if by_foreign_file:
            ForeignFile(small_disk).fill_disk()
        fill(client, "kept", content)
        erase(client, "erased", False)
        client.add("kept", content)


def erase(client: Client, session_id: str, delete_session: bool) -> None:
    if delete_session:
        request = session_pb2.DeleteSessionRequest(session_id=session_id)
        assert client.sessions.DeleteSession(request, timeout=CALL_SECONDS).receipt.messages == 20
    else:
        assert client.memory.Clear(pb.ClearRequest(session_id=session_id), timeout=CALL_SECONDS).removed_count == 20


def test_a_batch_that_does_not_fit_stores_nothing_and_a_smaller_one_fits(sidecar: SidecarProcess) -> None:
    with sidecar.client() as client:
        client.add("a", "hello")
        messages = [Message(role=Role.ROLE_USER, content=f"{n} {LARGE}") for n in range(130)]
        batch = pb.AddBatchRequest(session_id="a", messages=messages)
        error = refusal(lambda: client.memory.AddBatch(batch, timeout=CALL_SECONDS))
        assert error.code is grpc.StatusCode.RESOURCE_EXHAUSTED and error.reason == "DISK_FULL" and error.retry
        check_contents(client, {"a": ["hello"]})
        assert client.add("a", "again").sequence == 2
    check_after_restarts(sidecar, {"a": ["hello", "again"]})


@pytest.mark.parametrize("cleanly", [False, True], ids=["killed", "stopped"])
def test_reads_work_when_the_sidecar_is_started_on_a_full_disk(sidecar: SidecarProcess, cleanly: bool) -> None:
    foreign = ForeignFile(sidecar.data_dir)
    foreign.write(1 << 18)  # so that its removal frees space, also where the sidecar left none
    with sidecar.client() as client:
        expected = {"a": fill(client, "a", LARGE)}
    if cleanly:
        sidecar.stop()
    else:
        sidecar.kill()
    foreign.fill_disk()
    sidecar.start()
    with sidecar.client() as client:
        check_contents(client, expected)
        expected["b"] = fill(client, "b", LARGE)
        foreign.remove()
        client.add("a", "again")
        expected["a"].append("again")
        check_contents(client, expected)
