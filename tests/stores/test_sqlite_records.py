"""Records on disk: deleted and replaced bodies are in no file, nothing is written twice, damage is detected."""

import random
import re
import signal
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from memsidecar.domain.errors import DataCorrupted
from memsidecar.stores.contract import (
    DeleteRecord,
    Journal,
    Owner,
    Progress,
    RecordChanges,
    RecordKind,
    RecordQuery,
    Scope,
    UpsertRecords,
)
from memsidecar.stores.sqlite import record_rows
from memsidecar.stores.sqlite.integrity import examine
from tests.conformance.builders import ANN, append, draft, erase, execute, forget, new_record, put, record_ids, upsert
from tests.stores.directories import another_process, bytes_of, opened

ARTIFACT = RecordKind.ARTIFACT
SESSION = Owner("default", "", "s1")


def upsert_secrets(journal: Journal, owner: Owner = ANN, source: str = "", kind: RecordKind = ARTIFACT) -> None:
    """Upsert bodies of all sizes, and replace each once."""
    for mark in ("old", "new"):
        bodies = [f"S3CRET {mark} {number} {'x' * (number * 977 % 9_000)}" for number in range(300)]
        records = [
            new_record(body, name=f"n{number}", conflict_key=number, source=source)
            for number, body in enumerate(bodies)
        ]
        upsert(journal, *records, owner=owner, kind=kind)


def test_a_deleted_record_is_in_no_file(folder: Path) -> None:
    with opened(folder) as journal:
        upsert(journal, new_record("S3CRET"), new_record("kept", name="n2"))
        assert b"S3CRET" in bytes_of(folder)
        assert execute(journal, DeleteRecord(ANN, ARTIFACT, "n1")).body == b"S3CRET"
        assert b"S3CRET" not in bytes_of(folder)
        assert b"kept" in bytes_of(folder)
    assert examine(folder) == []


def test_bodies_that_an_upsert_replaces_or_deletes_are_in_no_file(folder: Path) -> None:
    with opened(folder) as journal:
        upsert_secrets(journal)
        assert b"S3CRET old" not in bytes_of(folder)
        public = [new_record(f"public {number}", name=f"n{number}", conflict_key=number) for number in range(150)]
        upsert(journal, *public, deleted=[f"n{number}" for number in range(150, 300)])
        assert b"S3CRET" not in bytes_of(folder)
        assert len(record_ids(journal, limit=1_000)) == 150
    assert examine(folder) == []


@pytest.mark.parametrize("delete_session", [True, False])
def test_the_records_of_an_erased_session_are_in_no_file(folder: Path, delete_session: bool) -> None:
    with opened(folder) as journal:
        append(journal, draft("m"), user_id="ann")
        upsert_secrets(journal, source="s1")
        upsert_secrets(journal, kind=RecordKind.PATTERNS)
        upsert_secrets(journal, SESSION, source="" if delete_session else "s1")
        upsert(journal, new_record("kept", name="kept"))
        erase(journal, delete_session=delete_session)
        assert b"S3CRET" not in bytes_of(folder)
        assert record_ids(journal) == ["kept"]
    assert examine(folder) == []


@pytest.mark.parametrize("seed", range(6))
def test_a_body_stored_beside_a_deleted_one_is_in_no_file_after_its_own_deletion(folder: Path, seed: int) -> None:
    chance = random.Random(seed)
    names = [f"k{number}z" for number in range(chance.randint(2, 12))]
    present: set[str] = set()
    with opened(folder) as journal:
        for _ in range(25):
            for _ in range(chance.randint(1, 8)):
                name = chance.choice(names)
                present.add(name)
                body = f"{name} S3CRET {'y' * chance.choice([1, 10, 100, 700, 1_500, 3_000, 9_000])}"
                upsert(
                    journal,
                    new_record(body, name=name, conflict_key=chance.randint(0, 9), time_us=chance.randint(0, 99)),
                )
            name = chance.choice(sorted(present))
            present.remove(name)
            execute(journal, DeleteRecord(ANN, ARTIFACT, name))
            assert f"{name} S3CRET".encode() not in bytes_of(folder)
    assert examine(folder) == []


def statements_of(journal: Journal, work: Callable[[], object]) -> list[str]:
    """Return the statements other than reads that the writer executes during the work."""
    statements: list[str] = []
    connection = journal._writer._connection  # type: ignore[attr-defined]
    connection.set_trace_callback(statements.append)
    work()
    connection.set_trace_callback(None)
    return [statement for statement in statements if not statement.startswith("SELECT")]


