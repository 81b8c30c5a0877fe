"""Groups of upserts and erasures: each command sees all before it, whichever transaction it is part of."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from memsidecar.domain.errors import NotFound
from memsidecar.domain.session import SessionKey
from memsidecar.stores.contract import (
    AdvanceWatermark,
    Append,
    Command,
    DeleteRecord,
    Erase,
    Erased,
    ErasureCounts,
    Owner,
    PendingCommand,
    Progress,
    Record,
    RecordChanges,
    RecordKind,
    UpsertRecords,
)
from memsidecar.stores.sqlite.integrity import examine
from memsidecar.stores.sqlite.journal import SqliteJournal
from tests.conformance.builders import ANN, KEY, append, draft, new_record, record_ids, upsert, upsert_command
from tests.stores.directories import OTHER, bytes_of, opened
from tests.stores.test_sqlite_group_commit import committer_held

ARTIFACT, PATTERNS = RecordKind.ARTIFACT, RecordKind.PATTERNS
SESSION, OTHER_SESSION = Owner("default", "", "s1"), Owner("default", "", "s2")


@pytest.fixture
def journal(folder: Path) -> Iterator[SqliteJournal]:
    with opened(folder) as opened_journal:
        append(opened_journal, draft("m"), user_id="ann")
        append(opened_journal, draft("m"), key=OTHER, user_id="ann")
        yield opened_journal
    assert examine(folder) == []


def submit_group(journal: SqliteJournal, *commands: Command) -> list[PendingCommand]:
    """Submit all commands as one group, and return them completed."""
    pending = [PendingCommand(command) for command in commands]
    with committer_held(journal):
        for pending_command in pending:
            journal.submit(pending_command)
    return pending


@contextmanager
def transactions(journal: SqliteJournal) -> Iterator[list[list[str]]]:
    """Collect the statements of each transaction that the writer executes meanwhile, except reads."""
    executed: list[list[str]] = []

    def collect(statement: str) -> None:
        if statement == "BEGIN IMMEDIATE":
            executed.append([])
        elif executed and not statement.startswith("SELECT"):
            executed[-1].append(statement)

    journal._writer._connection.set_trace_callback(collect)
    yield executed
    journal._writer._connection.set_trace_callback(None)


def counts_of(executed: list[list[str]], prefix: str) -> list[int]:
    """Return how many statements of each transaction start like this, without the transactions that have none."""
    counts = [sum(statement.startswith(prefix) for statement in statements) for statements in executed]
    return [count for count in counts if count]


def row_id_of(journal: SqliteJournal, key: SessionKey) -> int:
    head = journal.head(key)
    assert head is not None
    return head.row_id


@pytest.mark.parametrize("delete_session", [True, False])
@pytest.mark.parametrize("owner", [ANN, SESSION, Owner("elsewhere", "bob")])
def test_an_upsert_derived_from_a_session_that_the_group_erased_before_is_rejected(
    journal: SqliteJournal, delete_session: bool, owner: Owner
) -> None:
    row_id = row_id_of(journal, KEY)
    late = upsert_command(
        new_record("late", source="s1"), owner=owner, derived_from=row_id, progress=Progress("facts", 9)
    )
    erased, rejected = submit_group(journal, Erase(KEY, "", delete_session), late)
    assert erased.wait().counts.messages == 1
    with pytest.raises(NotFound):
        rejected.wait()
    assert record_ids(journal, owner) == []
    assert journal.watermark("facts", owner.namespace) == 0


@pytest.mark.parametrize("delete_session", [True, False])
def test_an_erasure_removes_the_records_that_the_group_upserted_before(
    journal: SqliteJournal, folder: Path, delete_session: bool
) -> None:
    row_id = row_id_of(journal, KEY)
    pending = submit_group(
        journal,
        upsert_command(new_record("S3CRET", source="s1"), derived_from=row_id),
        upsert_command(
            new_record("S3CRET", source="s1"), owner=OTHER_SESSION, kind=RecordKind.SUMMARY, derived_from=row_id
        ),
        upsert_command(new_record("S3CRET"), kind=PATTERNS),
        Erase(KEY, "", delete_session),
    )
    for pending_command in pending:
        pending_command.wait()
    assert (
        record_ids(journal)
        == record_ids(journal, OTHER_SESSION, RecordKind.SUMMARY)
        == record_ids(journal, ANN, PATTERNS)
        == []
    )
    assert b"S3CRET" not in bytes_of(folder)


def test_an_upsert_is_not_given_records_that_the_group_erased_before(journal: SqliteJournal, folder: Path) -> None:
    upsert(journal, new_record("S3CRET", source="s1"))

    def join_bodies(found: Sequence[Record]) -> RecordChanges:
        return RecordChanges([new_record("of " + b" ".join(record.body for record in found).decode(), name="n2")])

    for pending_command in submit_group(journal, Erase(KEY, ""), UpsertRecords(ANN, ARTIFACT, [1], join_bodies)):
        pending_command.wait()
    assert journal.record(ANN, ARTIFACT, "n2") == new_record("of ", name="n2")
    assert b"S3CRET" not in bytes_of(folder)


def test_a_record_that_the_group_erased_before_cannot_be_deleted(journal: SqliteJournal) -> None:
    upsert(journal, new_record(source="s1"))
    erased, deleted = submit_group(journal, Erase(KEY, ""), DeleteRecord(ANN, ARTIFACT, "n1"))
    erased.wait()
    with pytest.raises(NotFound):
        deleted.wait()


def test_an_erasure_does_not_find_a_record_that_the_group_deleted_before(journal: SqliteJournal, folder: Path) -> None:
    upsert(journal, new_record("S3CRET", source="unknown"))
    deleted, erased = submit_group(
        journal, DeleteRecord(ANN, ARTIFACT, "n1"), Erase(SessionKey("default", "unknown"), "", True)
    )
    assert deleted.wait().body == b"S3CRET"
    with pytest.raises(NotFound):
        erased.wait()
    assert b"S3CRET" not in bytes_of(folder)


def test_erasures_of_one_transaction_delete_shared_records_once(journal: SqliteJournal, folder: Path) -> None:
    upsert(journal, new_record("S3CRET"), kind=PATTERNS)
    upsert(journal, new_record("S3CRET", source="s2"), owner=SESSION)
    with transactions(journal) as executed:
        pending = submit_group(journal, Erase(KEY, "", delete_session=True), Erase(OTHER, "", delete_session=True))
        first, second = (pending_command.wait().counts for pending_command in pending)
        assert first == ErasureCounts(messages=1, artifacts=1, patterns=1, sessions=1)
        assert second == ErasureCounts(messages=1, sessions=1)
    assert counts_of(executed, "DELETE FROM sessions") == [2]
    assert counts_of(executed, "INSERT INTO orphaned_texts") == [2]
    assert record_ids(journal, ANN, PATTERNS) == record_ids(journal, SESSION) == []
    assert b"S3CRET" not in bytes_of(folder)


def test_a_second_erasure_finds_no_session_whose_last_record_the_first_removed(journal: SqliteJournal) -> None:
    upsert(journal, new_record(source="unknown"), owner=SESSION)
    first, second = submit_group(
        journal, Erase(KEY, "", delete_session=True), Erase(SessionKey("default", "unknown"), "", delete_session=True)
    )
    assert first.wait() == Erased(None, ErasureCounts(messages=1, artifacts=1, sessions=1))
    with pytest.raises(NotFound):
        second.wait()


def test_records_of_many_owners_share_a_transaction_with_messages(journal: SqliteJournal) -> None:
    owners = [Owner("default", f"user {number}") for number in range(20)]
    with transactions(journal) as executed:
        pending = submit_group(
            journal,
            *(upsert_command(new_record(f"{owner}"), owner=owner, progress=Progress("facts", 3)) for owner in owners),
            *(upsert_command(new_record(f"{owner}"), owner=owner, kind=RecordKind.SUMMARY) for owner in owners),
            Append(KEY, "", [draft("m2")]),
            AdvanceWatermark("facts", "default", 2),
        )
        for pending_command in pending:
            pending_command.wait()
    assert counts_of(executed, "INSERT INTO records") == [40]
    assert executed[-1][-2].startswith("INSERT INTO new_messages")
    assert all(
        record_ids(journal, owner) == record_ids(journal, owner, RecordKind.SUMMARY) == ["n1"] for owner in owners
    )
    assert journal.watermark("facts", "default") == 3
