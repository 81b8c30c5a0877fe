"""Quota usage of a namespace across restarts, crashes and schema versions."""

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
    draft,
    erase,
    execute,
    new_record,
    put,
    read,
    recount,
    scored,
    shortened,
    update_window,
    upsert,
)
from tests.stores.directories import OTHER, opened
from tests.stores.schema_downgrade import downgrade_to_version_3
from tests.stores.test_sqlite_group_commit import committer_held

ELSEWHERE = Owner("elsewhere")


def fill(journal: SqliteJournal) -> None:
    """Write entries of each kind, in each state that they can have."""
    append(journal, draft("written", vector=b"1234"), draft("shortened"), draft("pruned"))
    update_window(journal, 3, shortened=[shortened(read(journal)[1], "s", 1)])
    execute(journal, UpdateMessage(KEY, "", "written", scored(3, "mark")))
    append(journal, draft("gone"), key=OTHER)
    erase(journal, key=OTHER)
    put(journal, "text", "and more", title="T\N{BLACK STAR}", metadata=b"meta")
    put(journal, "text", "and more", title="new", metadata=b"meta")
    put(journal, "text", owner=ELSEWHERE)
    upsert(journal, new_record("kept"), new_record("", name="n2"))


def usages(journal: SqliteJournal) -> list[Usage]:
    return [journal.usage("default"), journal.usage("elsewhere")]


def test_usage_is_equal_after_a_restart(folder: Path) -> None:
    with opened(folder) as journal:
        fill(journal)
        before = usages(journal)
        assert before == [recount(journal), recount(journal, "elsewhere")]
        assert before[0][:2] == (2, 3)
    assert examine(folder) == []
    with opened(folder) as journal:
        assert usages(journal) == before


def test_usage_after_a_kill_is_that_of_the_committed_rows(folder: Path) -> None:
    crashed = folder.with_name("crashed")
    with opened(folder) as journal:
        fill(journal)
        before = usages(journal)
        shutil.copytree(folder, crashed)
    with opened(crashed) as journal:
        assert usages(journal) == before == [recount(journal), recount(journal, "elsewhere")]


def test_a_migration_of_a_file_without_sizes_computes_the_usage_of_each_namespace(folder: Path) -> None:
    with opened(folder) as journal:
        fill(journal)
        before = usages(journal)
    downgrade_to_version_3(folder)
    assert examine(folder) == []
    with opened(folder) as journal:
        assert usages(journal) == before
        append(journal, draft("continued"))
        assert journal.usage("default") == recount(journal)
    assert examine(folder) == []


def test_a_quota_counts_messages_from_before_the_start(folder: Path) -> None:
    with opened(folder) as journal:
        append(journal, draft("a"), draft("b"))
    with closing(SqliteJournal(folder, quotas=lambda _: Quota(messages=3))) as journal:
        append(journal, draft("c"))
        with pytest.raises(QuotaExceeded):
            append(journal, draft("d"))


def test_a_rejected_command_of_a_group_uses_no_quota(folder: Path) -> None:
    with closing(SqliteJournal(folder, quotas=lambda _: Quota(messages=3))) as journal:
        with committer_held(journal):
            batches = [[draft("a")], [draft("b"), draft("c")], [draft("d")], [draft("e")]]
            pending = [PendingCommand(Append(KEY, "", batch)) for batch in batches]
            for pending_command in pending:
                journal.submit(pending_command)
        assert pending[0].wait().results[0].sequence == 1
        with pytest.raises(QuotaExceeded):
            pending[1].wait()
        assert pending[2].wait().results[0].sequence == 2
        with pytest.raises(QuotaExceeded):
            pending[3].wait()


def test_a_commit_that_fails_on_a_full_disk_counts_nothing(folder: Path) -> None:
    with opened(folder) as journal:
        append(journal, draft("a"))
        before = journal.usage("default")
        writer = journal._writer._connection
        (pages,) = writer.execute("PRAGMA page_count").fetchone()
        writer.execute(f"PRAGMA max_page_count = {pages}")
        with pytest.raises(DiskFull):
            append(journal, *(draft(f"{n} {'x' * 1_000}") for n in range(100)))
        assert journal.usage("default") == before == recount(journal)


def test_a_size_that_does_not_match_is_detected(folder: Path) -> None:
    with opened(folder) as journal:
        append(journal, draft("written"))
        put(journal, "text")
        upsert(journal, new_record("kept"))
    with closing(sqlite3.connect(folder / "journal.db", isolation_level=None)) as connection:
        for table in ("sessions", "documents", "records"):
            connection.execute(f"UPDATE {table} SET bytes = bytes + 1")
    found = re.findall(r"the size of (\w+) '", "\n".join(examine(folder)))
    assert found == ["session", "document", "record"]
