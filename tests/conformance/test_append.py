"""Promises of an append: order, atomicity, unique ids, sequences that are never reused."""

import pytest

from memsidecar.domain.errors import IdConflict, SequenceMismatch, SessionOwnerMismatch
from memsidecar.domain.message import Role
from memsidecar.domain.session import SessionKey
from memsidecar.stores.contract import Journal
from memsidecar.v1 import message_pb2
from tests.conformance.builders import (
    append,
    call,
    contents,
    draft,
    erase,
    known_head,
    read,
    scored,
    update_message,
    update_window,
)
from tests.conformance.builders import shortened as made_shorter


def test_a_message_is_read_as_it_was_appended(journal: Journal) -> None:
    given = draft("hello", role=Role.ASSISTANT, tokens=7, score=8.5, flags=4)
    append(journal, given)
    (stored,) = read(journal)
    assert stored[:7] == (1, Role.ASSISTANT, 7, 0, 4, 8.5, 1_000)


def test_a_stored_body_carries_its_sequence(journal: Journal) -> None:
    append(journal, *(draft(f"m{n}") for n in range(1, 301)))
    decoded = [message_pb2.Message.FromString(stored.body) for stored in read(journal)]
    assert [(message.id, message.sequence) for message in decoded] == [(f"m{n}", n) for n in range(1, 301)]


def test_messages_keep_the_order_in_which_they_were_appended(journal: Journal) -> None:
    append(journal, draft("a"), draft("b"))
    append(journal, draft("c"))
    assert contents(journal) == ["a", "b", "c"]


def test_an_answer_names_each_message_in_the_order_given(journal: Journal) -> None:
    results = append(journal, draft("b", tokens=2), draft("a", tokens=3)).results
    assert [tuple(result) for result in results] == [("b", 1, 2, False), ("a", 2, 3, False)]


def test_the_head_counts_the_window_by_role(journal: Journal) -> None:
    append(journal, draft("s", role=Role.SYSTEM, tokens=1), draft("u", tokens=2), draft("v", tokens=3))
    head = append(journal, call("c", "x", tokens=4), draft("t", role=Role.TOOL, tokens=5)).head
    assert (head.counts, head.tokens, head.last_sequence) == ([1, 2, 1, 1], [1, 5, 4, 5], 5)
    assert known_head(journal) == head


def test_an_unknown_session_is_empty(journal: Journal) -> None:
    assert journal.head(SessionKey("default", "unknown")) is None
    assert contents(journal, SessionKey("default", "unknown")) == []


def test_sessions_and_namespaces_do_not_see_each_other(journal: Journal) -> None:
    keys = [SessionKey("a", "s"), SessionKey("a", "t"), SessionKey("b", "s")]
    for number, key in enumerate(keys):
        append(journal, draft(f"m{number}"), key=key)
    assert [contents(journal, key) for key in keys] == [["m0"], ["m1"], ["m2"]]


def test_a_batch_with_a_conflict_changes_nothing(journal: Journal) -> None:
    append(journal, draft("first"))
    with pytest.raises(IdConflict):
        append(journal, draft("second"), draft("other words", message_id="first"))
    assert contents(journal) == ["first"]


def test_a_rejected_batch_creates_no_session(journal: Journal) -> None:
    with pytest.raises(IdConflict):
        append(journal, draft("one", message_id="x"), draft("two", message_id="x"))
    with pytest.raises(SequenceMismatch):
        append(journal, draft("one"), expected=3)
    assert journal.head(SessionKey("default", "s1")) is None


def test_the_same_message_again_is_a_duplicate_with_the_first_answer(journal: Journal) -> None:
    append(journal, draft("before"), draft("once", tokens=5))
    (result,) = append(journal, draft("once", tokens=99)).results
    assert tuple(result) == ("once", 2, 5, True)
    assert contents(journal) == ["before", "once"]


def test_the_same_message_twice_in_a_batch_is_stored_once(journal: Journal) -> None:
    results = append(journal, draft("a"), draft("b"), draft("a")).results
    assert [(result.sequence, result.duplicate) for result in results] == [(1, False), (2, False), (1, True)]
    assert contents(journal) == ["a", "b"]


def test_known_messages_of_a_batch_are_duplicates_and_the_others_are_appended(journal: Journal) -> None:
    append(journal, draft("a"), draft("b"))
    results = append(journal, draft("b"), draft("c"), draft("a"), draft("d")).results
    assert [(result.sequence, result.duplicate) for result in results] == [(2, True), (3, False), (1, True), (4, False)]