def test_an_upsert_that_changes_nothing_writes_nothing(folder: Path) -> None:
    given = [new_record("one"), new_record("two", name="n2", until_us=3)]
    with opened(folder) as journal:
        upsert(journal, *given, progress=Progress("facts", 5))
        assert (
            statements_of(journal, lambda: upsert(journal, *given, deleted=["x"], progress=Progress("facts", 5))) == []
        )
        assert statements_of(journal, lambda: upsert(journal, progress=Progress("facts", 4))) == []
        assert statements_of(journal, lambda: execute(journal, UpsertRecords(ANN, ARTIFACT, [1], RecordChanges))) == []


def test_new_times_of_a_record_write_no_body(folder: Path) -> None:
    with opened(folder) as journal:
        upsert(journal, new_record("body"))
        for changed in (
            new_record("body", time_us=7),
            new_record("body", until_us=8),
            new_record("body", conflict_key=9, source="s"),
        ):
            statements = statements_of(journal, lambda changed=changed: upsert(journal, changed))  # type: ignore[misc]
            written = [re.split(" SET | VALUES ", statement)[0] for statement in statements]
            assert written == ["BEGIN IMMEDIATE", "UPDATE records", "INSERT OR REPLACE INTO watermarks", "COMMIT"]
            assert journal.record(ANN, ARTIFACT, "n1") == changed


