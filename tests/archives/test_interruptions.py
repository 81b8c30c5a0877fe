"""Transfers that are interrupted at random moments, resumed, and complete."""

import gzip
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

import pytest
from grpc.aio import AioRpcError, Metadata

from memsidecar.api.status import rich_status, row_of
from memsidecar.cli.archive_commands import is_transient
from memsidecar.cli.outbox import Outbox
from memsidecar.domain import errors
from memsidecar.v1.message_pb2 import ROLE_USER, Message
from memsidecar.v1.session_pb2 import ArchiveRecord, ExportRequest, ListSessionsRequest
from tests.archives.conftest import FLAGS
from tests.archives.filled_memory import differences, export_records, fill, settle
from tests.scenarios.conversation import Conversation
from tests.scenarios.index_readiness import until_index_is_ready
from tests.support.process import Client, SidecarProcess
from tests.support.waiting import HANG_SECONDS, until

SEED = 20_261_118
ENVIRON = {"PYTHONPATH": ":".join(sys.path)}


def begin(address: str, command: str, *arguments: str) -> subprocess.Popen[bytes]:
    # Kills may follow each other faster than a busy machine makes progress: that is not what ends a command here.
    patience = ("--timeout", str(HANG_SECONDS))
    line = [sys.executable, "-m", "memsidecar", command, "--address", address, *patience, *arguments]
    return subprocess.Popen(line, env=ENVIRON, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def finish(process: subprocess.Popen[bytes]) -> tuple[int, str]:
    _, errors = process.communicate(timeout=HANG_SECONDS)
    return process.returncode, errors.decode()


def kill(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.communicate(timeout=HANG_SECONDS)


def duration_of(work: Callable[[], object]) -> float:
    start = time.monotonic()
    work()
    return time.monotonic() - start


def moments(count: int, seconds: float) -> list[float]:
    """Return times at which to interrupt something that takes so long."""
    chance = random.Random(SEED)
    return [chance.uniform(0.1, 1.0) * seconds for _ in range(count)]


def check_killed_commands(filled: Client, empty: Client, folder: Path, count: int) -> None:
    """Kill both commands again and again, and let them complete in the end."""
    file = folder / "memory.jsonl.gz"
    whole = folder / "whole.jsonl.gz"
    seconds = duration_of(lambda: finish(begin(filled.address, "export", "--out", str(whole))))
    for moment in moments(count, seconds):
        resume = ["--resume"] if (folder / "memory.jsonl.gz.partial.cursor").exists() else []
        export = begin(filled.address, "export", "--out", str(file), *resume)
        time.sleep(moment)
        kill(export)
        if file.exists():
            file.unlink()
    resume = ["--resume"] if (folder / "memory.jsonl.gz.partial.cursor").exists() else []
    assert finish(begin(filled.address, "export", "--out", str(file), *resume))[0] == 0
    for moment in moments(count, seconds):
        importer = begin(empty.address, "import", str(file))
        time.sleep(moment)
        kill(importer)
    code, errors = finish(begin(empty.address, "import", str(file)))
    assert code == 0, errors
    settle(empty)
    assert differences(filled, empty) == []


def test_killed_commands_are_repeated(filled: Client, empty: Client, tmp_path: Path) -> None:
    check_killed_commands(filled, empty, tmp_path, 2)


@pytest.fixture
def large(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """Return a client of a sidecar whose archive has several checkpoints."""
    with SidecarProcess(tmp_path_factory.mktemp("archives") / "large", *FLAGS) as sidecar, sidecar.client() as client:
        until_index_is_ready(sidecar)
        conversation = Conversation(client, "long")
        for first in range(0, 6_000, 500):
            conversation.add_batch(*(Message(role=ROLE_USER, content=f"line {first + at}") for at in range(500)))
        fill(client)
        yield client


@pytest.mark.long
def test_an_export_that_is_killed_often_is_resumed(large: Client, empty: Client, tmp_path: Path) -> None:
    file, cursor = tmp_path / "memory.jsonl.gz", tmp_path / "memory.jsonl.gz.partial.cursor"

    def saved() -> bytes:
        with suppress(FileNotFoundError):  # an export that completes removes it
            return cursor.read_bytes()
        return b""

    kills = 0
    while kills < 20:
        if file.exists():  # it was completed, perhaps right before the kill: begin another one
            file.unlink()
            cursor.unlink(missing_ok=True)
        export = begin(large.address, "export", "--out", str(file), *(["--resume"] if saved() else []))
        kills += killed_after_progress(export, saved) and not file.exists()
    resume = ["--resume"] if cursor.exists() else []
    assert finish(begin(large.address, "export", "--out", str(file), *resume))[0] == 0
    assert finish(begin(empty.address, "import", str(file)))[0] == 0
    settle(empty)
    assert differences(large, empty) == []


@pytest.mark.long
def test_an_import_that_is_killed_often_is_repeated(large: Client, empty: Client, tmp_path: Path) -> None:
    """An import that was completed between two kills is followed by one into another namespace."""
    file = tmp_path / "memory.jsonl"
    assert finish(begin(large.address, "export", "--out", str(file)))[0] == 0
    kills, namespace = 0, 0
    while kills < 20:
        importer = begin(empty.address, "import", "--namespace", f"n{namespace}", str(file))
        if killed_after_progress(importer, partial(message_count, empty, f"n{namespace}")):
            kills += 1
        else:
            namespace += 1
    for number in range(namespace + 1):
        code, errors = finish(begin(empty.address, "import", "--namespace", f"n{number}", str(file)))
        assert code == 0, errors
        settle(empty, f"n{number}")
        assert differences(large, empty, ("", f"n{number}")) == []


def killed_after_progress(process: subprocess.Popen[bytes], progress: Callable[[], object]) -> bool:
    """Kill the process as soon as its progress changes; return False if it ended by itself."""
    before = progress()
    until(lambda: process.poll() is not None or progress() != before)
    is_running = process.poll() is None
    kill(process)
    return is_running


def message_count(client: Client, namespace: str) -> int:
    return sum(
        session.stats.message_count + session.stats.pruned_count
        for session in client.sessions.ListSessions(ListSessionsRequest(namespace=namespace)).sessions
    )


def check_killed_sidecars(folder: Path, count: int) -> None:
    """Kill the sidecar under a running command again and again: the command waits and goes on."""
    with restartable(folder / "source") as source, restartable(folder / "target") as target:
        with source.client() as client:
            until_index_is_ready(source)
            fill(client)
        seconds = duration_of(lambda: finish(begin(source.address, "export", "--out", str(folder / "whole.jsonl"))))
        file = folder / "memory.jsonl"
        for sidecar, command in ((source, ("export", "--out", str(file))), (target, ("import", str(file)))):
            running = begin(sidecar.address, *command)
            for moment in moments(count, seconds):
                time.sleep(moment)
                sidecar.kill()
                sidecar.start()
            code, errors = finish(running)
            assert code == 0, errors
        with source.client() as left, target.client() as right:
            for sidecar, client in ((source, left), (target, right)):
                until_index_is_ready(sidecar)
                settle(client)
            assert differences(left, right) == []


@contextmanager
def restartable(data_dir: Path) -> Iterator[SidecarProcess]:
    """A sidecar that listens on the same address after each start."""
    socket = data_dir.with_suffix(".socket")
    with SidecarProcess(data_dir, *FLAGS, "--listen", f"unix:{socket}") as sidecar:
        yield sidecar


def test_a_killed_sidecar_is_waited_for(tmp_path: Path) -> None:
    check_killed_sidecars(tmp_path, 2)


@pytest.mark.long
def test_a_sidecar_that_is_killed_often_is_waited_for(tmp_path: Path) -> None:
    check_killed_sidecars(tmp_path, 20)


@pytest.mark.parametrize(("is_pipe", "compress"), [(False, bytes), (False, gzip.compress), (True, bytes)])
def test_an_import_is_interrupted_while_its_input_is_idle(
    empty: Client, tmp_path: Path, is_pipe: bool, compress: Callable[[bytes], bytes]
) -> None:
    """Standard input, or a named pipe, which cannot be closed during a read."""
    chance = random.Random(SEED)
    lines = [json.dumps({"role": "user", "content": f"message {at}"}) for at in range(2_000)]
    # After all complete lines, so much of the next one that no buffer keeps them.
    content = "\n".join([*lines, chance.randbytes(100_000).hex()]).encode()
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with begin(empty.address, "import", str(pipe) if is_pipe else "-", "--format", "jsonl") as importer:
        assert importer.stdin is not None
        with pipe.open("wb") if is_pipe else importer.stdin as output:
            output.write(compress(content))
            output.flush()
            until(lambda: message_count(empty, "default") == len(lines))
            importer.send_signal(signal.SIGINT)
            assert importer.wait(HANG_SECONDS) == 130
        assert importer.stderr is not None
        assert importer.stderr.read() == b"memsidecar import: interrupted\n"


def test_a_new_stream_sends_again_what_is_not_acknowledged_while_the_input_is_idle() -> None:
    more = threading.Event()

    def records() -> Iterator[tuple[int, ArchiveRecord]]:
        yield 1, ArchiveRecord(session_id="one")
        yield 2, ArchiveRecord(session_id="two")
        more.wait(HANG_SECONDS)
        yield 3, ArchiveRecord(session_id="three")

    outbox = Outbox(records(), "default", override_erasures=False)
    outbox.start()
    old, new = outbox.requests(), outbox.requests()
    assert [next(old).record.session_id for _ in range(2)] == ["one", "two"]
    outbox.acknowledge(1)
    assert (outbox.first_line, next(new).record.session_id) == (2, "two")
    assert list(old) == []
    outbox.acknowledge(1)
    more.set()
    assert [request.record.session_id for request in new] == ["three"]


@pytest.mark.parametrize(
    ("error", "transient"),
    [
        (errors.ShuttingDown(), True),
        (errors.RateLimited("default"), True),
        (errors.QuotaExceeded("bytes of RATE_LIMITED", 1), False),
        (errors.InvalidField("record", "is required"), False),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_command_tries_again_where_that_may_help(error: errors.SidecarError, transient: bool) -> None:
    status = rich_status(error)
    trailing = Metadata(("grpc-status-details-bin", status.SerializeToString()))
    failure = AioRpcError(row_of(error).code, Metadata(), trailing, status.message)
    assert is_transient(failure) == transient
    bare = AioRpcError(row_of(error).code, Metadata(), Metadata())
    assert is_transient(bare) == isinstance(error, errors.ShuttingDown)


def test_an_export_ends_when_its_sidecar_stops(tmp_path: Path) -> None:
    with SidecarProcess(tmp_path / "data", *FLAGS) as sidecar, sidecar.client() as client:
        for at in range(2_000):
            client.add("s", f"message {at}")
        export = begin(sidecar.address, "export", "--timeout", "0.5", "--out", str(tmp_path / "x.jsonl"))
        until(lambda: (tmp_path / "x.jsonl.partial").exists() or export.poll() is not None)
        assert sidecar.stop() == 0
        code, errors = finish(export)
        assert code == 0 or sidecar.address in errors, errors
        assert (tmp_path / "x.jsonl").exists() == (code == 0)


def test_nothing_is_left_of_a_cancelled_export(filled: Client) -> None:
    """A client that goes away frees the thread and the stream: the next export is whole."""
    for _ in range(40):
        stream = filled.sessions.Export(ExportRequest())
        next(iter(stream))
        stream.cancel()
    assert len(export_records(filled)) > 100
