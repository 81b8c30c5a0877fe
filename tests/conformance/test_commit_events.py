"""Commit events arrive in commit order, and suffice to maintain the windows."""

from collections.abc import Sequence

import pytest

from memsidecar.domain.session import Policy, SessionKey
from memsidecar.stores.contract import Append, CommitEvent, Journal, Owner, PendingCommand, SetPolicy
from tests.conformance.builders import (
    KEY,
    Replica,
    answer,
    append,
    call,
    draft,
    erase,
    execute,
    known_head,
    new_record,
    read,
    scored,
    shortened,
    update_message,
    update_window,
    upsert,
)


def assert_same(replica: Replica, journal: Journal, key: SessionKey = KEY) -> None:
    assert replica.heads.get(key) == journal.head(key)
    assert sorted(replica.window(journal, key)) == read(journal, key)


def test_events_of_appends_match_reads(journal: Journal) -> None:
    replica = Replica(journal)
    append(journal, draft("a"), draft("b"), user_id="ann")
    append(journal, draft("b"), draft("c"))
    assert [stored for change in replica.changes for stored in change.appended] == read(journal)
    assert not any(change.reload for change in replica.changes)
    assert_same(replica, journal)


def test_events_of_window_updates_and_annotations_match_reads(journal: Journal) -> None:
    replica = Replica(journal)
    append(journal, draft("a"), draft("b"), draft("long", tokens=90), draft("d"))
    update_window(journal, 1, shortened=[shortened(read(journal)[2], "l", 2)])
    update_message(journal, "long", scored(4, "mark"))
    update_message(journal, "a", scored(5, "pruned"))
    update_message(journal, "d", scored(6))
    assert not any(change.reload for change in replica.changes)
    assert_same(replica, journal)


def test_an_event_names_the_version_before_it_if_others_may_have_changed_the_session(journal: Journal) -> None:
    replica = Replica(journal)
    append(journal, draft("a"), draft("b"))
    execute(journal, SetPolicy(KEY, "", Policy(auto_prune_tokens=5)))
    update_message(journal, "a", scored(1))
    update_window(journal, 1)
    versions = [change.head.version if change.head else 0 for change in replica.changes]
    named = [change.previous_version for change in replica.changes]
    assert named == ([0, *versions[:-1]] if journal.is_shared else [None] * len(versions))


def test_other_changes_request_a_reload(journal: Journal) -> None:
    replica = Replica(journal)
    append(journal, draft("u"), call("c", "x"), draft("v"))
    update_window(journal, 1, 2)
    append(journal, answer("a", "x"))
    assert replica.changes[-1].reload
    assert_same(replica, journal)
    erase(journal)
    assert_same(replica, journal)


def test_the_event_of_a_deleted_session_has_no_head(journal: Journal) -> None:
    replica = Replica(journal)
    append(journal, draft("a"))
    erase(journal, delete_session=True)
    assert replica.changes[-1].head is None
    append(journal, draft("b"))
    assert_same(replica, journal)


def test_a_policy_has_an_event(journal: Journal) -> None:
    replica = Replica(journal)
    execute(journal, SetPolicy(KEY, "ann", Policy(5)))
    assert replica.heads[KEY] == known_head(journal)


def test_events_arrive_before_the_command_completes(journal: Journal) -> None:
    replica = Replica(journal)
    results: list[int] = []
    commands = [
        PendingCommand(
            Append(KEY, "", [draft(f"m{n}")]), lambda pending: results.append(pending.result().head.last_sequence)
        )
        for n in range(50)
    ]
    seen_when_completed: list[bool] = []
    last = PendingCommand(
        Append(KEY, "", [draft("last")]),
        lambda pending: seen_when_completed.append(
            replica.heads[KEY].last_sequence >= pending.result().head.last_sequence
        ),
    )
    for pending in (*commands, last):
        journal.submit(pending)
    append(journal, draft("after"))
    assert results == list(range(1, 51))
    assert seen_when_completed == [True]


def test_versions_grow_in_the_order_of_events(journal: Journal) -> None:
    replica = Replica(journal)
    for number in range(20):
        append(journal, draft(f"m{number}"), key=SessionKey("default", f"s{number % 3}"))
    versions = [change.head.version for change in replica.changes if change.head]
    assert versions == sorted(set(versions))


def test_the_head_of_an_event_is_never_changed_afterwards(journal: Journal) -> None:
    replica = Replica(journal)
    append(journal, draft("a"))
    first = replica.changes[0].head
    assert first is not None
    copy = first.copy()
    append(journal, draft("b"), call("c", "x"))
    assert first == copy


def test_listeners_are_called_in_the_order_of_subscription(journal: Journal) -> None:
    first, second = Replica(journal), Replica(journal)
    order: list[str] = []
    journal.subscribe(lambda _: order.append("third"))
    journal.subscribe(lambda _: order.append("fourth"))
    append(journal, draft("a"))
    erase(journal)
    assert order == ["third", "fourth"] * 2
    assert first.changes == second.changes and len(first.changes) == 2


def test_a_listener_of_invalidations_is_not_called_for_appends(journal: Journal) -> None:
    received: list[Sequence[CommitEvent]] = []
    journal.subscribe(received.append, only_invalidations=True)
    append(journal, draft("a"))
    append(journal, draft("b"), user_id="ann")
    assert received == []
    erase(journal)
    assert [[event.key for event in events] for events in received] == [[KEY]]


def test_the_event_of_a_claim_has_its_head(journal: Journal) -> None:
    replica = Replica(journal)
    append(journal, draft("a"))
    append(journal, draft("a"), user_id="ann")
    assert replica.heads[KEY].user_id == "ann"
    assert_same(replica, journal)


def test_a_failing_listener_does_not_affect_the_others(journal: Journal) -> None:
    def fails(_: object) -> None:
        raise ArithmeticError("for the test")

    journal.subscribe(fails)
    replica = Replica(journal)
    assert append(journal, draft("a")).results[0].sequence == 1
    assert append(journal, draft("b")).results[0].sequence == 2
    assert_same(replica, journal)


@pytest.mark.parametrize("delete_session", [True, False])
def test_erased_records_have_an_event_even_without_a_session(journal: Journal, delete_session: bool) -> None:
    replica = Replica(journal)
    owner = Owner("default", session_id="s1")
    upsert(journal, new_record(source="s1"), owner=owner)
    assert replica.changes == []
    erase(journal, delete_session=delete_session)
    assert [(change.key, change.head, change.reload) for change in replica.changes] == [(KEY, None, True)]
    if not delete_session:
        erase(journal)
        assert len(replica.changes) == 1
