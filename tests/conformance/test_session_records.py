"""Records that are erased with a session, and records that are not."""

import pytest

from memsidecar.domain.errors import NotFound, SessionOwnerMismatch
from memsidecar.domain.session import SessionKey
from memsidecar.stores.contract import Command, Erase, Erased, ErasureCounts, Journal, Owner, PendingCommand, RecordKind
from tests.conformance.builders import (
    ANN,
    KEY,
    NAMESPACE_OWNER,
    append,
    draft,
    erase,
    known_head,
    new_record,
    put,
    record_ids,
    update_window,
    upsert,
    upsert_command,
)

BOB = Owner("default", "bob")
SESSION, OTHER, ELSEWHERE = Owner("default", "", "s1"), Owner("default", "", "s2"), Owner("elsewhere", "ann")
OWNERS = [NAMESPACE_OWNER, ANN, BOB, SESSION, OTHER, ELSEWHERE]
PATTERNS = RecordKind.PATTERNS


@pytest.mark.parametrize("delete_session", [True, False])
def test_records_derived_from_a_session_are_erased_with_it_for_every_owner(
    journal: Journal, delete_session: bool
) -> None:
    append(journal, draft("m"))
    for owner in OWNERS:
        for kind in (RecordKind.FACT, RecordKind.ARTIFACT, RecordKind.SUMMARY):
            made = [
                new_record(name=name, source=source) for name, source in (("of s1", "s1"), ("of s2", "s2"), ("own", ""))
            ]
            upsert(journal, *made, owner=owner, kind=kind)
    assert erase(journal, delete_session=delete_session).counts.messages == 1
    for kind in (RecordKind.FACT, RecordKind.ARTIFACT, RecordKind.SUMMARY):
        left = [record_ids(journal, owner, kind) for owner in OWNERS]
        kept = ["own", "of s2", "of s1"] if kind == RecordKind.FACT and not delete_session else ["own", "of s2"]
        assert left[:3] == left[4:5] * 3 == [kept] * 3
        assert left[3] == ([] if delete_session else kept)
        assert left[5] == ["own", "of s2", "of s1"]


@pytest.mark.parametrize("delete_session", [True, False])
def test_the_patterns_of_a_sessions_user_are_erased_with_it(journal: Journal, delete_session: bool) -> None:
    append(journal, draft("m"), user_id="ann")
    for owner in OWNERS:
        upsert(journal, new_record(), owner=owner, kind=PATTERNS)
    upsert(journal, new_record(), owner=ANN)
    erase(journal, delete_session=delete_session)
    kept = [owner for owner in OWNERS if record_ids(journal, owner, PATTERNS)]
    assert kept == [owner for owner in OWNERS if owner != ANN and not (delete_session and owner == SESSION)]
    assert record_ids(journal, ANN) == ["n1"]


@pytest.mark.parametrize("delete_session", [True, False])
def test_erasing_a_session_without_a_user_erases_the_patterns_of_the_caller(
    journal: Journal, delete_session: bool
) -> None:
    append(journal, draft("m"))
    for owner in (NAMESPACE_OWNER, ANN, BOB):
        upsert(journal, new_record(), owner=owner, kind=PATTERNS)
    erase(journal, delete_session=delete_session, user_id="ann")
    assert [record_ids(journal, owner, PATTERNS) for owner in (NAMESPACE_OWNER, ANN, BOB)] == [["n1"], [], ["n1"]]


def test_another_user_cannot_erase_records(journal: Journal) -> None:
    append(journal, draft("m"), user_id="ann")
    upsert(journal, new_record(source="s1"))
    upsert(journal, new_record(), owner=BOB, kind=PATTERNS)
    with pytest.raises(SessionOwnerMismatch):
        erase(journal, delete_session=True, user_id="bob")
    assert (record_ids(journal), record_ids(journal, BOB, PATTERNS)) == (["n1"], ["n1"])


@pytest.mark.parametrize(("owner", "source"), [(SESSION, ""), (ANN, "s1")])
def test_records_do_not_need_their_session(journal: Journal, owner: Owner, source: str) -> None:
    upsert(journal, new_record(source=source), owner=owner)
    upsert(journal, new_record(), kind=PATTERNS)
    assert journal.head(KEY) is None
    assert erase(journal, delete_session=True, user_id="ann").counts == ErasureCounts(artifacts=1, sessions=1)
    assert record_ids(journal, owner) == []
    assert record_ids(journal, ANN, PATTERNS) == ["n1"]
    with pytest.raises(NotFound):
        erase(journal, delete_session=True)


def test_clearing_an_unknown_session_erases_its_derived_records(journal: Journal) -> None:
    upsert(journal, new_record(source="s1"), new_record(name="n2"))
    upsert(journal, new_record(name="own"), owner=SESSION)
    assert erase(journal) == Erased(None, ErasureCounts(artifacts=1))
    assert (record_ids(journal), record_ids(journal, SESSION)) == (["n2"], ["own"])
    assert erase(journal) == Erased(None, ErasureCounts())


