"""EventFeed: the log as events of a scope, in commit order, and what a listener of the log learns."""

from collections.abc import Sequence

import pytest

from memsidecar.domain.session import SessionKey
from memsidecar.stores.contract import (
    Claim,
    DeleteRecord,
    ErasedNames,
    EraseUser,
    Event,
    EventKind,
    Journal,
    LogChanges,
    NoOp,
    Owner,
    RecordChanges,
    RecordKind,
    Scope,
    UpsertRecords,
)
from tests.conformance.builders import (
    ANN,
    KEY,
    append,
    draft,
    erase,
    execute,
    expire,
    follow,
    forget,
    known_head,
    new_record,
    put,
    scored,
    update_message,
    update_window,
    upsert,
)

ALL = Scope("default")
OTHER = SessionKey("default", "s2")
ELSEWHERE = SessionKey("elsewhere", "s1")
OF_KEY = Owner("default", "", KEY.session_id)
FACT, SUMMARY = RecordKind.FACT, RecordKind.SUMMARY


def events(journal: Journal, scope: Scope = ALL, after_lsn: int = 0, limit: int = 100) -> list[Event]:
    """Return all events of a scope, read page by page."""
    found: list[Event] = []
    while True:
        page = journal.read_events(scope, after_lsn, limit)
        assert len(page.events) <= limit
        found += page.events
        if page.is_last:
            return found
        assert page.lsn > after_lsn
        after_lsn = page.lsn


def named(events: Sequence[Event]) -> list[tuple[EventKind, str, str, int, str]]:
    return [(event.kind, event.user_id, event.session_id, event.sequence, event.id) for event in events]


def kinds(journal: Journal, scope: Scope = ALL) -> list[EventKind]:
    return [event.kind for event in events(journal, scope)]


def summarise(journal: Journal, name: str, sequence: int, replaced: Sequence[str] = ()) -> None:
    changes = RecordChanges([new_record(name=name, source=KEY.session_id)], replaced, sequence=sequence)
    execute(journal, UpsertRecords(OF_KEY, SUMMARY, [], lambda _: changes))


def test_each_change_of_a_session_is_an_event_in_commit_order(journal: Journal) -> None:
    append(journal, draft("a"), draft("b"), user_id="ann")
    update_message(journal, "a", scored(0.5))
    append(journal, draft("c"))
    update_window(journal, 1, 2)
    erase(journal)
    append(journal, draft("d"))
    found = events(journal)
    assert named(found) == [
        (EventKind.CLEARED, "ann", "s1", 0, ""),
        (EventKind.ADDED, "ann", "s1", 4, "d"),
    ]
    assert [event.lsn for event in found] == sorted(event.lsn for event in found)


def test_events_have_the_ids_and_sequences_of_their_messages(journal: Journal) -> None:
    append(journal, draft("a"), draft("b"), draft("c"))
    update_message(journal, "b", scored(0.5))
    update_window(journal, 2, 1)
    assert named(events(journal)) == [
        (EventKind.ADDED, "", "s1", 1, "a"),
        (EventKind.ADDED, "", "s1", 2, "b"),
        (EventKind.ADDED, "", "s1", 3, "c"),
        (EventKind.ANNOTATED, "", "s1", 2, "b"),
        (EventKind.PRUNED, "", "s1", 2, ""),
    ]
    assert all(event.time_us > 0 for event in events(journal))


@pytest.mark.parametrize("limit", [1, 2, 3, 100])
def test_pages_have_every_event_once_from_any_position_on(journal: Journal, limit: int) -> None:
    for number in range(4):
        append(journal, draft(f"a{number}"))
        append(journal, draft("x"), key=SessionKey("elsewhere", f"e{number}"))
        put(journal, f"text {number}")
        upsert(journal, new_record(name=f"f{number}"), kind=FACT)
    whole = events(journal)
    assert len(whole) == 8
    for after_lsn in range(journal.log_end("default") + 1):
        rest = [event for event in whole if event.lsn > after_lsn]
        assert events(journal, after_lsn=after_lsn, limit=limit) == rest


def test_the_last_page_reaches_the_end_of_the_log_and_no_further(journal: Journal) -> None:
    append(journal, draft("a"))
    append(journal, draft("x"), key=ELSEWHERE)
    last_lsn = journal.log_end("default")
    assert journal.read_events(ALL, 0, 100)[1:] == (last_lsn, True)
    assert journal.read_events(ALL, last_lsn, 100) == ([], last_lsn, True)


def test_a_scope_has_the_events_of_its_namespace_user_and_session_only(journal: Journal) -> None:
    append(journal, draft("mine"), user_id="ann")
    append(journal, draft("other"), key=OTHER, user_id="ann")
    append(journal, draft("bobs"), key=SessionKey("default", "s3"), user_id="bob")
    append(journal, draft("nobodys"), key=SessionKey("default", "s4"))
    append(journal, draft("elsewhere"), key=ELSEWHERE, user_id="ann")
    ids = {
        scope: [event.id for event in events(journal, scope)]
        for scope in (ALL, Scope("default", "ann"), Scope("default", "ann", "s2"), Scope("default", "", "s3"))
    }
    assert list(ids.values()) == [["mine", "other", "bobs", "nobodys"], ["mine", "other"], ["other"], ["bobs"]]
    assert events(journal, Scope("default", "bob", "s1")) == []
    assert [event.id for event in events(journal, Scope("elsewhere"))] == ["elsewhere"]


