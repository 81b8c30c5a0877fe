"""A damaged journal is refused or answered with DATA_LOSS, never served as if it were whole; the doctor says so."""

import random
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

import grpc
import pytest

from memsidecar.domain.errors import DataCorrupted
from memsidecar.domain.session import SessionKey
from memsidecar.stores.contract import MessageQuery
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
SESSIONS = ("a", "b")

Contents = dict[str, list[str]]


class Original:
    """A journal with entries in the file and acknowledged ones in its log, as kill -9 leaves it.

    Its files are copied while it is open, and without a sidecar around it: one that learns in the background may be
    killed in the middle of a commit that nobody was told of, and then the end of its log says nothing.
    """

    def __init__(self, directory: Path) -> None:
        alive = directory.with_name("alive")
        self._directory = directory
        self.said: Contents = {session_id: [] for session_id in SESSIONS}
        with SidecarProcess(alive, *FLAGS) as sidecar:
            with sidecar.client() as client:
                self._talk(client.add, 60)
            assert sidecar.stop() == 0
        with closing(SqliteJournal(alive, ballast_bytes=0)) as journal:
            self._talk(partial(append_to, journal), 30)
            shutil.copytree(alive, directory)

    def _talk(self, add: Callable[[str, str], object], messages: int) -> None:
        for n in range(messages):
            session_id = SESSIONS[n % len(SESSIONS)]
            text = f"{session_id} {len(self.said[session_id])} " + "word " * (n * 37 % 900)
            add(session_id, text)
            self.said[session_id].append(text)

    def copy(self, to: Path) -> Path:
        shutil.copytree(self._directory, to)
        return to

    def copy_at_rest(self, to: Path) -> Path:
        """The same, closed in good order: everything is in the file."""
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
    "somebody else's file": lambda db: overwrite(db, 0, b"# A text\n" * 1000),
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
    """The file is damaged when all is in it, because a log that has the damaged pages anew would heal them."""
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
    """Start it with the expectation that it refuses; one that starts does not end, and fails the test."""
    listen = ("--listen", "127.0.0.1:0", "--health-listen", "127.0.0.1:0")
    return run("serve", "--data-dir", str(directory), *FLAGS, *listen, timeout=CALL_SECONDS)


@pytest.mark.parametrize("damage", DAMAGES)
def test_every_damage_is_noticed_by_doctor_and_store_which_change_nothing(
    original: Original, data_dir: Path, damage: str
) -> None:
    """What is damaged may still be saved by somebody who knows how, but not after it was written to."""
    before = contents_of(damaged(original, damage, data_dir))
    assert not doctor_in_process(data_dir)
    assert contents_of(data_dir) == before
    with pytest.raises(DataCorrupted, match=re.escape("journal.db")):
        SqliteJournal(data_dir, ballast_bytes=0)
    assert contents_of(data_dir) == before


def doctor_in_process(directory: Path) -> bool:
    """Whether the doctor found nothing."""
    return (directory / "journal.db").exists() and not examine(directory)


def contents_of(directory: Path) -> dict[str, bytes]:
    """The files, but for the log's shared memory, which is made anew from it, and for a log with nothing in it."""
    contents = {path.name: path.read_bytes() for path in directory.glob("journal.*") if path.suffix != ".db-shm"}
    return {name: content for name, content in contents.items() if content or name == "journal.db"}


# -- damage in the middle


def read_or_damaged(journal: SqliteJournal, session_id: str) -> list[str] | None:
    try:
        page = journal.messages(SessionKey("default", session_id), MessageQuery(limit=1 << 30, max_bytes=1 << 30))
    except DataCorrupted:
        return None
    return [Message.FromString(stored.body).content for stored in page.messages]


