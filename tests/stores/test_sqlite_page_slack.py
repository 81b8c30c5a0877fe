"""Unused bytes of pages: no copy of a deleted name stays in them."""

import random
import sqlite3
import threading
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from itertools import count
from pathlib import Path
from struct import pack, unpack_from

import pytest

from memsidecar.domain.errors import DataCorrupted
from memsidecar.stores.contract import DeleteRecord, EraseUser, Journal, Owner, RecordKind
from memsidecar.stores.sqlite import page_slack, records
from memsidecar.stores.sqlite.connection import connect
from memsidecar.stores.sqlite.integrity import examine
from memsidecar.stores.sqlite.page_slack import NAMED_TABLES, SlackCleaner
from memsidecar.stores.sqlite.schema import TABLES
from tests.conformance.builders import ANN, append, draft, erase, execute, new_record, record_ids, upsert
from tests.stores.directories import bytes_of, opened
from tests.support.waiting import until

PAGE_BYTES = 4_096
COPY = b"C0PY"
ADD_OWNERS = """WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 2000)
  INSERT INTO owners(namespace, user_id, session_id) SELECT 'default', 'user ' || n, hex(randomblob(8)) FROM numbers"""


def leave_copies(path: Path, table: str = "records") -> None:
    """Write into the unused bytes of the table's first pages, as SQLite leaves them there."""
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
        pages = connection.execute("SELECT rootpage FROM sqlite_master WHERE tbl_name = ?", (table,)).fetchall()
    with path.open("r+b") as file:
        for (number,) in pages:
            file.seek((number - 1) * PAGE_BYTES)
            (first_row,) = unpack_from(">H", file.read(PAGE_BYTES), 5)
            file.seek((number - 1) * PAGE_BYTES + first_row - len(COPY))
            file.write(COPY)


def erase_a_session(journal: Journal) -> None:
    append(journal, draft("erased"))
    erase(journal, delete_session=True)


def test_a_start_leaves_no_copy(folder: Path) -> None:
    with opened(folder) as journal:
        upsert(journal, new_record(name="a"))
    leave_copies(folder / "journal.db")
    assert COPY in bytes_of(folder)
    with opened(folder) as journal:
        until(lambda: COPY not in bytes_of(folder))
        assert record_ids(journal) == ["a"]
    assert examine(folder) == []


def test_the_response_to_an_erasure_means_that_there_is_no_copy(folder: Path) -> None:
    with opened(folder) as journal:
        upsert(journal, new_record(name="a"))
        erase_a_session(journal)
        leave_copies(folder / "journal.db")
        erase_a_session(journal)
        assert COPY not in bytes_of(folder)
        assert record_ids(journal) == ["a"]
    assert examine(folder) == []


def test_after_other_deletions_no_copy_stays_for_long(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "CLEAN_LATER_SECONDS", 0.01)
    with opened(folder) as journal:
        upsert(journal, new_record(name="a"), new_record(name="b"))
        erase_a_session(journal)
        leave_copies(folder / "journal.db")
        execute(journal, DeleteRecord(ANN, RecordKind.ARTIFACT, "b"))
        until(lambda: COPY not in bytes_of(folder))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("pages_per_step", [1, page_slack.PAGES_PER_STEP])
