"""Following the log on disk: at the cost of what is new, and never beyond what is whole."""

import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from memsidecar.domain.errors import DataCorrupted
from memsidecar.domain.session import SessionKey
from memsidecar.stores.contract import (
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
from tests.stores.test_sqlite_groups import held

ELSEWHERE = SessionKey("elsewhere", "s1")
STEPS = 20


def fill(journal: Journal, messages: int, key: SessionKey = KEY) -> None:
    for start in range(0, messages, 500):
        append(journal, *(draft(f"m{number}") for number in range(start, start + 500)), key=key)


def cost(folder: Path, read: Callable[[sqlite3.Connection], object]) -> int:
    """How many steps SQLite's machine takes for it, in twenties."""
    taken = 0

    def count() -> int:
        nonlocal taken
        taken += 1
        return 0

    with closing(sqlite3.connect(folder / "journal.db")) as connection:
        connection.set_progress_handler(count, STEPS)
        read(connection)
    return taken


def test_news_cost_what_is_new_and_not_what_was_before(folder: Path) -> None:
    costs = []
    with opened(folder) as journal:
        for _ in range(3):
            fill(journal, 500)
            erase(journal)
            fill(journal, 2_000)
            tail = journal.stats().last_lsn - 10
            told = journal.read_changes("default", tail, 100)
            assert [one.lsn for one in told] == list(range(tail + 1, tail + 11))
            path = folder / "journal.db"
            asked = change_feed.FeedRequest("default", tail, 100, None)
            costs.append(cost(folder, lambda moment: change_feed.read_page(moment, path, asked)))  # noqa: B023
    assert max(costs) <= min(costs) + 2


@pytest.mark.parametrize(
    "entries", [change_feed._ALL_ENTRIES, change_feed._FILTERED_ENTRIES], ids=["of all", "of some"]
)
def test_news_walk_the_log_itself_without_a_sort(folder: Path, entries: str) -> None:
    where = dict.fromkeys(("after", "end", "namespace", "limit", "documents", "user_id", "session"), 0)
    with opened(folder), closing(sqlite3.connect(folder / "journal.db")) as connection:
        plan = [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {entries}", where)]
    assert plan[0].startswith("SEARCH l USING INTEGER PRIMARY KEY (rowid>?")
    assert len(plan) == 2 and plan[1].startswith("SEARCH s USING INTEGER PRIMARY KEY (rowid=?)")


def test_many_messages_are_found_by_keys_alone(folder: Path) -> None:
    with opened(folder), closing(sqlite3.connect(folder / "journal.db")) as connection:
        plan = [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {change_feed._BY_FIRST_LSN}", ["[]"])]
    assert not any(step.startswith("SCAN") and "VIRTUAL TABLE" not in step for step in plan), plan


def test_a_stretch_of_other_namespaces_is_passed_piece_by_piece(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(change_feed, "PAGE_ENTRIES", 10)
    with opened(folder) as journal:
        append(journal, draft("first"))
        fill(journal, 500, ELSEWHERE)
        append(journal, draft("last"))
        told = [one for one in follow(journal) if isinstance(one, MessageWritten)]
        assert [content(one.message) for one in told] == ["first", "last"]
        assert len(follow(journal, "elsewhere", limit=3)) == 500
        assert follow(journal, "nowhere") == []


def test_a_stretch_of_others_is_passed_piece_by_piece_too(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(change_feed, "PAGE_ENTRIES", 10)
    with opened(folder) as journal:
        append(journal, draft("first"), user_id="ann")
        append(journal, *(draft(f"m{number}") for number in range(25)), key=OTHER)
        append(journal, draft("last"), user_id="ann")
        lsns, after = [], 0
        while chapter := journal.read_changes("default", after, 100, LogFilter("ann")):
            lsns.append([one.lsn for one in chapter])
            after = lsns[-1][-1]
        assert lsns == [[1], [27, 27]]


def test_a_chapter_that_is_bounded_in_bytes_does_not_say_that_the_log_ends(folder: Path) -> None:
    with opened(folder) as journal:
        for number in range(12):
            append(journal, draft(f"{number}" + "x" * (1 << 20), message_id=f"m{number}"), user_id="ann")
        told = journal.read_changes("default", 0, 100, LogFilter("ann"))
        assert all(isinstance(one, MessageWritten) for one in told) and len(told) < 12


def test_a_chapter_is_bounded_in_bytes_and_nothing_is_left_out(folder: Path) -> None:
    with opened(folder) as journal:
        for number in range(12):
            append(journal, draft(f"{number}" + "x" * (1 << 20), message_id=f"m{number}"))
        assert 1 <= len(journal.read_changes("default", 0, 100)) <= 5
        assert [one.lsn for one in follow(journal)] == list(range(1, 13))


def test_a_claim_in_a_group_leaves_rows_and_heads_alike(folder: Path) -> None:
    """An append, a claim without a message and an append of another session, all in one transaction."""
    commands: list[Command] = [
        Append(KEY, "", [draft("a"), draft("b")]),
        Append(KEY, "ann", [draft("a")]),
        Append(OTHER, "", [draft("x")]),
        Append(OTHER, "bob", [draft("y")]),
    ]
    with opened(folder) as journal:
        tickets = [PendingCommand(command) for command in commands]
        with held(journal):
            for ticket in tickets:
                journal.submit(ticket)
        heads = [ticket.wait().head for ticket in tickets]
        assert (known_head(journal), known_head(journal, OTHER)) == (heads[1], heads[3])
        claims = [one for one in follow(journal) if isinstance(one, SessionClaimed)]
        assert [(one.lsn, one.user_id) for one in claims] == [(heads[1].version, "ann"), (heads[3].version - 1, "bob")]


def test_the_log_grows_at_its_end_whatever_a_group_holds(folder: Path) -> None:
    """What is inserted in between would make SQLite move rows, and moved rows leave copies that no erasure finds."""
    with opened(folder) as journal:
        append(journal, draft("a"), key=OTHER)
        inserted: list[int] = []
        writer = journal._writer._connection
        writer.create_function("inserted", 1, inserted.append)
        writer.execute("CREATE TEMP TRIGGER told AFTER INSERT ON main.log BEGIN SELECT inserted(NEW.lsn); END")
        group: list[Command] = [Append(KEY, "", [draft("a")]), UpdateMessage(OTHER, "", "a", scored(1))]
        group += [Append(KEY, "ann", [draft(f"m{number}") for number in range(40)])]
        tickets = [PendingCommand(command) for command in group]
        with held(journal):
            for ticket in tickets:
                journal.submit(ticket)
        assert all(ticket.wait() for ticket in tickets)
        writer.execute("DROP TRIGGER told")
    assert inserted == sorted(inserted) and len(inserted) == 44


def test_what_is_on_disk_is_told_when_it_is_published(folder: Path) -> None:
    with opened(folder) as journal, ThreadPoolExecutor(1) as pool:
        with held(journal):
            told = pool.submit(follow, journal)
            with pytest.raises(TimeoutError):
                told.result(timeout=0.1)
        assert [one.lsn for one in told.result()] == [1]


@pytest.mark.parametrize(
    "read",
    [
        lambda journal: journal.read_changes("default", 0, 10),
        lambda journal: journal.read_session(1, 0, 10),
        lambda journal: journal.get_by_lsn([1]),
    ],
)
def test_a_damaged_message_is_told_to_nobody(folder: Path, read: Callable[[Journal], object]) -> None:
    with opened(folder) as journal:
        append(journal, draft("a"))
        journal._writer._connection.execute("UPDATE log SET body = x'00' WHERE lsn = 1")
        with pytest.raises(DataCorrupted):
            read(journal)
