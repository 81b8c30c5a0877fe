"""Group commit, full disks, and the size of the write-ahead log."""

import sqlite3
import threading
import zlib
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from memsidecar.domain.errors import DiskFull, FatalStoreError, IdConflict, ShuttingDown
from memsidecar.domain.message import Draft
from memsidecar.domain.session import SessionKey
from memsidecar.domain.statistics import Distribution
from memsidecar.stores.contract import (
    Append,
    Calibrate,
    Calibration,
    Command,
    DeleteRecord,
    Erase,
    Journal,
    PendingCommand,
    RecordKind,
    UpdateMessage,
    UpdateWindow,
    UpdateWindowExclusive,
)
from memsidecar.stores.group_commit import Committer
from memsidecar.stores.sqlite import schema, session_commands, wal, writer_state
from memsidecar.stores.sqlite.journal import SqliteJournal
from tests.conformance.builders import (
    ANN,
    KEY,
    answer,
    append,
    call,
    contents,
    draft,
    erase,
    execute,
    known_head,
    new_record,
    read,
    scored,
    update_window,
    upsert,
)
from tests.stores.directories import OTHER, another_process, bytes_of, opened
from tests.support.small_disk import small_disk_at
from tests.support.waiting import HANG_SECONDS


def test_a_committer_that_fails_between_groups_refuses_all_and_says_so() -> None:
    reached, failures = threading.Event(), list[FatalStoreError]()

    def fail() -> None:
        reached.wait()
        raise IsADirectoryError("ballast")

    committer = Committer(lambda _: None, fail, failures.append, 0, Distribution(()))
    waiting = PendingCommand(Append(KEY, "", (draft("a"),)))
    committer.submit(waiting)
    reached.set()
    with pytest.raises(FatalStoreError, match="ballast"):
        waiting.wait()
    committer.close()
    assert len(failures) == 1
    with pytest.raises(ShuttingDown):
        committer.submit(PendingCommand(Append(KEY, "", (draft("b"),))))


@contextmanager
def committer_held(journal: SqliteJournal) -> Iterator[None]:
    """Block the committer, so that the commands submitted meanwhile become one group."""
    reached, released = threading.Event(), threading.Event()

    def block(_: object) -> None:
        reached.set()
        released.wait()

    journal.subscribe(block)
    blocking = PendingCommand(Append(SessionKey("default", "blocking"), "", [draft("blocking")]))
    journal.submit(blocking)
    reached.wait()
    try:
        yield
    finally:
        released.set()
        blocking.wait()


def submit_all(journal: Journal, *drafts: Draft) -> list[PendingCommand]:
    pending = [PendingCommand(Append(KEY, "", [message])) for message in drafts]
    for pending_command in pending:
        journal.submit(pending_command)
    return pending


def test_a_rejected_command_of_a_group_does_not_affect_the_others(folder: Path) -> None:
    with opened(folder) as journal:
        with committer_held(journal):
            pending = submit_all(journal, draft("a"), draft("other", message_id="a"), draft("b"))
        assert pending[0].wait().results[0].sequence == 1
        with pytest.raises(IdConflict):
            pending[1].wait()
        assert pending[2].wait().results[0].sequence == 2


def test_each_command_of_a_group_sees_all_before_it(folder: Path) -> None:
    with opened(folder) as journal:

        def decide() -> UpdateWindow:
            head = known_head(journal)
            return UpdateWindow(KEY, head.version, range(1, head.last_sequence))

        commands: list[Command] = [
            Append(KEY, "", [draft("a")]),
            UpdateMessage(KEY, "", "a", scored(7)),
            Append(KEY, "", [draft("b")]),
            UpdateWindowExclusive(KEY, decide),
            Append(KEY, "", [draft("a"), draft("c")]),
            Erase(KEY, ""),
            Append(KEY, "", [draft("a")]),
        ]
        pending = [PendingCommand(command) for command in commands]
        with committer_held(journal):
            for pending_command in pending:
                journal.submit(pending_command)
        _, updated, _, trimmed, again, erased, appended = [pending_command.wait() for pending_command in pending]
        assert updated.message.score == 7
        assert (trimmed.head.counts, trimmed.head.pruned_count) == ([0, 1, 0, 0], 1)
        assert [result.duplicate for result in again.results] == [True, False]
        assert erased.counts.messages == 3
        assert (appended.results[0].sequence, appended.results[0].duplicate) == (4, False)


def test_two_late_answers_of_one_group_restore_their_call_once(folder: Path) -> None:
    with opened(folder) as journal:
        append(journal, draft("u1"), draft("u2"), call("c", "x", "y"), draft("u3"))
        update_window(journal, 1, 2, 3)
        with committer_held(journal):
            pending = submit_all(journal, answer("ax", "x"), answer("ay", "y"))
        head = [pending_command.wait() for pending_command in pending][-1].head
        assert (head.counts, head.pruned_count) == ([0, 1, 1, 2], 2)
        assert known_head(journal) == head


def test_a_failing_callback_of_a_command_does_not_affect_the_others(folder: Path) -> None:
    def fails(_: object) -> Calibration:
        raise ArithmeticError("for the test")

    with opened(folder) as journal:
        with committer_held(journal):
            bad = PendingCommand(Calibrate("n", "m", fails))
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