def check_not_served(directory: Path, said: Contents) -> bool:
    """Whether it was refused at all: what is answered nevertheless must be the truth."""
    try:
        journal = SqliteJournal(directory, read_connections=1, ballast_bytes=0)
    except DataCorrupted:
        return True
    with closing(journal):
        read = {session_id: read_or_damaged(journal, session_id) for session_id in said}
    for session_id, contents in read.items():
        assert contents in (None, said[session_id])
    return None in read.values()


def pages_of(db: Path) -> Iterator[int]:
    yield from range(db.stat().st_size // PAGE_BYTES)


def test_a_zeroed_page_anywhere_is_noticed_by_the_store_and_by_the_doctor(original: Original, tmp_path: Path) -> None:
    whole = original.copy_at_rest(tmp_path / "whole")
    for page in pages_of(whole / "journal.db"):
        directory = tmp_path / f"page-{page}"
        shutil.copytree(whole, directory)
        overwrite(directory / "journal.db", page * PAGE_BYTES, bytes(PAGE_BYTES))
        assert not doctor_in_process(directory), f"the doctor did not notice that page {page} is zeroed"
        assert check_not_served(directory, original.said), f"page {page} is zeroed, and nobody noticed"


def test_a_flipped_bit_in_any_text_is_answered_with_damage(original: Original, tmp_path: Path) -> None:
    whole = original.copy_at_rest(tmp_path / "whole")
    content = (whole / "journal.db").read_bytes()
    for session_id, texts in original.said.items():
        for text in texts[::5]:
            directory = tmp_path / f"{session_id}-{texts.index(text)}"
            shutil.copytree(whole, directory)
            flip(directory / "journal.db", place_in(content, text))
            assert not doctor_in_process(directory)
            assert check_not_served(directory, original.said)


def place_in(file: bytes, text: str) -> int:
    """Where a message says it, and not where a summary repeats it: by how a message's content begins."""
    beginning = Message(content=text).SerializeToString()[:9]
    assert file.count(beginning) == 1
    return file.index(beginning) + len(beginning) - 1


def test_a_flipped_bit_in_a_summary_is_answered_with_damage(data_dir: Path) -> None:
    """What was said is whole, and is answered."""
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


def test_a_flipped_bit_is_answered_with_data_loss_that_names_the_file(original: Original, data_dir: Path) -> None:
    original.copy_at_rest(data_dir)
    text = original.said["a"][3]
    flip(data_dir / "journal.db", place_in((data_dir / "journal.db").read_bytes(), text))
    with SidecarProcess(data_dir, *FLAGS) as sidecar, sidecar.client() as client:
        for said in (refusal(lambda: client.all("a")), refusal(lambda: client.recent("a", 1000))):
            assert said.code is grpc.StatusCode.DATA_LOSS and said.reason == "DATA_CORRUPTED"
            assert said.metadata["file"] == str(data_dir / "journal.db")
        assert [message.content for message in client.all("b")] == original.said["b"], "the other session is whole"
    assert doctor(data_dir).returncode == 1


# -- the doctor on journals that are whole


def test_the_doctor_finds_a_good_journal_whole(original: Original, tmp_path: Path) -> None:
    for directory in (original.copy(tmp_path / "killed"), original.copy_at_rest(tmp_path / "stopped")):
        examined = doctor(directory)
        assert (examined.returncode, examined.stdout.strip()) == (0, f"{directory}: whole")


def test_the_doctor_finds_a_journal_whole_after_every_kind_of_write(data_dir: Path) -> None:
    with SidecarProcess(data_dir, *FLAGS) as sidecar:
        with sidecar.client() as client:
            write_everything(client)
        assert sidecar.stop() == 0
    assert examine(data_dir) == []


def write_everything(client: Client) -> None:
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


def test_the_doctor_keeps_out_of_a_journal_in_use(original: Original, data_dir: Path) -> None:
    original.copy(data_dir)
    with SidecarProcess(data_dir, *FLAGS):
        examined = doctor(data_dir)
    assert examined.returncode == 1 and "in use" in examined.stderr
