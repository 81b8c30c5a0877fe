"""Notes and erasures that are submitted together: each sees all before it, whatever fits into one transaction."""

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
from tests.conformance.builders import ANN, KEY, append, draft, keep, note, notes, revising
from tests.stores.directories import OTHER, bytes_of, opened
from tests.stores.test_sqlite_groups import held

ARTIFACT, PATTERNS = RecordKind.ARTIFACT, RecordKind.PATTERNS
SESSION, BESIDE = Owner("default", "", "s1"), Owner("default", "", "s2")


@pytest.fixture
def journal(folder: Path) -> Iterator[SqliteJournal]:
    with opened(folder) as opened_journal:
        append(opened_journal, draft("m"), user_id="ann")
        append(opened_journal, draft("m"), key=OTHER, user_id="ann")
        yield opened_journal
    assert examine(folder) == []


def together(journal: SqliteJournal, *commands: Command) -> list[PendingCommand]:
    """Submit all as one group; settled when this returns."""
    tickets = [PendingCommand(command) for command in commands]
    with held(journal):
        for ticket in tickets:
            journal.submit(ticket)
    return tickets


@contextmanager
def transactions(journal: SqliteJournal) -> Iterator[list[list[str]]]:
    """What is written meanwhile, but for reads."""
    said: list[list[str]] = []

    def hear(statement: str) -> None:
        if statement == "BEGIN IMMEDIATE":
            said.append([])
        elif said and not statement.startswith("SELECT"):
            said[-1].append(statement)

    journal._writer._connection.set_trace_callback(hear)
    yield said
    journal._writer._connection.set_trace_callback(None)


def writing(said: list[list[str]], beginning: str) -> list[int]:
    """How many statements of each transaction that has one begin like this."""
    counts = [sum(one.startswith(beginning) for one in statements) for statements in said]
    return [count for count in counts if count]


def number_of(journal: SqliteJournal, key: SessionKey) -> int:
    head = journal.head(key)
    assert head is not None
    return head.row_id


@pytest.mark.parametrize("delete_session", [True, False])
@pytest.mark.parametrize("owner", [ANN, SESSION, Owner("elsewhere", "bob")])
def test_nothing_is_made_of_what_the_group_erased_before(
    journal: SqliteJournal, delete_session: bool, owner: Owner
) -> None:
    number = number_of(journal, KEY)
    late = revising(note("late", source="s1"), owner=owner, derived_from=number, progress=Progress("facts", 9))
    erased, refused = together(journal, Erase(KEY, "", delete_session), late)
    assert erased.wait().counts.messages == 1
    with pytest.raises(NotFound):
        refused.wait()
    assert notes(journal, owner) == []
    assert journal.watermark("facts", owner.namespace) == 0


@pytest.mark.parametrize("delete_session", [True, False])
def test_an_erasure_takes_what_the_group_made_before_it(
    journal: SqliteJournal, folder: Path, delete_session: bool
) -> None:
    number = number_of(journal, KEY)
    tickets = together(
        journal,
        revising(note("S3CRET", source="s1"), derived_from=number),
        revising(note("S3CRET", source="s1"), owner=BESIDE, kind=RecordKind.SUMMARY, derived_from=number),
        revising(note("S3CRET"), kind=PATTERNS),
        Erase(KEY, "", delete_session),
    )
    for ticket in tickets:
        ticket.wait()
    assert notes(journal) == notes(journal, BESIDE, RecordKind.SUMMARY) == notes(journal, ANN, PATTERNS) == []
    assert b"S3CRET" not in bytes_of(folder)


def test_no_revision_is_given_what_the_group_erased_before(journal: SqliteJournal, folder: Path) -> None:
    keep(journal, note("S3CRET", source="s1"))

    def repeat(found: Sequence[Record]) -> RecordChanges:
        return RecordChanges([note("of " + b" ".join(one.body for one in found).decode(), name="n2")])

    for ticket in together(journal, Erase(KEY, ""), UpsertRecords(ANN, ARTIFACT, [1], repeat)):
        ticket.wait()
    assert journal.record(ANN, ARTIFACT, "n2") == note("of ", name="n2")
    assert b"S3CRET" not in bytes_of(folder)


def test_what_the_group_erased_before_cannot_be_dropped(journal: SqliteJournal) -> None:
    keep(journal, note(source="s1"))
    erased, dropped = together(journal, Erase(KEY, ""), DeleteRecord(ANN, ARTIFACT, "n1"))
    erased.wait()
    with pytest.raises(NotFound):
        dropped.wait()


def test_what_the_group_dropped_before_is_not_there_for_an_erasure(journal: SqliteJournal, folder: Path) -> None:
    keep(journal, note("S3CRET", source="unknown"))
    dropped, erased = together(
        journal, DeleteRecord(ANN, ARTIFACT, "n1"), Erase(SessionKey("default", "unknown"), "", True)
    )
    assert dropped.wait().body == b"S3CRET"
    with pytest.raises(NotFound):
        erased.wait()
    assert b"S3CRET" not in bytes_of(folder)


def test_erasures_of_one_transaction_drop_what_they_share_once(journal: SqliteJournal, folder: Path) -> None:
    keep(journal, note("S3CRET"), kind=PATTERNS)
    keep(journal, note("S3CRET", source="s2"), owner=SESSION)
    with transactions(journal) as said:
        tickets = together(journal, Erase(KEY, "", delete_session=True), Erase(OTHER, "", delete_session=True))
        first, second = (ticket.wait().counts for ticket in tickets)
        assert first == ErasureCounts(messages=1, artifacts=1, patterns=1)
        assert second == ErasureCounts(messages=1)
    assert writing(said, "DELETE FROM sessions") == [2]
    assert writing(said, "INSERT INTO orphaned_texts") == [2]
    assert notes(journal, ANN, PATTERNS) == notes(journal, SESSION) == []
    assert b"S3CRET" not in bytes_of(folder)


def test_the_second_of_two_erasures_finds_no_session_of_which_the_first_took_all(journal: SqliteJournal) -> None:
    keep(journal, note(source="unknown"), owner=SESSION)
    first, second = together(
        journal, Erase(KEY, "", delete_session=True), Erase(SessionKey("default", "unknown"), "", delete_session=True)
    )
    assert first.wait() == Erased(None, ErasureCounts(messages=1, artifacts=1))
    with pytest.raises(NotFound):
        second.wait()


def test_notes_of_many_owners_share_a_transaction_with_messages(journal: SqliteJournal) -> None:
    owners = [Owner("default", f"user {number}") for number in range(20)]
    with transactions(journal) as said:
        tickets = together(
            journal,
            *(revising(note(f"{owner}"), owner=owner, progress=Progress("facts", 3)) for owner in owners),
            *(revising(note(f"{owner}"), owner=owner, kind=RecordKind.SUMMARY) for owner in owners),
            Append(KEY, "", [draft("m2")]),
            AdvanceWatermark("facts", "default", 2),
        )
        for ticket in tickets:
            ticket.wait()
    assert writing(said, "INSERT INTO records") == [40]
    assert said[-1][-2].startswith("INSERT INTO new_messages")
    assert all(notes(journal, owner) == notes(journal, owner, RecordKind.SUMMARY) == ["n1"] for owner in owners)
    assert journal.watermark("facts", "default") == 3
