"""Log entries of facts and summaries: no name of what was erased is in any file."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from memsidecar.domain.session import SessionKey
from memsidecar.stores.contract import DeleteRecord, EraseUser, Owner, RecordKind, Scope
from memsidecar.stores.sqlite import events
from memsidecar.stores.sqlite.integrity import examine
from tests.conformance.builders import append, draft, erase, execute, new_record, upsert
from tests.stores.directories import bytes_of, opened

USER = Owner("default", "S3CRET-user")
SESSION = Owner("default", "", "S3CRET-session")
KEY = SessionKey("default", "S3CRET-session")


def test_the_log_holds_no_names_of_owners_and_records(folder: Path) -> None:
    with opened(folder) as journal:
        upsert(journal, new_record(name="S3CRET-fact"), owner=USER, kind=RecordKind.FACT)
        upsert(journal, new_record(name="S3CRET-summary"), owner=SESSION, kind=RecordKind.SUMMARY)
    with closing(sqlite3.connect(folder / "journal.db")) as connection:
        rows = connection.execute("SELECT * FROM log").fetchall()
    assert len(rows) == 2
    assert "S3CRET" not in repr(rows)
    assert examine(folder) == []


@pytest.mark.parametrize("keep_fact", [True, False], ids=["with a fact", "after its last fact was deleted"])
def test_the_name_of_an_erased_user_is_in_no_file(folder: Path, keep_fact: bool) -> None:
    with opened(folder) as journal:
        upsert(journal, new_record(name="f"), owner=USER, kind=RecordKind.FACT)
        if not keep_fact:
            execute(journal, DeleteRecord(USER, RecordKind.FACT, "f"))
        assert b"S3CRET" in bytes_of(folder)
        execute(journal, EraseUser("default", USER.user_id))
        assert b"S3CRET" not in bytes_of(folder)


@pytest.mark.parametrize("with_messages", [True, False])
def test_the_name_of_a_deleted_session_is_in_no_file(folder: Path, with_messages: bool) -> None:
    with opened(folder) as journal:
        if with_messages:
            append(journal, draft("a"), key=KEY)
        upsert(journal, new_record(name="s"), owner=SESSION, kind=RecordKind.SUMMARY)
        upsert(journal, new_record(name="f"), owner=SESSION, kind=RecordKind.FACT)
        assert b"S3CRET" in bytes_of(folder)
        erase(journal, key=KEY, delete_session=True)
        assert b"S3CRET" not in bytes_of(folder)


def test_the_name_of_a_session_of_an_erased_user_is_in_no_file(folder: Path) -> None:
    with opened(folder) as journal:
        append(journal, draft("a"), key=KEY, user_id=USER.user_id)
        upsert(journal, new_record(name="s"), owner=SESSION, kind=RecordKind.SUMMARY)
        execute(journal, EraseUser("default", USER.user_id))
        assert b"S3CRET" not in bytes_of(folder)


def test_a_read_passes_a_bounded_part_of_the_log(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "PAGE_ENTRIES", 3)
    with opened(folder) as journal:
        append(journal, *(draft(f"x{at}") for at in range(7)), key=SessionKey("elsewhere", "s"))
        append(journal, draft("mine"))
        pages = [journal.read_events(Scope("default"), after, 10) for after in (0, 3, 6)]
    assert [(len(page.events), page.lsn, page.is_last) for page in pages] == [
        (0, 3, False),
        (0, 6, False),
        (1, 8, True),
    ]
