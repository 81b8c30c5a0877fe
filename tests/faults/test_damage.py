"""A damaged journal is refused at start or its reads fail with DATA_LOSS, and the doctor finds the damage."""

import random
import re
import shutil
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

import grpc
import pytest

from memsidecar.domain.errors import DataCorrupted
from memsidecar.domain.session import SessionKey
from memsidecar.stores.contract import MessageQuery, Scope
from memsidecar.stores.sqlite.integrity import examine
from memsidecar.stores.sqlite.journal import SqliteJournal
from memsidecar.v1 import memory_pb2 as pb
from memsidecar.v1.knowledge_pb2 import SummarizeRequest, SummarizeResponse, Summary
from memsidecar.v1.message_pb2 import Message, Role, ToolCall
from tests.conformance.builders import append, draft
from tests.support.forked import run
from tests.support.process import CALL_SECONDS, Client, SidecarProcess, refusal

PAGE_BYTES = 4096
FLAGS = ("--tokenizer", "chars4", "--ballast-bytes", "0")
NO_SUMMARIES = ("--summary-every-messages", "100000", "--summary-tail-tokens", "10000000")
SESSIONS = ("a", "b")

Contents = dict[str, list[str]]


class Original:
    """A journal with entries in the main file and in the write-ahead log, as SIGKILL leaves it.

    The files are copied while it is open, without a sidecar: background tasks of a sidecar may be killed during an
    unacknowledged commit, and then a truncated log is no damage.
    """

    def __init__(self, directory: Path) -> None:
        alive = directory.with_name("alive")
        self._directory = directory
        self.contents: Contents = {session_id: [] for session_id in SESSIONS}
        # Whether a summary is made before the stop depends on the speed of the machine.
        with SidecarProcess(alive, *FLAGS, *NO_SUMMARIES) as sidecar:
            with sidecar.client() as client:
                self._add(client.add, 60)
            assert sidecar.stop() == 0
        with closing(SqliteJournal(alive, ballast_bytes=0)) as journal:
            self._add(partial(append_to, journal), 30)
            shutil.copytree(alive, directory)

    def _add(self, add: Callable[[str, str], object], messages: int) -> None:
        for n in range(messages):
            session_id = SESSIONS[n % len(SESSIONS)]
            text = f"{session_id} {len(self.contents[session_id])} " + "word " * (n * 37 % 900)
            add(session_id, text)
            self.contents[session_id].append(text)

    def copy(self, to: Path) -> Path:
        shutil.copytree(self._directory, to)
        return to

    def copy_at_rest(self, to: Path) -> Path:
        """Copy the journal after a clean close: all entries are in the main file."""
        SqliteJournal(self.copy(to), ballast_bytes=0).close()
        return to


def append_to(journal: SqliteJournal, session_id: str, text: str) -> None:
    append(journal, draft(text, message_id=f"id of {text}"), key=SessionKey("default", session_id))


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Original:
    return Original(tmp_path_factory.mktemp("damage") / "data")


def doctor(directory: Path) -> subprocess.CompletedProcess[str]:
    return run("doctor", "--data-dir", str(directory), timeout=CALL_SECONDS)


def overwrite(path: Path, at: int, content: bytes) -> None:
    with path.open("r+b") as file:
        file.seek(at)
        file.write(content)


def flip(path: Path, at: int) -> None:
    overwrite(path, at, bytes([path.read_bytes()[at] ^ 0x10]))


def cut(path: Path, share: float) -> None:
    with path.open("r+b") as file:
        file.truncate(int(path.stat().st_size * share))


