"""Notes on disk: dropped and replaced bodies are in no file, nothing is written twice, and damage is noticed."""

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
    UpsertRecords,
)
from memsidecar.stores.sqlite import records as note_rows
from memsidecar.stores.sqlite.integrity import examine
from tests.conformance.builders import ANN, append, carry_out, draft, erase, keep, note, notes, put
from tests.stores.directories import another_process, bytes_of, opened

ARTIFACT = RecordKind.ARTIFACT
SESSION = Owner("default", "", "s1")


def keep_secrets(journal: Journal, owner: Owner = ANN, source: str = "", kind: RecordKind = ARTIFACT) -> None:
    """Bodies of all sizes, each written anew once."""
    for mark in ("old", "new"):
        bodies = [f"S3CRET {mark} {number} {'x' * (number * 977 % 9_000)}" for number in range(300)]
        made = [note(body, name=f"n{number}", slot=number, source=source) for number, body in enumerate(bodies)]
        keep(journal, *made, owner=owner, kind=kind)


def test_a_dropped_note_is_in_no_file(folder: Path) -> None:
    with opened(folder) as journal:
        keep(journal, note("S3CRET"), note("kept", name="n2"))
        assert b"S3CRET" in bytes_of(folder)
        assert carry_out(journal, DeleteRecord(ANN, ARTIFACT, "n1")).body == b"S3CRET"
        assert b"S3CRET" not in bytes_of(folder)
        assert b"kept" in bytes_of(folder)
    assert examine(folder) == []


def test_replaced_and_dropped_bodies_of_a_revision_are_in_no_file(folder: Path) -> None:
    with opened(folder) as journal:
        keep_secrets(journal)
        assert b"S3CRET old" not in bytes_of(folder)
        public = [note(f"public {number}", name=f"n{number}", slot=number) for number in range(150)]
        keep(journal, *public, dropped=[f"n{number}" for number in range(150, 300)])
        assert b"S3CRET" not in bytes_of(folder)
        assert len(notes(journal, limit=1_000)) == 150
    assert examine(folder) == []


@pytest.mark.parametrize("delete_session", [True, False])
def test_the_notes_of_an_erased_session_are_in_no_file(folder: Path, delete_session: bool) -> None:
    with opened(folder) as journal:
        append(journal, draft("m"), user_id="ann")
        keep_secrets(journal, source="s1")
        keep_secrets(journal, kind=RecordKind.PATTERNS)
        keep_secrets(journal, SESSION, source="" if delete_session else "s1")
        keep(journal, note("kept", name="kept"))
        erase(journal, delete_session=delete_session)
        assert b"S3CRET" not in bytes_of(folder)
        assert notes(journal) == ["kept"]
    assert examine(folder) == []


@pytest.mark.parametrize("seed", range(6))
def test_a_body_beside_what_was_dropped_before_is_in_no_file_after_its_own_end(folder: Path, seed: int) -> None:
    chance = random.Random(seed)
    names = [f"k{number}z" for number in range(chance.randint(2, 12))]
    there: set[str] = set()
    with opened(folder) as journal:
        for _ in range(25):
            for _ in range(chance.randint(1, 8)):
                name = chance.choice(names)
                there.add(name)
                body = f"{name} S3CRET {'y' * chance.choice([1, 10, 100, 700, 1_500, 3_000, 9_000])}"
                keep(journal, note(body, name=name, slot=chance.randint(0, 9), time_us=chance.randint(0, 99)))
            name = chance.choice(sorted(there))
            there.remove(name)
            carry_out(journal, DeleteRecord(ANN, ARTIFACT, name))
            assert f"{name} S3CRET".encode() not in bytes_of(folder)
    assert examine(folder) == []


def traced(journal: Journal, work: Callable[[], object]) -> list[str]:
    """What is written meanwhile."""
    said: list[str] = []
    connection = journal._writer._connection  # type: ignore[attr-defined]
    connection.set_trace_callback(said.append)
    work()
    connection.set_trace_callback(None)
    return [one for one in said if not one.startswith("SELECT")]


def test_nothing_is_written_when_nothing_is_new(folder: Path) -> None:
    given = [note("one"), note("two", name="n2", until_us=3)]
    with opened(folder) as journal:
        keep(journal, *given, progress=Progress("facts", 5))
        assert traced(journal, lambda: keep(journal, *given, dropped=["x"], progress=Progress("facts", 5))) == []
        assert traced(journal, lambda: keep(journal, progress=Progress("facts", 4))) == []
        assert traced(journal, lambda: carry_out(journal, UpsertRecords(ANN, ARTIFACT, [1], RecordChanges))) == []


def test_new_times_write_no_text(folder: Path) -> None:
    with opened(folder) as journal:
        keep(journal, note("body"))
        for moved in (note("body", time_us=7), note("body", until_us=8), note("body", slot=9, source="s")):
            said = traced(journal, lambda moved=moved: keep(journal, moved))  # type: ignore[misc]
            written = [re.split(" SET | VALUES ", one)[0] for one in said]
            assert written == ["BEGIN IMMEDIATE", "UPDATE records", "INSERT OR REPLACE INTO watermarks", "COMMIT"]
            assert journal.record(ANN, ARTIFACT, "n1") == moved


