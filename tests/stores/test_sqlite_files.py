"""What the journal makes of its files: whose they are, what is left in them, and what it says when they are damaged."""

import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from memsidecar.domain.errors import DamagedFile, DiskFull, IdConflict, StartRefused
from memsidecar.domain.message import Draft
from memsidecar.domain.session import Policy, SessionKey
from memsidecar.stores.contract import (
    Append,
    Calibrate,
    Calibration,
    Command,
    Erase,
    Journal,
    Rewrite,
    Selection,
    SetPolicy,
    Ticket,
    Trim,
    TrimNow,
)
from memsidecar.stores.journal import SqliteJournal
from tests.conformance.said import (
    KEY,
    answer,
    append,
    call,
    carry_out,
    contents,
    draft,
    erase,
    known_head,
    read,
    rewrite,
    scored,
    shortened,
    trim,
)

OTHER = SessionKey("default", "s2")
PAGE = 4_096
LEAKY_SEEDS = [20, 21, 22, 23, 28, 35]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "data"


@contextmanager
def opened(folder: Path, checkpoint_bytes: int = 4 << 20) -> Iterator[SqliteJournal]:
    with closing(SqliteJournal(folder, checkpoint_bytes=checkpoint_bytes)) as journal:
        yield journal


def fill(folder: Path, messages: int = 200) -> None:
    """A journal of many pages, closed, so that all of it is in the main file."""
    with opened(folder) as journal:
        append(journal, *(draft(f"message {n} {'x' * 500}", message_id=f"m{n}") for n in range(messages)))


def copy_of_a_crash(folder: Path, messages: int = 30) -> Path:
    """What a kill -9 leaves: the files of a journal that was never closed, with a write-ahead log."""
    crashed = folder.with_name("crashed")
    with opened(folder) as journal:
        for number in range(messages):
            append(journal, draft(f"message {number} {'x' * 300}", message_id=f"m{number}"))
        shutil.copytree(folder, crashed)
    return crashed


def bytes_of(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(folder.iterdir()))


# Whose files they are


HOLD = """
import sys
from pathlib import Path
from memsidecar.stores.journal import SqliteJournal
journal = SqliteJournal(Path(sys.argv[1]))
print("ready", flush=True)
sys.stdin.read()
"""