def test_records_are_found_by_indexes_alone_and_listed_without_a_sort(folder: Path) -> None:
    with opened(folder) as journal, closing(sqlite3.connect(folder / "journal.db")) as connection:
        statements: list[str] = []
        connection.set_trace_callback(statements.append)
        record_rows.find_by_conflict_keys(connection, ANN, ARTIFACT, [1])
        record_rows.find_record(connection, ANN, ARTIFACT, "n1")
        record_rows.list_records(connection, RecordQuery(ANN, ARTIFACT), folder)
        record_rows.list_records(connection, RecordQuery(ANN, ARTIFACT, after=(1, "a"), history=True), folder)
        record_rows.find_records_of_session(
            connection, append(journal, draft("m")).head.key, "ann", delete_session=True
        )
        connection.set_trace_callback(None)
        plans = [[row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {query}")] for query in statements]
    assert len(plans) == 5
    for plan in plans:
        assert not any(step.startswith("SCAN") and "VIRTUAL TABLE" not in step for step in plan), plan
    assert (
        "record_conflict_keys (namespace=? AND session_id=? AND user_id=? AND kind=? AND conflict_key=?)" in plans[0][0]
    )
    for plan in plans[2:4]:
        assert "record_times" in plan[0] and not any("TEMP B-TREE" in step for step in plan), plan
    assert any("record_sources (namespace=? AND source=?)" in step for step in plans[4])


UPSERT_AND_DIE = """
import os, signal, sys
from pathlib import Path
from memsidecar.stores.contract import Append, DeleteRecord, RecordKind, Progress, PendingCommand
from memsidecar.stores.sqlite.journal import SqliteJournal
from tests.conformance.builders import ANN, KEY, draft, new_record, upsert
from tests.stores.test_sqlite_group_commit import committer_held

def die(changes):
    if any(change.key == KEY for change in changes):
        os.kill(os.getpid(), signal.SIGKILL)

journal = SqliteJournal(Path(sys.argv[1]))
upsert(journal, new_record("S3CRET"), new_record("kept", name="n2"), progress=Progress("facts", 5))
print("ready", flush=True)
sys.stdin.readline()
with committer_held(journal):
    # Both are committed with one transaction, and the commit event is published before the first step of the purge.
    journal.submit(PendingCommand(DeleteRecord(ANN, RecordKind.ARTIFACT, "n1"), lambda _: None))
    journal.submit(PendingCommand(Append(KEY, "", [draft("m")]), lambda _: None))
    journal.subscribe(die)
sys.stdin.read()
"""


def test_records_survive_a_kill_and_deleted_ones_are_purged_at_the_next_start(folder: Path) -> None:
    with another_process(UPSERT_AND_DIE, folder) as process:
        assert process.stdin is not None
        process.stdin.write("go on\n")
        process.stdin.flush()
        assert process.wait() == -signal.SIGKILL
    assert b"S3CRET" in bytes_of(folder)
    with opened(folder) as journal:
        assert list(journal.records(RecordQuery(ANN, ARTIFACT))) == [new_record("kept", name="n2")]
        assert journal.watermark("facts", "default") == 5
        upsert(journal, new_record("new"))
    # Closing finishes the purge.
    assert b"S3CRET" not in bytes_of(folder)
    with opened(folder) as journal:
        assert list(journal.records(RecordQuery(ANN, ARTIFACT))) == [new_record("kept", name="n2"), new_record("new")]
    assert examine(folder) == []


def test_a_row_id_is_not_used_again_after_a_restart(folder: Path) -> None:
    with opened(folder) as journal:
        upsert(journal, new_record())
        position = journal.archive_position("default")
        execute(journal, DeleteRecord(ANN, ARTIFACT, "n1"))
    with opened(folder) as journal:
        upsert(journal, new_record(name="n2"))
        assert journal.archived_records(Scope("default"), position, 0).items == []
        assert len(journal.archived_records(Scope("default"), journal.archive_position("default"), 0).items) == 1


def test_a_new_row_id_is_above_those_of_an_earlier_version(folder: Path) -> None:
    with opened(folder) as journal:
        for body in ("first", "second"):
            upsert(journal, *(new_record(body, name=f"n{number}", conflict_key=number) for number in range(5)))
    with closing(sqlite3.connect(folder / "journal.db")) as connection:
        connection.execute("UPDATE records SET row_id = (SELECT count(*) FROM records r WHERE r.id <= records.id)")
        connection.commit()
    with opened(folder) as journal:
        position = journal.archive_position("default")
        upsert(journal, new_record(name="later", conflict_key=9))
        assert len(journal.archived_records(Scope("default"), position, 0).items) == 5


def test_acknowledged_records_are_present_after_a_kill(folder: Path) -> None:
    with another_process(UPSERT_AND_DIE, folder):
        pass
    with opened(folder) as journal:
        assert record_ids(journal) == ["n2", "n1"]
        assert put(journal, "beside them").document.row_id == 1
    assert examine(folder) == []


def damage(folder: Path, statement: str) -> None:
    with closing(sqlite3.connect(folder / "journal.db", isolation_level=None)) as connection:
        connection.execute(statement)


DAMAGES = {
    "UPDATE texts SET text = x'00'": "text 1 does not match its checksum",
    "UPDATE texts SET text = NULL": "record 'n1' in namespace 'default' has lost its text",
    "DELETE FROM texts": "record 'n1' in namespace 'default' has lost its text",
}


@pytest.mark.parametrize("statement", DAMAGES)
def test_a_damaged_body_fails_each_read_and_can_be_deleted(folder: Path, statement: str) -> None:
    with opened(folder) as journal:
        upsert(journal, new_record("body", source="s1"))
    damage(folder, statement)
    assert examine(folder) == [f"{folder / 'journal.db'}: {DAMAGES[statement]}"]
    with opened(folder) as journal:
        for read in (
            lambda: journal.record(ANN, ARTIFACT, "n1"),
            lambda: journal.records(RecordQuery(ANN, ARTIFACT)),
            lambda: execute(journal, UpsertRecords(ANN, ARTIFACT, [1], RecordChanges)),
        ):
            with pytest.raises(DataCorrupted):
                read()
        assert execute(journal, DeleteRecord(ANN, ARTIFACT, "n1")) == new_record("", source="s1")
    assert examine(folder) == []


@pytest.mark.parametrize("statement", DAMAGES)
def test_a_damaged_body_can_be_replaced_and_erased_with_its_session(folder: Path, statement: str) -> None:
    with opened(folder) as journal:
        upsert(journal, *(new_record("body", name=name, source="s1") for name in ("n1", "n2")), new_record(name="n3"))
    damage(folder, f"{statement} WHERE row_id < 3")
    with opened(folder) as journal:
        upsert(journal, new_record("body"))
        assert journal.record(ANN, ARTIFACT, "n1") == new_record("body")
        erase(journal, delete_session=True)
        assert record_ids(journal) == ["n3", "n1"]
    assert examine(folder) == []


@pytest.mark.parametrize("kind", [RecordKind.FACT, RecordKind.SUMMARY])
@pytest.mark.parametrize("statement", DAMAGES)
def test_a_damaged_record_goes_with_each_message_of_its_session(folder: Path, statement: str, kind: RecordKind) -> None:
    with opened(folder) as journal:
        append(journal, draft("m1"), draft("m2"))
        upsert(journal, *(new_record("s1/m2", name=name, source="s1") for name in ("n1", "n2")), kind=kind)
    damage(folder, f"{statement} WHERE row_id = 1")
    with opened(folder) as journal:
        forget(journal, "m1")
        assert record_ids(journal, kind=kind) == ["n2"]
    assert examine(folder) == []
