"""What a namespace keeps, across restarts, crashes and versions."""

import re
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from memsidecar.domain.errors import DiskFull, QuotaExceeded
from memsidecar.domain.quota import Quota, Usage
from memsidecar.stores.contract import Append, Owner, PendingCommand, UpdateMessage
from memsidecar.stores.sqlite.integrity import examine
from memsidecar.stores.sqlite.journal import SqliteJournal
from tests.conformance.builders import (
    KEY,
    append,
    carry_out,
    draft,
    erase,
    keep,
    note,
    put,
    read,
    recount,
    scored,
    shortened,
    trim,
)
from tests.stores.directories import OTHER, opened
from tests.stores.earlier import as_version_3_left_it
from tests.stores.test_sqlite_groups import held

ELSEWHERE = Owner("elsewhere")


def fill(journal: SqliteJournal) -> None:
    """Something of each kind, in each state that it can be in."""
    append(journal, draft("said", vector=b"1234"), draft("shortened"), draft("pruned"))
    trim(journal, 3, shortened=[shortened(read(journal)[1], "s", 1)])
    carry_out(journal, UpdateMessage(KEY, "", "said", scored(3, "mark")))
    append(journal, draft("gone"), key=OTHER)
    erase(journal, key=OTHER)
    put(journal, "text", "and more", title="T\N{BLACK STAR}", metadata=b"meta")
    put(journal, "text", "and more", title="new", metadata=b"meta")
    put(journal, "text", owner=ELSEWHERE)
    keep(journal, note("kept"), note("", name="n2"))


def figures(journal: SqliteJournal) -> list[Usage]:
    return [journal.usage("default"), journal.usage("elsewhere")]


def test_a_restart_keeps_it(folder: Path) -> None:
    with opened(folder) as journal:
        fill(journal)
        before = figures(journal)
        assert before == [recount(journal), recount(journal, "elsewhere")]
        assert before[0][:2] == (2, 3)
    assert examine(folder) == []
    with opened(folder) as journal:
        assert figures(journal) == before


def test_what_a_kill_leaves_is_counted_as_it_is(folder: Path) -> None:
    crashed = folder.with_name("crashed")
    with opened(folder) as journal:
        fill(journal)
        before = figures(journal)
        shutil.copytree(folder, crashed)
    with opened(crashed) as journal:
        assert figures(journal) == before == [recount(journal), recount(journal, "elsewhere")]


def test_a_file_without_sizes_is_brought_up_with_what_each_namespace_keeps(folder: Path) -> None:
    with opened(folder) as journal:
        fill(journal)
        before = figures(journal)
    as_version_3_left_it(folder)
    assert examine(folder) == []
    with opened(folder) as journal:
        assert figures(journal) == before
        append(journal, draft("goes on"))
        assert journal.usage("default") == recount(journal)
    assert examine(folder) == []


def test_a_quota_holds_for_what_was_there_before_the_start(folder: Path) -> None:
    with opened(folder) as journal:
        append(journal, draft("a"), draft("b"))
    with closing(SqliteJournal(folder, quotas=lambda _: Quota(messages=3))) as journal:
        append(journal, draft("c"))
        with pytest.raises(QuotaExceeded):
            append(journal, draft("d"))


def test_a_refused_command_of_a_group_takes_nothing_from_the_others(folder: Path) -> None:
    with closing(SqliteJournal(folder, quotas=lambda _: Quota(messages=3))) as journal:
        with held(journal):
            batches = [[draft("a")], [draft("b"), draft("c")], [draft("d")], [draft("e")]]
            tickets = [PendingCommand(Append(KEY, "", batch)) for batch in batches]
            for ticket in tickets:
                journal.submit(ticket)
        assert tickets[0].wait().results[0].sequence == 1
        with pytest.raises(QuotaExceeded):
            tickets[1].wait()
        assert tickets[2].wait().results[0].sequence == 2
        with pytest.raises(QuotaExceeded):
            tickets[3].wait()


def test_a_commit_that_finds_no_room_counts_nothing(folder: Path) -> None:
    with opened(folder) as journal:
        append(journal, draft("a"))
        before = journal.usage("default")
        writer = journal._writer._connection
        (pages,) = writer.execute("PRAGMA page_count").fetchone()
        writer.execute(f"PRAGMA max_page_count = {pages}")
        with pytest.raises(DiskFull):
            append(journal, *(draft(f"{n} {'x' * 1_000}") for n in range(100)))
        assert journal.usage("default") == before == recount(journal)


def test_a_size_that_does_not_match_is_noticed(folder: Path) -> None:
    with opened(folder) as journal:
        append(journal, draft("said"))
        put(journal, "text")
        keep(journal, note("kept"))
    with closing(sqlite3.connect(folder / "journal.db", isolation_level=None)) as outside:
        for table in ("sessions", "documents", "records"):
            outside.execute(f"UPDATE {table} SET bytes = bytes + 1")
    found = re.findall(r"the size of (\w+) '", "\n".join(examine(folder)))
    assert found == ["session", "document", "record"]