def test_notes_are_found_by_indexes_alone_and_listed_without_a_sort(folder: Path) -> None:
    with opened(folder) as journal, closing(sqlite3.connect(folder / "journal.db")) as connection:
        said: list[str] = []
        connection.set_trace_callback(said.append)
        note_rows.find_by_conflict_keys(connection, ANN, ARTIFACT, [1])
        note_rows.find_record(connection, ANN, ARTIFACT, "n1")
        note_rows.list_records(connection, RecordQuery(ANN, ARTIFACT), folder)
        note_rows.list_records(connection, RecordQuery(ANN, ARTIFACT, after=(1, "a"), history=True), folder)
        note_rows.find_records_of_session(connection, append(journal, draft("m")).head.key, "ann", delete_session=True)
        connection.set_trace_callback(None)
        plans = [[row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {query}")] for query in said]
    assert len(plans) == 5
    for plan in plans:
        assert not any(step.startswith("SCAN") and "VIRTUAL TABLE" not in step for step in plan), plan
    assert (
        "record_conflict_keys (namespace=? AND session_id=? AND user_id=? AND kind=? AND conflict_key=?)" in plans[0][0]
    )
    for plan in plans[2:4]:
        assert "record_times" in plan[0] and not any("TEMP B-TREE" in step for step in plan), plan
    assert any("record_sources (namespace=? AND source=?)" in step for step in plans[4])


KEEP_AND_DIE = """
import os, signal, sys
from pathlib import Path
from memsidecar.stores.contract import Append, DeleteRecord, RecordKind, Progress, PendingCommand
from memsidecar.stores.sqlite.journal import SqliteJournal
from tests.conformance.builders import ANN, KEY, draft, keep, note
from tests.stores.test_sqlite_groups import held

def die(changes):
    if any(change.key == KEY for change in changes):
        os.kill(os.getpid(), signal.SIGKILL)

journal = SqliteJournal(Path(sys.argv[1]))
keep(journal, note("S3CRET"), note("kept", name="n2"), progress=Progress("facts", 5))
print("ready", flush=True)
sys.stdin.readline()
with held(journal):
    # Both are committed with one transaction, and the change is told before the first step.
    journal.submit(PendingCommand(DeleteRecord(ANN, RecordKind.ARTIFACT, "n1"), lambda _: None))
    journal.submit(PendingCommand(Append(KEY, "", [draft("m")]), lambda _: None))
    journal.subscribe(die)
sys.stdin.read()
"""


def test_notes_survive_a_kill_and_what_was_dropped_is_erased_at_the_next_start(folder: Path) -> None:
    with another_process(KEEP_AND_DIE, folder) as process:
        assert process.stdin is not None
        process.stdin.write("go on\n")
        process.stdin.flush()
        assert process.wait() == -signal.SIGKILL
    assert b"S3CRET" in bytes_of(folder)
    with opened(folder) as journal:
        assert list(journal.records(RecordQuery(ANN, ARTIFACT))) == [note("kept", name="n2")]
        assert journal.watermark("facts", "default") == 5
        keep(journal, note("new"))
    # Closing finishes what was begun.
    assert b"S3CRET" not in bytes_of(folder)
    with opened(folder) as journal:
        assert list(journal.records(RecordQuery(ANN, ARTIFACT))) == [note("kept", name="n2"), note("new")]
    assert examine(folder) == []


def test_acknowledged_notes_are_there_after_a_kill(folder: Path) -> None:
    with another_process(KEEP_AND_DIE, folder):
        pass
    with opened(folder) as journal:
        assert notes(journal) == ["n2", "n1"]
        assert put(journal, "beside them").document.row_id == 1
    assert examine(folder) == []


def damage(folder: Path, statement: str) -> None:
    with closing(sqlite3.connect(folder / "journal.db", isolation_level=None)) as outside:
        outside.execute(statement)


DAMAGES = {
    "UPDATE texts SET text = x'00'": "text 1 does not match its checksum",
    "UPDATE texts SET text = NULL": "record 'n1' in namespace 'default' has lost its text",
    "DELETE FROM texts": "record 'n1' in namespace 'default' has lost its text",
}


@pytest.mark.parametrize("statement", DAMAGES)
def test_a_damaged_body_is_noticed_by_everybody_and_can_be_dropped(folder: Path, statement: str) -> None:
    with opened(folder) as journal:
        keep(journal, note("body", source="s1"))
    damage(folder, statement)
    assert examine(folder) == [f"{folder / 'journal.db'}: {DAMAGES[statement]}"]
    with opened(folder) as journal:
        for read in (
            lambda: journal.record(ANN, ARTIFACT, "n1"),
            lambda: journal.records(RecordQuery(ANN, ARTIFACT)),
            lambda: carry_out(journal, UpsertRecords(ANN, ARTIFACT, [1], RecordChanges)),
        ):
            with pytest.raises(DataCorrupted):
                read()
        assert carry_out(journal, DeleteRecord(ANN, ARTIFACT, "n1")) == note("", source="s1")
    assert examine(folder) == []


@pytest.mark.parametrize("statement", DAMAGES)
def test_a_damaged_body_can_be_replaced_and_erased_with_its_session(folder: Path, statement: str) -> None:
    with opened(folder) as journal:
        keep(journal, *(note("body", name=name, source="s1") for name in ("n1", "n2")), note(name="n3"))
    damage(folder, f"{statement} WHERE row_id < 3")
    with opened(folder) as journal:
        keep(journal, note("body"))
        assert journal.record(ANN, ARTIFACT, "n1") == note("body")
        erase(journal, delete_session=True)
        assert notes(journal) == ["n3", "n1"]
    assert examine(folder) == []