def test_a_commit_that_fails_on_a_full_disk_leaves_no_gap(folder: Path) -> None:
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
        assert append(journal, draft("space again")).results[0].sequence == stored + 1


def test_a_write_that_would_leave_no_space_for_a_checkpoint_is_rejected_and_an_erasure_is_not(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(folder, ballast_bytes=0) as journal:
        append(journal, draft("one"))
        with monkeypatch.context() as short:
            short.setattr(wal, "free_bytes", lambda _: 0)
            with pytest.raises(DiskFull):
                append(journal, draft("two"))
            erase(journal)
        assert append(journal, draft("three")).results[0].sequence == 2


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    with small_disk_at(tmp_path / "disk", 6 << 20) as disk:
        yield disk


def test_a_journal_on_a_full_disk_rejects_writes_serves_reads_and_still_erases(small_disk: Path) -> None:
    folder = small_disk / "data"
    with opened(folder) as journal:
        append(journal, draft("S3CRET"), key=OTHER)
        upsert(journal, new_record("S3CRET fact"))
        stored = append_until_full(journal)
        assert [message.sequence for message in read(journal, limit=10_000, max_bytes=1 << 30)] == list(
            range(1, stored + 1)
        )
        assert execute(journal, DeleteRecord(ANN, RecordKind.ARTIFACT, "n1")) == new_record("S3CRET fact")
        assert b"S3CRET fact" not in bytes_of(folder)
        erase(journal, key=OTHER)
        assert b"S3CRET" not in bytes_of(folder)
        erase(journal)
        assert append(journal, draft("space again")).results[0].sequence == stored + 1
    with opened(folder) as journal:
        assert contents(journal) == ["space again"]


OVERLAPPING_READS = """
import itertools, select, sqlite3, sys
path = f"file:{sys.argv[1]}/journal.db?mode=ro"
connections = [sqlite3.connect(path, uri=True, isolation_level=None) for _ in range(2)]
for number, connection in enumerate(itertools.cycle(connections)):
    connection.execute("BEGIN")
    connection.execute("SELECT count(*) FROM log").fetchone()
    if number:
        connections[(number + 1) % 2].execute("COMMIT")
    else:
        print("ready", flush=True)
    if select.select([sys.stdin], [], [], 0)[0]:
        break
"""


def test_the_write_ahead_log_stays_bounded_while_reads_overlap(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The restart of the log waits until the present readers are done, however long they take.

    The reads are another process's: two threads here would compete with the committer for the interpreter.
    """
    monkeypatch.setattr(wal, "RESTART_TRIES", int(1_000 * HANG_SECONDS) // wal.READER_TIMEOUT_MS["RESTART"])
    limit = 64 << 10
    with opened(folder, checkpoint_bytes=limit) as journal:
        append(journal, draft("first"))
        largest = 0
        with another_process(OVERLAPPING_READS, folder):
            for number in range(300):
                append(journal, draft(f"{number} {'x' * 8_000}"))
                largest = max(largest, journal.stats().wal_bytes)
        assert journal.stats().file_bytes > limit
    assert largest < 8 * limit


@pytest.mark.parametrize("pairs", [1, 2, 300])
def test_messages_are_looked_up_by_the_index_of_their_ids(folder: Path, pairs: int) -> None:
    """By the primary key each Add after a restart would read the whole session."""
    with opened(folder) as journal:
        append(journal, *(draft(str(number)) for number in range(5)))
    queries: dict[str, list[object]] = {writer_state._query(pairs): [1, 2] * pairs, session_commands._FIND: [1, 2, "a"]}
    with closing(sqlite3.connect(folder / "journal.db")) as connection:
        for query, values in queries.items():
            plan = [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {query}", values)]
            assert "SEARCH m USING INDEX message_ids (session=? AND id_hash=?)" in plan


def ids_with_one_crc(bits: int) -> list[str]:
    """Return ids with the same CRC, 2 ** bits of them at least.

    The CRC is linear: `b` or `c` at each of 32 + bits places changes 32 bits of it, so many combinations change none.
    """
    length = 32 + bits
    base = zlib.crc32(b"b" * length)
    independent: dict[int, tuple[int, int]] = {}
    unchanged: list[int] = []
    for place in range(length):
        change, places = zlib.crc32(b"b" * place + b"c" + b"b" * (length - 1 - place)) ^ base, 1 << place
        while change and change.bit_length() in independent:
            other, others = independent[change.bit_length()]
            change, places = change ^ other, places ^ others
        if change:
            independent[change.bit_length()] = change, places
        else:
            unchanged.append(places)
    combinations = [0]
    for places in unchanged:
        combinations += [each ^ places for each in combinations]
    return ["".join("bc"[each >> place & 1] for place in range(length)) for each in combinations]


def test_a_lookup_by_id_reads_no_message_with_another_id(folder: Path) -> None:
    """With ids that a client made to collide, each lookup would read all of them."""
    ids = ids_with_one_crc(8)[:200]
    assert len(set(ids)) == 200 and len({zlib.crc32(each.encode()) for each in ids}) == 1
    with opened(folder) as journal:
        append(journal, *(draft("text", message_id=each) for each in ids))
    with closing(sqlite3.connect(folder / "journal.db")) as connection:
        pairs = [pair for each in ids for pair in (1, schema.id_hash(each))]
        assert [message_id for (_, message_id), _ in writer_state.find_existing(connection, pairs)] == ids