def test_another_body_under_a_known_id_is_refused(journal: Journal) -> None:
    append(journal, draft("words", message_id="x"))
    with pytest.raises(IdConflict):
        append(journal, draft("other words", message_id="x"))


def test_an_id_stays_known_after_it_was_annotated(journal: Journal) -> None:
    append(journal, draft("a", tokens=5))
    update_message(journal, "a", scored(9))
    assert append(journal, draft("a")).results[0] == ("a", 1, 5, True)
    with pytest.raises(IdConflict):
        append(journal, draft("other", message_id="a"))


def test_an_id_stays_known_after_it_was_pruned(journal: Journal) -> None:
    append(journal, draft("a"), draft("b"))
    update_window(journal, 1)
    assert append(journal, draft("a")).results[0].duplicate
    assert contents(journal) == ["b"]


def test_a_duplicate_of_a_shortened_message_is_answered_with_its_original_tokens(journal: Journal) -> None:
    append(journal, draft("long", tokens=500))
    update_window(journal, shortened=[made_shorter(read(journal)[0], "l...g", 20)])
    assert append(journal, draft("long", tokens=500)).results[0] == ("long", 1, 500, True)


def test_an_id_is_free_again_after_a_clear(journal: Journal) -> None:
    append(journal, draft("words", message_id="x"))
    erase(journal)
    (result,) = append(journal, draft("other words", message_id="x")).results
    assert (result.sequence, result.duplicate) == (2, False)


def test_the_same_id_means_different_messages_in_different_sessions(journal: Journal) -> None:
    append(journal, draft("one", message_id="x"))
    assert not append(journal, draft("two", message_id="x"), key=SessionKey("default", "s2")).results[0].duplicate


def test_ids_whose_hashes_collide_are_different_ids(journal: Journal) -> None:
    # CRC-32, by which the journal on disk narrows a lookup, is the same for these two.
    append(journal, draft("one", message_id="plumless"))
    assert not append(journal, draft("two", message_id="buckeroo")).results[0].duplicate


def test_the_expected_sequence_is_the_last_one_given_out(journal: Journal) -> None:
    append(journal, draft("a"), expected=0)
    append(journal, draft("b"), expected=1)
    with pytest.raises(SequenceMismatch) as refused:
        append(journal, draft("c"), expected=1)
    assert refused.value.last_sequence == 2
    assert contents(journal) == ["a", "b"]


def test_a_duplicate_is_answered_before_the_expected_sequence_is_compared(journal: Journal) -> None:
    append(journal, draft("a"), draft("b"), expected=0)
    results = append(journal, draft("a"), draft("b"), expected=0).results
    assert [result.duplicate for result in results] == [True, True]


def test_a_conflict_is_reported_before_the_expected_sequence_is_compared(journal: Journal) -> None:
    append(journal, draft("words", message_id="x"))
    with pytest.raises(IdConflict):
        append(journal, draft("new"), draft("other words", message_id="x"), expected=7)


def test_the_expected_sequence_of_a_batch_with_one_new_message_is_compared(journal: Journal) -> None:
    append(journal, draft("a"))
    with pytest.raises(SequenceMismatch):
        append(journal, draft("a"), draft("b"), expected=0)


def test_the_first_named_user_becomes_the_owner(journal: Journal) -> None:
    append(journal, draft("a"))
    append(journal, draft("b"), user_id="ann")
    with pytest.raises(SessionOwnerMismatch):
        append(journal, draft("c"), user_id="bob")
    append(journal, draft("d"))
    assert contents(journal) == ["a", "b", "d"]
    assert known_head(journal).user_id == "ann"


def test_a_rejected_append_does_not_set_the_owner(journal: Journal) -> None:
    append(journal, draft("words", message_id="x"))
    with pytest.raises(IdConflict):
        append(journal, draft("other", message_id="x"), user_id="bob")
    assert append(journal, draft("b"), user_id="ann").head.user_id == "ann"


def test_sequences_continue_after_a_clear(journal: Journal) -> None:
    append(journal, draft("a"), draft("b"))
    erase(journal)
    assert append(journal, draft("c"), expected=2).results[0].sequence == 3


def test_a_deleted_session_starts_again_at_sequence_1(journal: Journal) -> None:
    append(journal, draft("a"), draft("b"), user_id="ann")
    erase(journal, delete_session=True)
    added = append(journal, draft("c"), expected=0, user_id="bob")
    assert (added.results[0].sequence, added.head.user_id) == (1, "bob")