@contextmanager
def another_process(script: str, folder: Path) -> Iterator[subprocess.Popen[str]]:
    """A process of its own that has said that it is ready; killed at the end."""
    command = [sys.executable, "-c", script, str(folder)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            assert process.stdout.readline() == "ready\n"
            yield process
        finally:
            process.kill()


def test_a_second_process_is_refused_and_told_who_holds_the_directory(folder: Path) -> None:
    with (
        another_process(HOLD, folder) as holder,
        pytest.raises(StartRefused, match=f"process {holder.pid}"),
        opened(folder),
    ):
        pass


def test_the_directory_is_free_after_its_holder_was_killed(folder: Path) -> None:
    with another_process(HOLD, folder):
        pass
    with opened(folder) as journal:
        append(journal, draft("a"))


def test_the_directory_is_free_after_a_start_that_was_refused(folder: Path) -> None:
    fill(folder)
    whole = (folder / "journal.db").read_bytes()
    (folder / "journal.db").write_bytes(b"no database" * 1_000)
    with pytest.raises(DamagedFile), opened(folder):
        pass
    (folder / "journal.db").write_bytes(whole)
    with opened(folder) as journal:
        assert len(contents(journal)) == 200


@pytest.mark.parametrize("pragma", ["user_version = 0", "user_version = 7", "application_id = 99"])
def test_another_programs_file_is_refused_and_left_as_it_was(folder: Path, pragma: str) -> None:
    folder.mkdir()
    with closing(sqlite3.connect(folder / "journal.db")) as foreign:
        foreign.execute("CREATE TABLE theirs(x)")
        foreign.execute(f"PRAGMA {pragma}")
    before = (folder / "journal.db").read_bytes()
    with pytest.raises(StartRefused, match="not a memsidecar journal"), opened(folder):
        pass
    assert (folder / "journal.db").read_bytes() == before


def test_a_file_of_a_newer_version_is_refused(folder: Path) -> None:
    fill(folder)
    with closing(sqlite3.connect(folder / "journal.db")) as newer:
        newer.execute("PRAGMA user_version = 99")
    with pytest.raises(StartRefused, match="newer memsidecar"), opened(folder):
        pass


def test_a_start_that_was_killed_before_its_tables_were_made_is_begun_again(folder: Path) -> None:
    folder.mkdir()
    with closing(sqlite3.connect(folder / "journal.db")) as begun:
        begun.execute("PRAGMA journal_mode = WAL")
    with opened(folder) as journal:
        append(journal, draft("a"))


def test_what_was_acknowledged_is_there_after_a_crash(folder: Path) -> None:
    with opened(copy_of_a_crash(folder)) as journal:
        assert [stored.sequence for stored in read(journal)] == list(range(1, 31))


# Damage is told, never served


def damage_header(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[:64] = bytes(64)
    path.write_bytes(content)


def zero_a_page_in_the_middle(path: Path) -> None:
    content = bytearray(path.read_bytes())
    middle = len(content) // PAGE // 2 * PAGE
    content[middle : middle + PAGE] = bytes(PAGE)
    path.write_bytes(content)


def cut_in_half(path: Path) -> None:
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // PAGE // 2 * PAGE])


def cut_to_nothing(path: Path) -> None:
    path.write_bytes(b"")


@pytest.mark.parametrize(
    "damage",
    [damage_header, zero_a_page_in_the_middle, cut_in_half, cut_to_nothing, Path.unlink],
    ids=lambda f: f.__name__,
)
def test_a_damaged_file_is_refused_by_name(folder: Path, damage: Callable[[Path], None]) -> None:
    fill(folder)
    damage(folder / "journal.db")
    with pytest.raises(DamagedFile, match=r"journal\.db") as refused, opened(folder):
        pass
    assert refused.value.file == str(folder / "journal.db")


def test_a_message_whose_bytes_have_rotted_is_not_served(folder: Path) -> None:
    fill(folder)
    path = folder / "journal.db"
    path.write_bytes(path.read_bytes().replace(b"message 77 xxx", b"message 77 xyx"))
    with opened(folder) as journal:
        with pytest.raises(DamagedFile, match="checksum"):
            contents(journal)
        assert len(contents(journal, before=70)) == 69


def test_a_write_ahead_log_damaged_in_the_middle_is_refused_and_left_as_it_was(folder: Path) -> None:
    crashed = copy_of_a_crash(folder)
    path = crashed / "journal.db-wal"
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 0xFF
    path.write_bytes(content)
    with pytest.raises(DamagedFile, match="was acknowledged") as refused, opened(crashed):
        pass
    assert refused.value.file == str(crashed / "journal.db")
    assert path.read_bytes() == content


def test_a_write_ahead_log_that_is_missing_is_refused(folder: Path) -> None:
    crashed = copy_of_a_crash(folder)
    (crashed / "journal.db-wal").unlink()
    with pytest.raises(DamagedFile), opened(crashed):
        pass


def test_what_is_left_can_be_opened_when_somebody_says_so(folder: Path) -> None:
    crashed = copy_of_a_crash(folder)
    path = crashed / "journal.db-wal"
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    (crashed / "journal.mark").unlink()
    with opened(crashed) as journal:
        left = [stored.sequence for stored in read(journal)]
        assert left == list(range(1, len(left) + 1))
        assert 0 < len(left) < 30
        append(journal, draft("goes on"))


# Erased is gone from every file


def write_in_every_way(journal: Journal, key: SessionKey, secret: str, messages: int) -> None:
    """Messages that were annotated, shortened once and twice, both, and pruned; the secret is in all versions."""
    for number in range(messages):
        one = draft(f"{secret} body {number}", message_id=f"{secret} id {number}", vector=f"{secret} vector".encode())
        append(journal, one, key=key)
    for number in range(0, messages, 3):
        carry_out(journal, Rewrite(key, "", f"{secret} id {number}", scored(number, f"{secret} mark")))
    for length in (20, 10):
        window = read(journal, key)[: messages // 2]
        trim(journal, shortened=[shortened(stored, f"{secret} short {length}", length) for stored in window], key=key)
    for number in range(0, messages, 5):
        carry_out(journal, Rewrite(key, "", f"{secret} id {number}", scored(number, f"{secret} again")))
    trim(journal, *range(1, messages // 3), key=key)


@pytest.mark.parametrize("whole", [True, False])
def test_erased_text_is_in_no_file(folder: Path, whole: bool) -> None:
    with opened(folder) as journal:
        append(journal, draft("kept"), key=OTHER)
        write_in_every_way(journal, KEY, "S3CRET", 60)
        carry_out(journal, SetPolicy(KEY, "", Policy(model="S3CRET model")))
        assert b"S3CRET" in bytes_of(folder)
        carry_out(journal, SetPolicy(KEY, "", None))
        erase(journal, whole=whole)
        assert b"S3CRET" not in bytes_of(folder)
        assert contents(journal, OTHER) == ["kept"]
    assert b"S3CRET" not in bytes_of(folder)


@pytest.mark.parametrize("seed", LEAKY_SEEDS)
def test_text_beside_what_was_erased_before_is_in_no_file_after_its_own_erasure(folder: Path, seed: int) -> None:
    """SQLite merges pages after deletions and leaves copies of what it moved; with these seeds it once did."""
    chance = random.Random(seed)
    keys = [SessionKey("default", f"k{number}z") for number in range(chance.randint(2, 12))]
    with opened(folder) as journal:
        for step in range(14):
            for number in range(chance.randint(1, 60)):
                append_some(journal, chance.choice(keys), f"{step}/{number}", chance)
            key = chance.choice(keys)
            erase(journal, key=key)
            assert f"{key.session_id} S3CRET".encode() not in bytes_of(folder)


def append_some(journal: Journal, key: SessionKey, name: str, chance: random.Random) -> None:
    secret = f"{key.session_id} S3CRET"
    sizes = [chance.choice([1, 10, 100, 700, 1_500, 3_000, 9_000]) for _ in range(chance.randint(1, 9))]
    append(
        journal,
        *(draft(f"{secret} {'y' * size}", message_id=f"{secret} {name} {place}") for place, size in enumerate(sizes)),
        key=key,
    )


def test_an_annotation_leaves_nothing_of_the_text_before_it(folder: Path) -> None:
    with opened(folder) as journal:
        append(journal, draft("a"))
        rewrite(journal, "a", scored(1, "0LDMARK"))
        rewrite(journal, "a", lambda stored: scored(2)(stored._replace(body=b"")))
    assert b"0LDMARK" not in (folder / "journal.db").read_bytes()


ERASE_AND_DIE = """
import os, signal, sys
from pathlib import Path
from memsidecar.stores.contract import Append, Erase, Ticket
from memsidecar.stores.journal import SqliteJournal
from tests.conformance.said import KEY, append, draft
from tests.stores.test_sqlite_files import OTHER

journal = SqliteJournal(Path(sys.argv[1]))
die = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
append(journal, draft("kept"), key=OTHER)
append(journal, *(draft(f"S3CRET {number}") for number in range(2_000)))
print("ready", flush=True)
if sys.stdin.readline() == "before the first step\\n":
    journal.listen(die)
    journal.submit(Ticket(Erase(KEY, ""), die))
else:
    # Groups take turns with steps: between the answers to these two lies at least one step, and not the last.
    second = Ticket(Append(OTHER, "", [draft("second")]), die)
    first = Ticket(Append(OTHER, "", [draft("first")]), lambda _: journal.submit(second))
    journal.submit(Ticket(Erase(KEY, ""), lambda _: None))
    journal.submit(first)
sys.stdin.read()
"""


@pytest.mark.parametrize("moment", ["before the first step", "between two steps"])
def test_erasing_goes_on_after_a_kill_in_the_middle(folder: Path, moment: str) -> None:
    with another_process(ERASE_AND_DIE, folder) as process:
        assert process.stdin is not None
        process.stdin.write(f"{moment}\n")
        process.stdin.flush()
        assert process.wait() == -signal.SIGKILL
    assert b"S3CRET" in bytes_of(folder)
    with opened(folder) as journal:
        assert contents(journal) == []
    # Closing finishes what was begun.
    assert b"S3CRET" not in bytes_of(folder)
    with opened(folder) as journal:
        assert contents(journal, OTHER)[0] == "kept"
        assert append(journal, draft("goes on")).results[0].sequence == 2_001


# Groups, full disks and the write-ahead log


@contextmanager
def held(journal: SqliteJournal) -> Iterator[None]:
    """Keep the committer busy, so that what is submitted meanwhile becomes one group."""
    reached, released = threading.Event(), threading.Event()

    def hold(_: object) -> None:
        reached.set()
        released.wait()

    journal.listen(hold)
    holding = Ticket(Append(SessionKey("default", "held"), "", [draft("held")]))
    journal.submit(holding)
    reached.wait()
    try:
        yield
    finally:
        released.set()
        holding.wait()


def submit_all(journal: Journal, *drafts: Draft) -> list[Ticket]:
    tickets = [Ticket(Append(KEY, "", [one])) for one in drafts]
    for ticket in tickets:
        journal.submit(ticket)
    return tickets


def test_a_refused_command_of_a_group_spoils_no_other(folder: Path) -> None:
    with opened(folder) as journal:
        with held(journal):
            tickets = submit_all(journal, draft("a"), draft("other", message_id="a"), draft("b"))
        assert tickets[0].wait().results[0].sequence == 1
        with pytest.raises(IdConflict):
            tickets[1].wait()
        assert tickets[2].wait().results[0].sequence == 2


def test_each_command_of_a_group_sees_all_before_it(folder: Path) -> None:
    with opened(folder) as journal:

        def decide() -> Trim:
            head = known_head(journal)
            return Trim(KEY, head.version, range(1, head.last_sequence))

        commands: list[Command] = [
            Append(KEY, "", [draft("a")]),
            Rewrite(KEY, "", "a", scored(7)),
            Append(KEY, "", [draft("b")]),
            TrimNow(KEY, decide),
            Append(KEY, "", [draft("a"), draft("c")]),
            Erase(KEY, ""),
            Append(KEY, "", [draft("a")]),
        ]
        tickets = [Ticket(command) for command in commands]
        with held(journal):
            for ticket in tickets:
                journal.submit(ticket)
        _, rewritten, _, trimmed, again, erased, anew = [ticket.wait() for ticket in tickets]
        assert rewritten.message.score == 7
        assert (trimmed.head.counts, trimmed.head.pruned_count) == ([0, 1, 0, 0], 1)
        assert [result.duplicate for result in again.results] == [True, False]
        assert erased.removed_count == 3
        assert (anew.results[0].sequence, anew.results[0].duplicate) == (4, False)


def test_two_late_answers_of_one_group_bring_their_call_back_once(folder: Path) -> None:
    with opened(folder) as journal:
        append(journal, draft("u1"), draft("u2"), call("c", "x", "y"), draft("u3"))
        trim(journal, 1, 2, 3)
        with held(journal):
            tickets = submit_all(journal, answer("ax", "x"), answer("ay", "y"))
        head = [ticket.wait() for ticket in tickets][-1].head
        assert (head.counts, head.pruned_count) == ([0, 1, 1, 2], 2)
        assert known_head(journal) == head


def test_code_of_a_caller_that_fails_spoils_no_other(folder: Path) -> None:
    def fails(_: object) -> Calibration:
        raise ArithmeticError("for the test")

    with opened(folder) as journal:
        with held(journal):
            bad = Ticket(Calibrate("n", "m", fails))
            journal.submit(bad)
            (good,) = submit_all(journal, draft("a"))
        with pytest.raises(ArithmeticError):
            bad.wait()
        assert good.wait().results[0].sequence == 1


def append_until_full(journal: Journal) -> int:
    for number in range(10_000):
        try:
            append(journal, draft(f"{number} {'x' * 1_000}", message_id=f"m{number}"))
        except DiskFull:
            return number
    raise AssertionError("the disk never became full")


def test_a_commit_that_finds_no_room_leaves_no_gap(folder: Path) -> None:
    with opened(folder) as journal:
        writer = journal._writer._connection
        (pages,) = writer.execute("PRAGMA page_count").fetchone()
        writer.execute(f"PRAGMA max_page_count = {pages + 50}")
        stored = append_until_full(journal)
        head = known_head(journal)
        assert head.last_sequence == len(read(journal)) == stored > 0
        with pytest.raises(DiskFull):
            append(journal, *(draft(f"batch {n} {'x' * 1_000}") for n in range(100)))
        assert known_head(journal) == head
        writer.execute("PRAGMA max_page_count = 1000000")
        assert append(journal, draft("room again")).results[0].sequence == stored + 1


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=6m", "tmpfs", disk], check=False, capture_output=True, text=True
    )
    if mounted.returncode:
        pytest.skip(f"a small disk needs the right to mount: {mounted.stderr.strip()}")
    yield disk
    subprocess.run(["umount", disk], check=True)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root may mount a small disk")
def test_a_full_disk_refuses_writes_serves_reads_and_still_erases(small_disk: Path) -> None:
    folder = small_disk / "data"
    with opened(folder) as journal:
        append(journal, draft("S3CRET"), key=OTHER)
        stored = append_until_full(journal)
        assert [one.sequence for one in read(journal)] == list(range(1, stored + 1))
        erase(journal, key=OTHER)
        assert b"S3CRET" not in bytes_of(folder)
        erase(journal)
        assert append(journal, draft("room again")).results[0].sequence == stored + 1
    with opened(folder) as journal:
        assert contents(journal) == ["room again"]


def test_the_write_ahead_log_stays_bounded_while_readers_follow_each_other(folder: Path) -> None:
    limit = 256 << 10
    over = threading.Event()

    def read_on(journal: Journal) -> None:
        while not over.is_set():
            journal.messages(KEY, Selection(newest_first=True, limit=50))

    with opened(folder, checkpoint_bytes=limit) as journal, ThreadPoolExecutor(4) as readers:
        append(journal, draft("first"))
        reading = [readers.submit(read_on, journal) for _ in range(4)]
        largest = 0
        for number in range(1_500):
            append(journal, draft(f"{number} {'x' * 1_000}"))
            largest = max(largest, journal.figures().wal_bytes)
        over.set()
        for one in reading:
            one.result()
        assert journal.figures().file_bytes > limit
    assert largest < 8 * limit
