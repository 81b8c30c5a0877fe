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
from memsidecar.stores.sqlite.integrity import examine
from memsidecar.stores.sqlite.page_slack import NAMED_TABLES, SlackCleaner
from memsidecar.stores.sqlite.schema import TABLES
from tests.conformance.builders import ANN, append, draft, erase, execute, new_record, record_ids, upsert
from tests.stores.directories import bytes_of, opened
from tests.support.waiting import until

PAGE_BYTES = 4_096
INTERIOR_HEADER_BYTES, INTERIOR_PAGES = 12, (2, 5)
COPY = b"C0PY"
ADD_OWNERS = """WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 2000)
  INSERT INTO owners(namespace, user_id, session_id)
  SELECT 'default', 'user ' || n, n * 2654435761 % 4294967296 FROM numbers"""


def leave_copies(path: Path, table: str = "records") -> None:
    """Write into the unused bytes of the table's first pages, as SQLite leaves them there."""
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
        pages = connection.execute("SELECT rootpage FROM sqlite_master WHERE tbl_name = ?", (table,)).fetchall()
    write_copies(path, [number for (number,) in pages])


def write_copies(path: Path, pages: Iterable[int]) -> None:
    """Write into the unused bytes of the pages, if they have enough."""
    with path.open("r+b") as file:
        for number in pages:
            file.seek((number - 1) * PAGE_BYTES)
            page = file.read(PAGE_BYTES)
            rows, first_row = unpack_from(">HH", page, 3)
            if first_row - (INTERIOR_HEADER_BYTES + 2 * rows) >= len(COPY):
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


@pytest.mark.long
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
def connection(connection: sqlite3.Connection) -> sqlite3.Connection:
    connection.executescript(TABLES)
    connection.execute(ADD_OWNERS)
    truncate(connection)
    return connection


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


def test_all_pages_with_names_are_reached(connection: sqlite3.Connection, path: Path) -> None:
    """What is left is in the schema and in empty tables, which have no name and no interior page."""
    numbers = range(2, path.stat().st_size // PAGE_BYTES + 1)
    write_copies(path, numbers)
    assert path.read_bytes().count(COPY) > len(numbers) // 2
    with closing(SlackCleaner(path)) as cleaner:
        clean(cleaner, connection)
    file = path.read_bytes()
    left = [content for content in (page(file, number) for number in numbers) if COPY in content]
    assert not any(b"user " in content or content[0] in INTERIOR_PAGES for content in left)
    assert file.count(b"user ") == 2 * 2_000
    assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_pages_that_are_added_during_the_walk_are_reached(connection: sqlite3.Connection, path: Path) -> None:
    """Only pages of the walk are examined again: those that SQLite has added are below them."""
    with closing(SlackCleaner(path)) as cleaner:
        cleaner.begin(connection)
        while cleaner.step():
            pass
        begin = path.stat().st_size // PAGE_BYTES + 1
        connection.execute(ADD_OWNERS.replace("user ", "later "))
        truncate(connection)
        added = range(begin, path.stat().st_size // PAGE_BYTES + 1)
        write_copies(path, added)
        assert path.read_bytes().count(COPY) > len(added) // 2 > 10
        cleaner.finish(connection, range(1, added.stop))
    assert COPY not in path.read_bytes()


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


def test_numbers_of_no_page_are_ignored(connection: sqlite3.Connection, path: Path) -> None:
    with closing(SlackCleaner(path)) as cleaner:
        clean(cleaner, connection, [0, 1, 10**6, 2**32 - 1])


def test_a_page_that_continues_a_row_is_not_changed(connection: sqlite3.Connection, path: Path) -> None:
    text = b"\r" * 9 * PAGE_BYTES
    connection.execute("INSERT INTO texts VALUES (1, ?, 0, 0)", (text,))
    truncate(connection)
    with closing(SlackCleaner(path)) as cleaner:
        clean(cleaner, connection, range(1, path.stat().st_size // PAGE_BYTES + 1))
    assert connection.execute("SELECT text FROM texts").fetchone() == (text,)
    assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)


@pytest.mark.parametrize("limit", [1, 1 << 25])
def test_a_very_large_file_is_left_alone(
    connection: sqlite3.Connection, path: Path, limit: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page_slack, "MAX_FILE_PAGES", limit)
    before = path.read_bytes()
    with closing(SlackCleaner(path)) as cleaner:
        clean(cleaner, connection)
    assert (path.read_bytes() == before) == (limit == 1)


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