def test_a_session_that_is_claimed_has_its_user_in_all_events(journal: Journal) -> None:
    append(journal, draft("a"))
    execute(journal, Claim(KEY, "ann"))
    assert named(events(journal, Scope("default", "ann"))) == [(EventKind.ADDED, "ann", "s1", 1, "a")]


def test_a_fact_is_an_event_when_it_is_stored_superseded_and_deleted(journal: Journal) -> None:
    upsert(journal, new_record(name="f"), kind=FACT)
    upsert(journal, new_record(name="f", until_us=5), new_record(name="g", time_us=2_000), kind=FACT)
    execute(journal, DeleteRecord(ANN, FACT, "f"))
    fact = (EventKind.FACT, "ann", "", 0)
    assert named(events(journal)) == [(*fact, ""), (*fact, ""), (*fact, "g"), (*fact, "")]
    upsert(journal, deleted=["g", "unknown"], kind=FACT)
    assert named(events(journal))[-2:] == [(*fact, ""), (*fact, "")]


def test_a_fact_that_does_not_change_is_no_event(journal: Journal) -> None:
    upsert(journal, new_record(name="f"), kind=FACT)
    before = journal.log_end("default")
    upsert(journal, new_record(name="f"), kind=FACT)
    assert journal.log_end("default") == before


def test_a_fact_that_is_stored_in_the_place_of_another_does_not_lend_it_its_id(journal: Journal) -> None:
    upsert(journal, new_record(name="first"), kind=FACT)
    execute(journal, DeleteRecord(ANN, FACT, "first"))
    upsert(journal, new_record(name="second"), kind=FACT)
    assert [event.id for event in events(journal)] == ["", "", "second"]


def test_records_of_other_kinds_are_no_events(journal: Journal) -> None:
    for kind in (RecordKind.ARTIFACT, RecordKind.PATTERNS):
        upsert(journal, new_record(), kind=kind)
    assert (events(journal), journal.log_end("default")) == ([], 0)


def test_a_summary_is_an_event_with_the_sequence_that_it_covers(journal: Journal) -> None:
    append(journal, *map(draft, "abcdef"), user_id="ann")
    summarise(journal, "first", 3)
    summarise(journal, "second", 5, replaced=["first"])
    summaries = [event for event in events(journal, Scope("default", "ann")) if event.kind is EventKind.SUMMARY]
    assert named(summaries) == [
        (EventKind.SUMMARY, "ann", "s1", 3, ""),
        (EventKind.SUMMARY, "ann", "s1", 5, "second"),
    ]


def test_the_facts_of_a_session_have_its_user_and_those_of_a_user_no_session(journal: Journal) -> None:
    append(journal, draft("a"), user_id="ann")
    upsert(journal, new_record(name="own"), owner=OF_KEY, kind=FACT)
    upsert(journal, new_record(name="ann's"), kind=FACT)
    upsert(journal, new_record(name="bob's"), owner=Owner("default", "bob"), kind=FACT)
    upsert(journal, new_record(name="all's"), owner=Owner("default"), kind=FACT)
    facts = {
        scope: [(event.user_id, event.session_id, event.id) for event in events(journal, scope) if not event.sequence]
        for scope in (ALL, Scope("default", "ann"), Scope("default", "", "s1"))
    }
    own, anns = ("ann", "s1", "own"), ("ann", "", "ann's")
    assert list(facts.values()) == [[own, anns, ("bob", "", "bob's"), ("", "", "all's")], [own, anns], [own]]


def test_events_of_records_are_not_those_of_a_session_with_the_same_row_id(journal: Journal) -> None:
    append(journal, draft("x"), key=ELSEWHERE)
    upsert(journal, new_record(name="f"), kind=FACT)
    assert [type(entry) for entry in follow(journal, "default")] == [NoOp]
    assert len(follow(journal, "elsewhere")) == 1
    assert [event.kind for event in events(journal, Scope("elsewhere"))] == [EventKind.ADDED]
    assert journal.last_lsns() == {name: follow(journal, name)[-1].lsn for name in ("elsewhere", "default")}
    assert list(journal.sequences_at([(known_head(journal, ELSEWHERE), 2)])) == [1]


def test_a_deleted_session_leaves_an_event_without_names_for_every_scope_of_the_namespace(journal: Journal) -> None:
    append(journal, draft("a"), user_id="ann")
    append(journal, draft("x"), key=ELSEWHERE)
    upsert(journal, new_record(name="f"), owner=OF_KEY, kind=FACT)
    erase(journal, delete_session=True)
    forgotten = [(EventKind.FORGOTTEN, "", "", 0, "")]
    assert named(events(journal)) == forgotten
    assert named(events(journal, Scope("default", "bob", "s9"))) == forgotten
    assert kinds(journal, Scope("elsewhere")) == [EventKind.ADDED]


