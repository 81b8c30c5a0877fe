"""The change feed on disk: a read costs as much as its new entries, and no entry of a damaged row is returned."""

import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from memsidecar.domain.errors import DataCorrupted
from memsidecar.domain.session import SessionKey
from memsidecar.stores.contract import (
    ANY_SIZE,
    Append,
    Command,
    Journal,
    LogFilter,
    MessageWritten,
    PendingCommand,
    SessionClaimed,
    UpdateMessage,
)
from memsidecar.stores.sqlite import change_feed
from tests.conformance.builders import KEY, append, content, draft, erase, follow, known_head, scored
from tests.stores.directories import OTHER, opened
from tests.stores.test_sqlite_group_commit import committer_held

ELSEWHERE = SessionKey("elsewhere", "s1")
STEPS = 20


def fill(journal: Journal, messages: int, key: SessionKey = KEY) -> None:
    for start in range(0, messages, 500):
        append(journal, *(draft(f"m{number}") for number in range(start, start + 500)), key=key)


def cost(folder: Path, read: Callable[[sqlite3.Connection], object]) -> int:
    """Return the number of steps of SQLite's virtual machine, divided by STEPS."""
    steps = 0

    def count() -> int:
        nonlocal steps
        steps += 1
        return 0

    with closing(sqlite3.connect(folder / "journal.db")) as connection:
        connection.set_progress_handler(count, STEPS)
        read(connection)
    return steps


def test_a_read_costs_as_much_as_its_new_entries_whatever_was_before(folder: Path) -> None:
    costs = []
    with opened(folder) as journal:
        for _ in range(3):
            fill(journal, 500)
            erase(journal)
            fill(journal, 2_000)
            tail = journal.log_end("default") - 10
            entries = journal.read_changes("default", tail, 100)
            assert [entry.lsn for entry in entries] == list(range(tail + 1, tail + 11))
            path = folder / "journal.db"
            request = change_feed.FeedRequest("default", tail, 100, None, ANY_SIZE)
            costs.append(cost(folder, lambda connection: change_feed.read_page(connection, path, request)))  # noqa: B023
    assert max(costs) <= min(costs) + 2