def test_names_of_forgotten_users_are_in_no_file(
    folder: Path, seed: int, pages_per_step: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a cleaner, most of these seeds left a name. Others write between its steps."""
    monkeypatch.setattr(page_slack, "PAGES_PER_STEP", pages_per_step)
    chance = random.Random(seed)
    users: list[str] = []
    with opened(folder) as journal, others_writing(journal):
        for number in range(150):
            users.append(f"user {chance.getrandbits(64):016x}")
            records = [new_record(name=f"{place}{'x' * chance.randrange(100)}") for place in range(4)]
            upsert(journal, *records, owner=Owner("default", users[-1]))
            if number % 2:
                forgotten = users.pop(chance.randrange(len(users)))
                execute(journal, EraseUser("default", forgotten))
                assert forgotten.encode() not in bytes_of(folder)


@contextmanager
def others_writing(journal: Journal) -> Iterator[None]:
    ended = threading.Event()

    def write() -> None:
        for number in count():
            if ended.is_set():
                return
            upsert(
                journal, new_record(name=f"{number % 97}{'y' * (number * 31 % 90)}"), owner=Owner("default", "other")
            )

    writer = threading.Thread(target=write)
    writer.start()
    try:
        yield
    finally:
        ended.set()
        writer.join()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "file.db"


@pytest.fixture
def connection(path: Path) -> Iterator[sqlite3.Connection]:
    with closing(connect(path, 1_000)) as connection:
        connection.executescript(TABLES)
        connection.execute(ADD_OWNERS)
        truncate(connection)
        yield connection


def truncate(connection: sqlite3.Connection) -> None:
    assert connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0


def clean(cleaner: SlackCleaner, connection: sqlite3.Connection, written: Iterable[int] = ()) -> None:
    cleaner.begin(connection)
    while cleaner.step():
        pass
    cleaner.finish(connection, written)


def test_the_writer_does_not_write_a_copy_again_from_its_cache(connection: sqlite3.Connection, path: Path) -> None:
    connection.execute("INSERT INTO policies VALUES ('default', 's', 1, 1, 'm', 0, NULL)")
    truncate(connection)
    leave_copies(path, "policies")
    connection.execute("PRAGMA shrink_memory")
    assert connection.execute("SELECT count(*) FROM policies").fetchone() == (1,)  # the copy is in the cache now
    with closing(SlackCleaner(path)) as cleaner:
        clean(cleaner, connection)
        connection.execute("UPDATE policies SET model = 'n'")
        truncate(connection)
    assert COPY not in path.read_bytes()


def test_all_pages_are_reached(connection: sqlite3.Connection, path: Path) -> None:
    """Each page of a table has unused bytes after half of its rows are moved to other pages."""
    before = path.read_bytes()
    assert before.count(b"user ") > 2 * 2_000, "SQLite leaves no copies any more: then there is nothing to clean"
    with closing(SlackCleaner(path)) as cleaner:
        clean(cleaner, connection)
    assert path.read_bytes().count(b"user ") == 2 * 2_000
    assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def write_to_root(connection: sqlite3.Connection, path: Path, at: int, value: bytes | None = None) -> int:
    """Overwrite bytes of the first page of `owners`, by default with its number; return that number."""
    (root,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'owners'").fetchone()
    with path.open("r+b") as file:
        file.seek((root - 1) * PAGE_BYTES + at)
        file.write(value or pack(">I", root))
    return int(root)


def test_a_page_that_is_its_own_child_is_visited_once(connection: sqlite3.Connection, path: Path) -> None:
    write_to_root(connection, path, 8)
    with closing(SlackCleaner(path)) as cleaner:
        clean(cleaner, connection)


@pytest.mark.parametrize(("at", "value"), [(5, PAGE_BYTES), (3, PAGE_BYTES // 2)])
def test_a_damaged_page_is_not_overwritten(connection: sqlite3.Connection, path: Path, at: int, value: int) -> None:
    """The damaged values: the first row, the count of rows."""
    root = write_to_root(connection, path, at, pack(">H", value))
    damaged = path.read_bytes()
    with closing(SlackCleaner(path)) as cleaner, pytest.raises(DataCorrupted):
        clean(cleaner, connection)
    assert page(path.read_bytes(), root) == page(damaged, root)


def page(file: bytes, number: int) -> bytes:
    return file[(number - 1) * PAGE_BYTES : number * PAGE_BYTES]


def test_every_table_with_names_is_cleaned(connection: sqlite3.Connection) -> None:
    """The others have a namespace at most, which is never erased."""
    columns = connection.execute(
        """SELECT m.name, c.name FROM sqlite_master m JOIN pragma_table_info(m.name) c
        WHERE m.type = 'table' AND c.type = 'TEXT' AND c.name NOT IN ('namespace', 'task', 'reason', 'model')"""
    ).fetchall()
    assert {table for table, _ in columns} - {"log", "sqlite_master", "sqlite_sequence"} <= set(NAMED_TABLES)