FILE_DAMAGES: dict[str, Callable[[Path], None]] = {
    "garbage in the header": lambda db: overwrite(db, 0, random.Random(1).randbytes(100)),
    "garbage in the first page": lambda db: overwrite(db, 100, random.Random(2).randbytes(PAGE_BYTES - 100)),
    "a zeroed page in the middle": lambda db: overwrite(db, 5 * PAGE_BYTES, bytes(PAGE_BYTES)),
    "a file cut in the middle": lambda db: cut(db, 0.5),
    "an empty file": lambda db: cut(db, 0),
    "a deleted file": lambda db: db.unlink(),
    "a file of another program": lambda db: overwrite(db, 0, b"# A text\n" * 1000),
}
LOG_DAMAGES: dict[str, Callable[[Path], None]] = {
    "a deleted log": lambda wal: wal.unlink(),
    "an empty log": lambda wal: cut(wal, 0),
    "a log cut in the middle": lambda wal: cut(wal, 0.5),
    "a log without its last byte": lambda wal: cut(wal, 1 - 1 / wal.stat().st_size),
    "garbage in the log's header": lambda wal: overwrite(wal, 0, random.Random(3).randbytes(32)),
    "a flipped bit in the log": lambda wal: flip(wal, wal.stat().st_size // 2),
    "a zeroed page in the log": lambda wal: overwrite(wal, 32 + 24, bytes(PAGE_BYTES)),
    "a log whose file is gone": lambda wal: wal.with_name("journal.db").unlink(),
}
DAMAGES = [*FILE_DAMAGES, *LOG_DAMAGES]


def damaged(original: Original, damage: str, directory: Path) -> Path:
    """Damage a copy. The main file is damaged after a clean close, because a log with newer pages would repair it."""
    if damage in FILE_DAMAGES:
        FILE_DAMAGES[damage](original.copy_at_rest(directory) / "journal.db")
    else:
        LOG_DAMAGES[damage](original.copy(directory) / "journal.db-wal")
    return directory


@pytest.mark.parametrize("damage", ["a zeroed page in the middle", "a deleted file", "a flipped bit in the log"])
def test_a_damaged_journal_is_not_served(original: Original, data_dir: Path, damage: str) -> None:
    refused = serve(damaged(original, damage, data_dir))
    assert (refused.returncode, refused.stdout) == (1, ""), "it was started"
    assert "journal.db" in refused.stderr and "Traceback" not in refused.stderr
    examined = doctor(data_dir)
    assert examined.returncode == 1
    assert "journal" in examined.stdout + examined.stderr and "whole" not in examined.stdout


def serve(directory: Path) -> subprocess.CompletedProcess[str]:
    """Run a start that must be refused; one that succeeds does not end, and fails the test."""
    listen = ("--listen", "127.0.0.1:0", "--health-listen", "127.0.0.1:0", "--http-listen", "")
    return run("serve", "--data-dir", str(directory), *FLAGS, *listen, timeout=CALL_SECONDS)


@pytest.mark.parametrize("damage", DAMAGES)
def test_doctor_and_store_detect_each_damage_and_change_nothing(
    original: Original, data_dir: Path, damage: str
) -> None:
    """A damaged file may still be recovered by hand, but not after a write."""
    before = contents_of(damaged(original, damage, data_dir))
    assert not doctor_in_process(data_dir)
    assert contents_of(data_dir) == before
    with pytest.raises(DataCorrupted, match=re.escape("journal.db")):
        SqliteJournal(data_dir, ballast_bytes=0)
    assert contents_of(data_dir) == before


def doctor_in_process(directory: Path) -> bool:
    """Return whether the doctor finds no damage."""
    return (directory / "journal.db").exists() and not examine(directory)


def contents_of(directory: Path) -> dict[str, bytes]:
    """Return the files, except shared memory, which SQLite rebuilds from the log, and an empty log."""
    contents = {path.name: path.read_bytes() for path in directory.glob("journal.*") if path.suffix != ".db-shm"}
    return {name: content for name, content in contents.items() if content or name == "journal.db"}


# -- damage in the middle


def read_or_damaged(journal: SqliteJournal, session_id: str) -> list[str] | None:
    try:
        page = journal.messages(SessionKey("default", session_id), MessageQuery(limit=1 << 30, max_bytes=1 << 30))
    except DataCorrupted:
        return None
    return [Message.FromString(stored.body).content for stored in page.messages]


def is_detected(directory: Path, expected: Contents) -> bool:
    """Return whether the start or a read failed; successful reads must return what was written."""
    try:
        journal = SqliteJournal(directory, read_connections=1, ballast_bytes=0)
    except DataCorrupted:
        return True
    with closing(journal):
        read = {session_id: read_or_damaged(journal, session_id) for session_id in expected}
    for session_id, contents in read.items():
        assert contents in (None, expected[session_id])
    return None in read.values()


def pages_of(db: Path) -> Iterator[int]:
    yield from range(db.stat().st_size // PAGE_BYTES)


def test_store_and_doctor_detect_each_zeroed_page(original: Original, tmp_path: Path) -> None:
    whole = original.copy_at_rest(tmp_path / "whole")
    for page in pages_of(whole / "journal.db"):
        directory = tmp_path / f"page-{page}"
        shutil.copytree(whole, directory)
        overwrite(directory / "journal.db", page * PAGE_BYTES, bytes(PAGE_BYTES))
        assert not doctor_in_process(directory), f"the doctor did not detect that page {page} is zeroed"
        assert is_detected(directory, original.contents), f"the store did not detect that page {page} is zeroed"


def test_a_flipped_bit_in_a_text_is_detected(original: Original, tmp_path: Path) -> None:
    whole = original.copy_at_rest(tmp_path / "whole")
    content = (whole / "journal.db").read_bytes()
    for session_id, texts in original.contents.items():
        for text in texts[::5]:
            directory = tmp_path / f"{session_id}-{texts.index(text)}"
            shutil.copytree(whole, directory)
            flip(directory / "journal.db", offset_of(content, text))
            assert not doctor_in_process(directory)
            assert is_detected(directory, original.contents)


def offset_of(file: bytes, text: str) -> int:
    """Return the offset in a message, not in a summary: by the encoding of a message's content."""
    prefix = Message(content=text).SerializeToString()[:9]
    assert file.count(prefix) == 1
    return file.index(prefix) + len(prefix) - 1


@pytest.mark.parametrize("other", ["lsn - 1", "lsn + 1000000"], ids=["another message", "nothing"])
def test_a_message_with_the_body_of_another_is_detected(original: Original, data_dir: Path, other: str) -> None:
    """Both bodies match their checksums."""
    original.copy_at_rest(data_dir)
    with closing(sqlite3.connect(data_dir / "journal.db")) as connection, connection:
        connection.execute(f"UPDATE messages SET lsn = {other}, displayed_lsn = {other} WHERE sequence = 7")
    assert not doctor_in_process(data_dir)
    with closing(SqliteJournal(data_dir, ballast_bytes=0)) as journal:
        assert [read_or_damaged(journal, session_id) for session_id in SESSIONS] == [None, None]
        with pytest.raises(DataCorrupted):
            journal.scan(Scope("default"), None, 1_000)


@pytest.mark.parametrize("text", [b"sessionssessions", b"default"], ids=["schema", "names"])
def test_a_text_that_is_no_utf8_is_detected(original: Original, tmp_path: Path, text: bytes) -> None:
    """In each place of the text: in the schema, in an index, in a row."""
    whole = original.copy_at_rest(tmp_path / "whole")
    content = (whole / "journal.db").read_bytes()
    places = [found.start() for found in re.finditer(re.escape(text), content)]
    assert places
    for place in places:
        directory = tmp_path / str(place)
        shutil.copytree(whole, directory)
        overwrite(directory / "journal.db", place, b"\xff" * len(text))
        assert not doctor_in_process(directory)
        assert is_detected(directory, original.contents), f"the store did not detect the damage at {place}"


def test_a_flipped_bit_in_a_summary_is_detected(data_dir: Path) -> None:
    """The messages are whole, and are returned."""
    db = data_dir / "journal.db"
    with SidecarProcess(data_dir, *FLAGS) as sidecar:
        with sidecar.client() as client:
            client.add("s", "The house in Lisbon was built in 1950.")
            text = summary_of(client)
        assert sidecar.stop() == 0
        flip(db, db.read_bytes().index(Summary(text=text).SerializeToString()) + 10)
        assert not doctor_in_process(data_dir)
        sidecar.start()
        with sidecar.client() as client:
            assert refusal(lambda: summary_of(client)).reason == "DATA_CORRUPTED"
            assert len(client.all("s")) == 1


def summary_of(client: Client) -> str:
    answer: SummarizeResponse = client.knowledge.Summarize(SummarizeRequest(session_id="s"), timeout=CALL_SECONDS)
    return answer.summary.text


def test_a_read_of_a_flipped_bit_is_data_loss_with_the_file_name(original: Original, data_dir: Path) -> None:
    original.copy_at_rest(data_dir)
    text = original.contents["a"][3]
    flip(data_dir / "journal.db", offset_of((data_dir / "journal.db").read_bytes(), text))
    with SidecarProcess(data_dir, *FLAGS) as sidecar, sidecar.client() as client:
        for error in (refusal(lambda: client.all("a")), refusal(lambda: client.recent("a", 1000))):
            assert error.code is grpc.StatusCode.DATA_LOSS and error.reason == "DATA_CORRUPTED"
            assert error.metadata["file"] == str(data_dir / "journal.db")
        assert [message.content for message in client.all("b")] == original.contents["b"], "the other session is whole"
    assert doctor(data_dir).returncode == 1


# -- the doctor on journals that are whole


def test_the_doctor_finds_no_damage_in_a_whole_journal(original: Original, tmp_path: Path) -> None:
    for directory in (original.copy(tmp_path / "killed"), original.copy_at_rest(tmp_path / "stopped")):
        examined = doctor(directory)
        assert (examined.returncode, examined.stdout.strip()) == (0, f"{directory}: whole")


def test_the_doctor_finds_no_damage_after_each_kind_of_write(data_dir: Path) -> None:
    with SidecarProcess(data_dir, *FLAGS) as sidecar:
        with sidecar.client() as client:
            write_all_kinds(client)
        assert sidecar.stop() == 0
    assert examine(data_dir) == []


def write_all_kinds(client: Client) -> None:
    for n in range(5):
        client.add("s", f"question {n}", id=f"q{n}")
        call = ToolCall(id=f"call{n}", name="search", arguments_json="{}")
        client.add("s", "", role=Role.ROLE_ASSISTANT, tool_calls=[call])
        client.add("s", "result " * 2000, role=Role.ROLE_TOOL, tool_call_id=f"call{n}", id=f"r{n}")
    prune = pb.PruneRequest(session_id="s", max_tokens=8_000, overflow=True)
    assert client.memory.Prune(prune, timeout=CALL_SECONDS).shortened_ids
    for message_id in ("q1", "r1", "r4"):
        client.memory.Annotate(
            pb.AnnotateRequest(session_id="s", message_id=message_id, evaluation_score=3), timeout=CALL_SECONDS
        )
    for n in range(5):
        client.add("pruned", f"{n} " + "word " * 100)
    client.memory.Prune(pb.PruneRequest(session_id="pruned", max_tokens=300), timeout=CALL_SECONDS)
    client.add("cleared", "hello")
    client.memory.Clear(pb.ClearRequest(session_id="cleared"), timeout=CALL_SECONDS)


def test_the_doctor_refuses_a_journal_in_use(original: Original, data_dir: Path) -> None:
    original.copy(data_dir)
    with SidecarProcess(data_dir, *FLAGS):
        examined = doctor(data_dir)
    assert examined.returncode == 1 and "in use" in examined.stderr