@pytest.mark.parametrize("query", [change_feed._ALL_ENTRIES, change_feed._FILTERED_ENTRIES], ids=["all", "filtered"])
def test_the_feed_reads_the_log_by_its_key_without_a_sort(folder: Path, query: str) -> None:
    where = dict.fromkeys(("after", "end", "namespace", "limit", "documents", "user_id", "session"), 0)
    with opened(folder), closing(sqlite3.connect(folder / "journal.db")) as connection:
        plan = [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {query}", where)]
    assert plan[0].startswith("SEARCH l USING INTEGER PRIMARY KEY (rowid>?")
    assert len(plan) == 2 and plan[1].startswith("SEARCH s USING INTEGER PRIMARY KEY (rowid=?)")


def test_many_messages_are_found_by_keys_alone(folder: Path) -> None:
    with opened(folder), closing(sqlite3.connect(folder / "journal.db")) as connection:
        plan = [
            row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {change_feed._BY_FIRST_LSN}", ["[]", "default"])
        ]
    assert not any(step.startswith("SCAN") and "VIRTUAL TABLE" not in step for step in plan), plan


def test_entries_of_other_namespaces_are_skipped_page_by_page(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(change_feed, "PAGE_ENTRIES", 10)
    with opened(folder) as journal:
        append(journal, draft("first"))
        fill(journal, 500, ELSEWHERE)
        append(journal, draft("last"))
        entries = [entry for entry in follow(journal) if isinstance(entry, MessageWritten)]
        assert [content(entry.message) for entry in entries] == ["first", "last"]
        assert len(follow(journal, "elsewhere", limit=3)) == 500
        assert follow(journal, "nowhere") == []


def test_entries_of_other_users_are_skipped_page_by_page(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(change_feed, "PAGE_ENTRIES", 10)
    with opened(folder) as journal:
        append(journal, draft("first"), user_id="ann")
        append(journal, *(draft(f"m{number}") for number in range(25)), key=OTHER)
        append(journal, draft("last"), user_id="ann")
        lsns, after = [], 0
        while batch := journal.read_changes("default", after, 100, LogFilter("ann")):
            lsns.append([entry.lsn for entry in batch])
            after = lsns[-1][-1]
        assert lsns == [[1], [27, 27]]


def test_a_batch_cut_by_bytes_does_not_state_the_end_of_the_log(folder: Path) -> None:
    with opened(folder) as journal:
        for number in range(12):
            append(journal, draft(f"{number}" + "x" * (1 << 20), message_id=f"m{number}"), user_id="ann")
        entries = journal.read_changes("default", 0, 100, LogFilter("ann"))
        assert all(isinstance(entry, MessageWritten) for entry in entries) and len(entries) < 12


def test_a_batch_is_bounded_in_bytes_and_no_entry_is_left_out(folder: Path) -> None:
    with opened(folder) as journal:
        for number in range(12):
            append(journal, draft(f"{number}" + "x" * (1 << 20), message_id=f"m{number}"))
        assert 1 <= len(journal.read_changes("default", 0, 100)) <= 5
        assert [entry.lsn for entry in follow(journal)] == list(range(1, 13))


def test_a_claim_in_a_group_leaves_equal_rows_and_heads(folder: Path) -> None:
    """An append, a claim without a message and an append of another session, all in one transaction."""
    commands: list[Command] = [
        Append(KEY, "", [draft("a"), draft("b")]),
        Append(KEY, "ann", [draft("a")]),
        Append(OTHER, "", [draft("x")]),
        Append(OTHER, "bob", [draft("y")]),
    ]
    with opened(folder) as journal:
        pending = [PendingCommand(command) for command in commands]
        with committer_held(journal):
            for pending_command in pending:
                journal.submit(pending_command)
        heads = [pending_command.wait().head for pending_command in pending]
        assert (known_head(journal), known_head(journal, OTHER)) == (heads[1], heads[3])
        claims = [entry for entry in follow(journal) if isinstance(entry, SessionClaimed)]
        assert [(claim.lsn, claim.user_id) for claim in claims] == [
            (heads[1].version, "ann"),
            (heads[3].version - 1, "bob"),
        ]


def test_the_log_grows_at_its_end_whatever_a_group_holds(folder: Path) -> None:
    """SQLite would move rows for an insert in between, and moved rows leave copies that no erasure finds."""
    with opened(folder) as journal:
        append(journal, draft("a"), key=OTHER)
        inserted: list[int] = []
        writer = journal._writer._connection
        writer.create_function("inserted", 1, inserted.append)
        writer.execute("CREATE TEMP TRIGGER record_lsn AFTER INSERT ON main.log BEGIN SELECT inserted(NEW.lsn); END")
        group: list[Command] = [Append(KEY, "", [draft("a")]), UpdateMessage(OTHER, "", "a", scored(1))]
        group += [Append(KEY, "ann", [draft(f"m{number}") for number in range(40)])]
        pending = [PendingCommand(command) for command in group]
        with committer_held(journal):
            for pending_command in pending:
                journal.submit(pending_command)
        assert all(pending_command.wait() for pending_command in pending)
        writer.execute("DROP TRIGGER record_lsn")
    assert inserted == sorted(inserted) and len(inserted) == 44


def test_a_committed_entry_is_returned_once_it_is_published(folder: Path) -> None:
    with opened(folder) as journal, ThreadPoolExecutor(1) as pool:
        with committer_held(journal):
            reading = pool.submit(follow, journal)
            with pytest.raises(TimeoutError):
                reading.result(timeout=0.1)
        assert [entry.lsn for entry in reading.result()] == [1]


@pytest.mark.parametrize(
    "read",
    [
        lambda journal: journal.read_changes("default", 0, 10),
        lambda journal: journal.read_session(1, 0, 10),
        lambda journal: journal.get_by_lsn("default", [1]),
    ],
)
def test_no_read_returns_a_damaged_message(folder: Path, read: Callable[[Journal], object]) -> None:
    with opened(folder) as journal:
        append(journal, draft("a"))
        journal._writer._connection.execute("UPDATE log SET body = x'00' WHERE lsn = 1")
        with pytest.raises(DataCorrupted):
            read(journal)
