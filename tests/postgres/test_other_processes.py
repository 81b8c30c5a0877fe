"""What a journal does when another process uses the same database: the lease, positions in the log, quotas."""

from collections.abc import Iterator, Sequence

import psycopg
import pytest

from memsidecar.domain.errors import JournalUnavailable, QuotaExceeded, StartRefused
from memsidecar.domain.message import StoredMessage
from memsidecar.domain.quota import Quota
from memsidecar.stores.contract import (
    PendingCommand,
    PutDocument,
    Record,
    RecordChanges,
    RecordKind,
    Revision,
    Scope,
    UpdateWindow,
    UpdateWindowExclusive,
    UpsertRecords,
)
from memsidecar.stores.postgres.integrity import examine
from memsidecar.stores.postgres.journal import PostgresJournal
from tests.conformance.builders import (
    ANN,
    KEY,
    append,
    contents,
    document,
    draft,
    execute,
    follow,
    known_head,
    new_record,
    update_message,
)
from tests.postgres.conftest import OpenJournal

_TAKE_OVER = "UPDATE leases SET holder = gen_random_uuid(), epoch = epoch + 1, until = until + interval '1 hour'"
_TAKE_LSNS = "UPDATE namespaces SET lsn = lsn + 5"
_TAKE_BYTES = "UPDATE namespaces SET bytes = bytes + 1000"


@pytest.fixture
def other(url: str) -> Iterator[psycopg.Connection]:
    """A connection of another process."""
    with psycopg.connect(url, autocommit=True) as connection:
        yield connection


def test_a_second_sidecar_does_not_start(journal: PostgresJournal, open_journal: OpenJournal) -> None:
    append(journal, draft("a"))
    with pytest.raises(StartRefused, match="another sidecar uses the database"):
        open_journal()
    append(journal, draft("b"))


def test_the_next_sidecar_starts_when_the_first_has_closed(journal: PostgresJournal, open_journal: OpenJournal) -> None:
    append(journal, draft("a"))
    journal.close()
    assert contents(open_journal()) == ["a"]


def test_a_sidecar_whose_lease_was_taken_over_writes_nothing(
    journal: PostgresJournal, other: psycopg.Connection
) -> None:
    append(journal, draft("a"))
    other.execute(_TAKE_OVER)
    with pytest.raises(JournalUnavailable):
        append(journal, draft("b"))
    assert contents(journal) == ["a"]


def test_a_commit_follows_the_lsns_that_another_process_has_taken(
    journal: PostgresJournal, other: psycopg.Connection, url: str
) -> None:
    append(journal, draft("a"), draft("b"))

    def decide() -> UpdateWindow:
        other.execute(_TAKE_LSNS)
        return UpdateWindow(KEY, known_head(journal).version, [1])

    result = execute(journal, UpdateWindowExclusive(KEY, decide))
    assert result.head == known_head(journal)
    assert result.head.version == 2 + 5 + 1
    assert [entry.lsn for entry in follow(journal)] == [1, 2, 8]
    assert examine(lambda: url) == []


def test_an_event_and_a_document_have_the_lsns_of_their_commit(
    journal: PostgresJournal, other: psycopg.Connection, url: str
) -> None:
    """`revise` runs between the reads and the commit of its group."""

    def revise(_: Sequence[Record]) -> RecordChanges:
        other.execute(_TAKE_LSNS)
        return RecordChanges([new_record("fact")])

    append(journal, draft("a"))
    facts = PendingCommand(UpsertRecords(ANN, RecordKind.FACT, (), revise))
    documents = PendingCommand(PutDocument(document("text")))
    for pending in (facts, documents):
        journal.submit(pending)
    facts.wait()
    version = documents.wait().document.version
    assert journal.find_chunks("default", [(version, 0)])
    lsns = [event.lsn for event in journal.read_events(Scope("default"), 0, 10).events]
    assert lsns[0] == 1 and lsns[1] in (2 + 5, 3 + 5)
    assert examine(lambda: url) == []


def test_a_quota_holds_against_what_another_process_adds(open_journal: OpenJournal, other: psycopg.Connection) -> None:
    journal = open_journal(quotas=lambda _: Quota(bytes=1_000))
    append(journal, draft("a"))

    def revise(stored: StoredMessage) -> Revision:
        other.execute(_TAKE_BYTES)
        return Revision(stored.body + b"\x4a\x01a", stored.flags, 1.0)

    before = known_head(journal)
    with pytest.raises(QuotaExceeded):
        update_message(journal, "a", revise)
    assert known_head(journal) == before