def test_a_session_that_had_only_records_leaves_an_event_too(journal: Journal) -> None:
    upsert(journal, new_record(name="f"), owner=OF_KEY, kind=FACT)
    erase(journal, delete_session=True)
    assert kinds(journal) == [EventKind.FORGOTTEN]
    assert [type(entry) for entry in follow(journal)] == [NoOp, NoOp]


def test_a_session_that_is_cleared_again_has_no_name_in_the_earlier_event(journal: Journal) -> None:
    append(journal, draft("a"), user_id="ann")
    erase(journal)
    erase(journal)
    cleared = EventKind.CLEARED
    assert named(events(journal)) == [(cleared, "", "", 0, ""), (cleared, "ann", "s1", 0, "")]
    assert named(events(journal, Scope("default", "bob"))) == [(cleared, "", "", 0, "")]


def test_an_erased_user_leaves_an_event_for_each_session_and_one_more(journal: Journal) -> None:
    for key in (KEY, OTHER):
        append(journal, draft("a"), key=key, user_id="ann")
    upsert(journal, new_record(name="f"), kind=FACT)
    execute(journal, EraseUser("default", "ann"))
    assert kinds(journal) == [EventKind.FORGOTTEN] * 3


def test_the_facts_of_an_erased_user_are_not_those_of_a_later_user_of_that_name(journal: Journal) -> None:
    upsert(journal, new_record(name="f"), kind=FACT)
    execute(journal, DeleteRecord(ANN, FACT, "f"))
    execute(journal, EraseUser("default", "ann"))
    upsert(journal, new_record(name="g"), kind=FACT)
    assert [(event.kind, event.id) for event in events(journal)] == [(EventKind.FORGOTTEN, ""), (EventKind.FACT, "g")]


def test_a_listener_of_the_log_learns_namespaces_and_the_names_of_erasures(journal: Journal) -> None:
    changes: list[LogChanges] = []
    unsubscribe = journal.subscribe_log(changes.append)
    append(journal, draft("a"), user_id="ann")
    upsert(journal, new_record(name="f"), kind=FACT)
    erase(journal)
    erase(journal, delete_session=True)
    append(journal, draft("b"), key=OTHER, user_id="ann")
    execute(journal, EraseUser("default", "ann"))
    unsubscribe()
    append(journal, draft("c"))
    assert [list(change.namespaces) for change in changes] == [["default"]] * 6
    session, other = Owner("default", "ann", "s1"), Owner("default", "ann", "s2")
    erasures = [erasure for change in changes for erasure in change.erasures]
    assert erasures == [ErasedNames(3, session), ErasedNames(4, session), ErasedNames(6, other), ErasedNames(7, ANN)]
    nameless = [event.lsn for event in events(journal) if event.is_nameless_erasure]
    assert nameless == [erasure.lsn for erasure in erasures]


def test_a_listener_of_the_log_learns_that_earlier_events_name_what_is_erased(journal: Journal) -> None:
    changes: list[LogChanges] = []
    append(journal, draft("one", message_id="m1"), draft("two", message_id="m2"), user_id="ann")
    upsert(journal, new_record(name="f"), kind=FACT)
    journal.subscribe_log(changes.append)
    forget(journal, "m1")
    expire(journal, 2)
    execute(journal, DeleteRecord(ANN, FACT, "f"))
    erase(journal)
    append(journal, draft("three"))
    assert [change.erases for change in changes] == [True, True, True, True, False]


def test_a_listener_of_the_log_is_called_before_a_read_sees_the_commit(journal: Journal) -> None:
    """So a watcher that is woken by it, or reads because of it, misses nothing."""
    seen: list[int] = []
    journal.subscribe_log(lambda changes: seen.extend(erasure.lsn for erasure in changes.erasures))
    append(journal, draft("a"))
    erase(journal, delete_session=True)
    assert [event.lsn for event in events(journal)] == seen


def test_a_listener_that_fails_affects_neither_the_others_nor_the_command(journal: Journal) -> None:
    changes: list[LogChanges] = []

    def fail(_: LogChanges) -> None:
        raise RuntimeError("a listener")

    journal.subscribe_log(fail)
    journal.subscribe_log(changes.append)
    append(journal, draft("a"))
    assert len(changes) == 1


def test_a_forgotten_message_is_an_event_without_its_id(journal: Journal) -> None:
    append(journal, draft("one", message_id="m1"), draft("two", message_id="m2"), user_id="ann")
    update_message(journal, "m1", scored(3))
    forget(journal, "m1")
    known = [(event.kind, event.sequence, event.id) for event in events(journal)]
    assert known == [(EventKind.ADDED, 2, "m2"), (EventKind.FORGOTTEN, 1, "")]
    forgotten = events(journal)[-1]
    assert (forgotten.user_id, forgotten.session_id) == ("ann", KEY.session_id)
