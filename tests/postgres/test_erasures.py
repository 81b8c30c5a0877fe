"""Erasures leave no row behind, continue after a crash, and lock what they remove."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, cast

import psycopg
import pytest
from psycopg import Connection, sql

from memsidecar.domain.errors import NotFound, ShuttingDown
from memsidecar.domain.message import Draft
from memsidecar.domain.session import Policy, SessionKey
from memsidecar.stores.contract import (
    Erase,
    EraseUser,
    ForgetMessages,
    ImportMessages,
    Journal,
    MessageImport,
    Outcome,
    Owner,
    PendingCommand,
    RecordKind,
    SetPolicy,
    Tombstone,
    TombstoneKind,
    UpdateWindow,
)
from memsidecar.stores.postgres.deletion_queue import MAX_ROWS_PER_STEP
from memsidecar.stores.postgres.integrity import examine
from memsidecar.stores.tombstones import digest_of
from tests.conformance.builders import (
    ANN,
    DERIVATIONS,
    KEY,
    append,
    contents,
    draft,
    erase,
    execute,
    known_head,
    new_record,
    put,
    read,
    record_ids,
    shortened,
    upsert,
    upsert_command,
)
from tests.postgres.conftest import OpenJournal
from tests.support.waiting import until

# Each name and text of the user has this word.
SECRET = "canary"
USER = f"{SECRET}-user"
SESSION = SessionKey("default", f"{SECRET}-session")
_COPY_TO_BOB = """INSERT INTO records SELECT nextval('record_row_ids'), namespace, '', 'bob', kind, id, conflict_key,
  source, time_us, until_us, body, first_lsn FROM records"""
_TABLES = "SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY tablename"


@pytest.fixture
def connection(url: str) -> Iterator[Connection]:
    with psycopg.connect(url, autocommit=True) as opened:
        yield opened


@pytest.fixture
def journal(open_journal: OpenJournal) -> Journal:
    return cast(Journal, open_journal())


def rows_with(connection: Connection, word: str) -> dict[str, int]:
    """Return the number of rows that have a word, by table. Bytes are searched, too."""
    found = {}
    for (table,) in connection.execute(_TABLES).fetchall():
        rows = connection.execute(sql.SQL("SELECT * FROM {}").format(sql.Identifier(table))).fetchall()
        found[table] = sum(any(word.encode() in _bytes(value) for value in row) for row in rows)
    return {table: count for table, count in found.items() if count}


def _bytes(value: Any) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode()


def count_rows(connection: Connection, table: str) -> int:
    ((count,),) = connection.execute(sql.SQL("SELECT count(*) FROM {}").format(sql.Identifier(table))).fetchall()
    return int(count)


def store_everything(journal: Journal, key: SessionKey = SESSION, user_id: str = USER) -> None:
    """Store something of each kind that belongs to a session or its user."""
    texts = [f"{SECRET} {number}" for number in range(5)]
    append(journal, *map(draft, texts), key=key, user_id=user_id)
    head, window = known_head(journal, key), read(journal, key)
    short = [shortened(window[1], f"{SECRET} short", 1)]
    execute(journal, UpdateWindow(key, head.version, [window[0].sequence], short))
    execute(journal, SetPolicy(key, user_id, Policy(model=SECRET)))
    for owner in (Owner("default", user_id), Owner("default", "", key.session_id), Owner("default", "bob")):
        for kind in RecordKind:
            record = new_record(SECRET, name=f"{SECRET} {kind}", conflict_key=kind, source=key.session_id)
            upsert(journal, record, owner=owner, kind=kind)
    for owner in (Owner("default", user_id), Owner("default", "", key.session_id)):
        put(
            journal,
            *texts,
            owner=owner,
            name=f"{SECRET} document",
            title=SECRET,
            source=SECRET,
            metadata=SECRET.encode(),
        )


def test_no_table_has_a_row_of_an_erased_user(journal: Journal, connection: Connection, url: str) -> None:
    append(journal, draft("kept"))
    store_everything(journal)
    tables = {"messages", "sessions", "records", "documents", "chunks", "owners", "policies"}
    assert rows_with(connection, SECRET).keys() == tables
    execute(journal, EraseUser("default", USER))
    assert rows_with(connection, SECRET) == {}
    assert [count_rows(connection, table) for table in ("erased_sessions", "erased_documents", "chunks")] == [0, 0, 0]
    assert contents(journal) == ["kept"]
    assert examine(lambda: url) == []


def test_no_table_has_a_row_of_a_deleted_session(journal: Journal, connection: Connection, url: str) -> None:
    store_everything(journal, user_id="ann")
    erase(journal, delete_session=True, key=SESSION)
    left = rows_with(connection, SECRET)
    assert left.keys() == {"documents", "chunks"}  # those of the user
    execute(journal, EraseUser("default", "ann"))
    assert rows_with(connection, SECRET) == {}
    assert examine(lambda: url) == []


def test_no_table_has_a_row_of_a_forgotten_message(journal: Journal, connection: Connection, url: str) -> None:
    append(journal, draft("kept"), draft(SECRET))
    short = [shortened(read(journal)[1], f"{SECRET} short", 1)]
    execute(journal, UpdateWindow(KEY, known_head(journal).version, (), short))
    assert rows_with(connection, SECRET) == {"messages": 1}
    execute(journal, ForgetMessages(KEY, "", [SECRET], DERIVATIONS))
    assert rows_with(connection, SECRET) == {}
    assert examine(lambda: url) == []


def many(count: int) -> Sequence[Draft]:
    return [draft(f"m{number}") for number in range(count)]


@contextmanager
def locked_row(url: str) -> Iterator[None]:
    """Lock one message, as another process does that is deleting it."""
    with psycopg.connect(url) as connection:
        connection.execute("SELECT FROM messages ORDER BY session, sequence LIMIT 1 FOR UPDATE")
        yield


def submit(journal: Journal, command: Any) -> PendingCommand:
    pending = PendingCommand(command)
    journal.submit(pending)
    return pending


def test_an_erasure_is_answered_when_its_last_row_is_deleted(
    journal: Journal, connection: Connection, url: str
) -> None:
    append(journal, *many(2 * MAX_ROWS_PER_STEP + 1))
    with locked_row(url):
        pending = submit(journal, Erase(KEY, "", delete_session=True))
        until(lambda: count_rows(connection, "messages") == 1)
        assert not pending.done and journal.head(KEY) is None
        append(journal, draft("other"), key=SessionKey("default", "other"))
        second = submit(journal, EraseUser("default", "nobody"))
        assert not second.done
    pending.wait(), second.wait()
    assert [count_rows(connection, table) for table in ("messages", "erased_sessions")] == [1, 0]


def test_the_next_process_deletes_what_a_closed_one_has_left(
    open_journal: OpenJournal, connection: Connection, url: str
) -> None:
    journal = open_journal()
    append(cast(Journal, journal), *many(3))
    with locked_row(url):
        pending = submit(cast(Journal, journal), Erase(KEY, ""))
        until(lambda: count_rows(connection, "messages") == 1)
        journal.close()
        with pytest.raises(ShuttingDown):
            pending.wait()
    assert count_rows(connection, "erased_sessions") == 1
    open_journal()
    until(lambda: count_rows(connection, "messages") + count_rows(connection, "erased_sessions") == 0)


def waits_for_a_lock(connection: Connection) -> bool:
    query = "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND application_name = 'memsidecar'"
    return connection.execute(query).fetchone() is not None


def test_an_erasure_sees_what_another_process_adds_while_it_waits(
    journal: Journal, connection: Connection, url: str
) -> None:
    append(journal, draft("m"))
    upsert(journal, new_record(source="s1"), kind=RecordKind.SUMMARY)
    with psycopg.connect(url) as other:
        other.execute("SELECT FROM owners FOR NO KEY UPDATE")
        pending = submit(journal, Erase(KEY, ""))
        until(lambda: waits_for_a_lock(connection))
        other.execute(_COPY_TO_BOB)
    assert pending.wait().counts.summaries == 2
    assert count_rows(connection, "records") == 0


def test_an_import_sees_the_tombstone_of_an_erasure_that_it_waits_for(
    journal: Journal, connection: Connection, url: str
) -> None:
    append(journal, draft("m"))
    with psycopg.connect(url) as other:
        other.execute("SELECT FROM namespaces FOR NO KEY UPDATE")
        message = MessageImport(SessionKey("default", "s2"), "ann", draft("imported"))
        pending = submit(journal, ImportMessages([message]))
        until(lambda: waits_for_a_lock(connection))
        ((key,),) = other.execute("SELECT value FROM secrets WHERE name = 'tombstones'").fetchall()
        digest = digest_of(key, Tombstone(TombstoneKind.USER, ("ann",)))
        other.execute("INSERT INTO tombstones SELECT number, 1, %s, 2000 FROM namespaces", (digest,))
    assert pending.wait().outcomes == [Outcome.FORGOTTEN]
    assert journal.head(message.key) is None


def test_a_record_is_not_derived_from_a_session_that_is_being_erased(
    journal: Journal, connection: Connection, url: str
) -> None:
    append(journal, draft("m"))
    session = known_head(journal).row_id
    with psycopg.connect(url) as other:
        other.execute("DELETE FROM sessions")
        command = upsert_command(new_record(source="s1"), owner=ANN, kind=RecordKind.FACT, derived_from=session)
        pending = submit(journal, command)
        until(lambda: waits_for_a_lock(connection))
    with pytest.raises(NotFound):
        pending.wait()
    assert record_ids(journal, ANN, RecordKind.FACT) == []