def test_a_session_is_erased_with_its_documents_and_its_records(journal: Journal) -> None:
    append(journal, draft("m"))
    put(journal, "text", owner=SESSION)
    upsert(journal, new_record(), owner=SESSION)
    upsert(journal, new_record(source="s1"), owner=SESSION, kind=RecordKind.SUMMARY)
    gone = ErasureCounts(messages=1, summaries=1, artifacts=1, documents=1, chunks=1, sessions=1)
    assert erase(journal, delete_session=True) == Erased(None, gone)
    assert (journal.document(SESSION, "d1"), record_ids(journal, SESSION)) == (None, [])
    assert record_ids(journal, SESSION, RecordKind.SUMMARY) == []


@pytest.mark.parametrize("delete_session", [True, False])
def test_erasure_counts_match_the_erasure(journal: Journal, delete_session: bool) -> None:
    append(journal, draft("a"), draft("b"), draft("c"), user_id="ann")
    update_window(journal, 1)
    put(journal, "one", "two", owner=SESSION)
    put(journal, "of ann", owner=ANN)
    facts = [
        new_record(name="city", source="s1"),
        new_record(name="old city", source="s1", until_us=5),
        new_record(name="own"),
    ]
    upsert(journal, *facts, kind=RecordKind.FACT)
    upsert(journal, new_record(source="s1"), owner=SESSION, kind=RecordKind.SUMMARY)
    upsert(journal, new_record(), owner=SESSION)
    upsert(journal, new_record(), kind=PATTERNS)
    command, head = Erase(KEY, "", delete_session), known_head(journal)
    would = journal.erasure_counts(command)
    assert (known_head(journal), record_ids(journal, ANN, PATTERNS)) == (head, ["n1"])
    cleared = ErasureCounts(messages=3, summaries=1, patterns=1)
    deleted = cleared._replace(facts=2, artifacts=1, documents=1, chunks=2, sessions=1)
    assert would == (deleted if delete_session else cleared)
    assert erase(journal, delete_session=delete_session).counts == would


def test_erasure_counts_of_what_cannot_be_erased_are_rejected(journal: Journal) -> None:
    with pytest.raises(NotFound):
        journal.erasure_counts(Erase(KEY, "", delete_session=True))
    assert journal.erasure_counts(Erase(KEY, "")) == ErasureCounts()
    append(journal, draft("m"), user_id="ann")
    with pytest.raises(SessionOwnerMismatch):
        journal.erasure_counts(Erase(KEY, "bob", delete_session=True))


def test_an_empty_session_can_be_erased(journal: Journal) -> None:
    append(journal, draft("m"))
    erase(journal)
    assert journal.erasure_counts(Erase(KEY, "", delete_session=True)) == ErasureCounts(sessions=1)
    assert erase(journal, delete_session=True) == Erased(None, ErasureCounts(sessions=1))


def test_records_and_erasures_take_effect_in_the_order_of_submission(journal: Journal) -> None:
    """A record before the erasure is erased; one that is derived from the erased session afterwards is rejected."""
    number = append(journal, draft("m")).head.row_id
    commands: list[Command] = [
        upsert_command(new_record(name="before", source="s1"), derived_from=number),
        Erase(KEY, ""),
        upsert_command(new_record(name="refused", source="s1"), derived_from=number),
        upsert_command(new_record(name="after", source="s1")),
    ]
    submitted = [PendingCommand(command) for command in commands]
    for pending in submitted:
        journal.submit(pending)
    submitted[0].wait()
    assert submitted[1].wait().counts.messages == 1
    with pytest.raises(NotFound):
        submitted[2].wait()
    submitted[3].wait()
    assert record_ids(journal) == ["after"]
    upsert(journal, new_record(name="new", source="s1"), derived_from=known_head(journal).row_id)
    assert record_ids(journal) == ["new", "after"]


def test_erasures_that_share_a_record_both_succeed(journal: Journal) -> None:
    """They share a pattern of their user, and a record that one session owns and the other is the source of."""
    keys = [SessionKey("default", f"s{number}") for number in range(1, 9)]
    for number, key in enumerate(keys, 1):
        append(journal, draft("m"), key=key, user_id="ann")
        upsert(journal, new_record(source=f"s{number % 8 + 1}"), owner=Owner("default", "", key.session_id))
    upsert(journal, new_record(), kind=PATTERNS)
    submitted = [PendingCommand(Erase(key, "", delete_session=True)) for key in keys]
    for pending in submitted:
        journal.submit(pending)
    gone = [pending.wait().counts for pending in submitted]
    assert [counts.messages for counts in gone] == [1] * 8
    assert (sum(counts.artifacts for counts in gone), sum(counts.patterns for counts in gone)) == (8, 1)
    assert record_ids(journal, ANN, PATTERNS) == []
    assert all(record_ids(journal, Owner("default", "", key.session_id)) == [] for key in keys)
