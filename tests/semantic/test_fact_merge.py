"""How facts meet: each rule by itself."""

from dataclasses import replace

import pytest

from memsidecar.domain.fact import MULTI_VALUED_TYPES, FactType
from memsidecar.layers.semantic.fact import CLIENT, PutFact, conflict_key_of, fact_of
from memsidecar.layers.semantic.fact_merge import FactMerge, merge_facts
from tests.semantic.builders import INTEREST, PROFILE, current, fact, history, notes_of, taken, told

CITY = conflict_key_of(PROFILE, "city", "")


def test_a_note_holds_all_of_a_fact() -> None:
    known = fact("Paris", -5, pinned=True, until_us=7, source_message_ids=("m1", "m2"), erased_with="s2")
    assert fact_of(known.to_record()) == known


def test_another_value_supersedes_and_the_old_one_is_history() -> None:
    slots = taken([fact("Paris", 1), fact("Rome", 5)])
    assert (current(slots), history(slots)) == (["Rome"], [("Paris", 1, 5)])


@pytest.mark.parametrize("again", ["Paris", "paris", " PARIS. ", "Ｐａｒｉｓ", "Paris!"])
def test_the_same_value_in_any_spelling_is_seen_again(again: str) -> None:
    first = fact("Paris", 1, confidence=0.5)
    slots = taken([first, fact(again, 5, confidence=0.9)])
    assert list(slots.facts.values()) == [replace(first, seen_us=5)]


def test_a_key_in_another_spelling_is_the_same_key() -> None:
    assert current(taken([fact("Paris", 1), fact("Rome", 2, key=" CITY")])) == ["Rome"]


@pytest.mark.parametrize("kind", list(FactType))
def test_lists_hold_many_values_and_the_others_one(kind: FactType) -> None:
    slots = taken([fact("tea", 1, type=kind), fact("coffee", 2, type=kind), fact("Tea", 3, type=kind)])
    assert current(slots) == (["tea", "coffee"] if kind in MULTI_VALUED_TYPES else ["Tea"])


def test_other_keys_and_other_types_do_not_compete() -> None:
    slots = taken([fact("Paris", 1), fact("Rome", 2, key="birthplace"), fact("Oslo", 3, type=FactType.DOMAIN)])
    assert current(slots) == ["Paris", "Rome", "Oslo"]


def test_an_older_one_goes_into_the_history_at_once() -> None:
    slots = taken([fact("Rome", 5), fact("Paris", 1)])
    assert (current(slots), history(slots)) == (["Rome"], [("Paris", 1, 5)])


def test_one_that_was_said_before_the_last_confirmation_is_older() -> None:
    slots = taken([fact("Paris", 1), fact("Paris", 9), fact("Rome", 5)])
    assert (current(slots), history(slots)) == (["Paris"], [("Rome", 5, 9)])


def test_an_old_message_does_not_bring_back_what_ended_later() -> None:
    slots = taken([fact("Paris", 3)])
    slots.retract(CITY, "", 7, "rules")
    slots.put(fact("Rome", 5))
    assert (current(slots), history(slots)) == ([], [("Paris", 3, 7), ("Rome", 5, 7)])
    slots.put(fact("Oslo", 8))
    assert current(slots) == ["Oslo"]


def test_a_pinned_one_is_superseded_by_the_caller_alone() -> None:
    slots = taken([told("Paris", 1, pinned=True), fact("Rome", 5)])
    assert (current(slots), history(slots)) == (["Paris"], [])
    slots.retract(CITY, "", 6, "rules")
    assert current(slots) == ["Paris"]
    slots.put(told("Oslo", 7))
    assert (current(slots), history(slots)) == (["Oslo"], [("Paris", 1, 7)])


def test_a_retraction_ends_the_value_it_names() -> None:
    slots = taken([fact("Paris", 1)])
    slots.retract(CITY, "Rome", 5, "rules")
    assert current(slots) == ["Paris"]
    slots.retract(CITY, "paris.", 5, "rules")
    assert (current(slots), history(slots)) == ([], [("Paris", 1, 5)])
    slots.retract(CITY, "", 6, CLIENT)
    assert history(slots) == [("Paris", 1, 5)]


@pytest.mark.parametrize("when", [1, 5, 9])
def test_a_retraction_does_not_end_what_was_said_at_its_moment_or_later(when: int) -> None:
    slots = taken([fact("Paris", 1), fact("Paris", 9)])
    slots.retract(CITY, "", when, "rules")
    assert current(slots) == ["Paris"]


def test_what_takes_the_place_of_the_old_in_one_message_outlives_it_when_the_log_is_read_again() -> None:
    slots = taken([fact("Paris", 1)])
    for _ in range(2):
        slots.retract(CITY, "", 5, "rules")
        slots.put(fact("Rome", 5))
    assert (current(slots), history(slots)) == (["Rome"], [("Paris", 1, 5)])


def test_what_is_told_without_a_time_is_the_newest_whatever_clocks_say() -> None:
    ahead = fact("Paris", 1_000)
    revised, stored = merge_facts(
        [ahead.to_record()], [PutFact(told("Rome", 5), undated=True), PutFact(told("Oslo", 6))]
    )
    assert [one.value for one in stored if not one.until_us] == ["Rome"]
    assert [one.value for one in map(fact_of, revised.upserts) if not one.until_us] == ["Rome"]
    assert stored[0].valid_from_us > ahead.seen_us


def test_facts_of_one_request_are_taken_in_their_order_and_shown_as_they_are_in_the_end() -> None:
    cities = ("Paris", "Rome", "Paris")
    _, stored = merge_facts([], [PutFact(told(city, 5), undated=True) for city in cities])
    assert [one.value for one in stored] == list(cities)
    assert [bool(one.until_us) for one in stored] == [True, True, False]
    assert len({one.id for one in stored}) == 3


def test_nothing_is_kept_where_nothing_is_new() -> None:
    known = fact("Paris", 5)
    revised, stored = merge_facts([known.to_record()], [PutFact(fact("paris", 5)), PutFact(fact("Paris", 2))])
    assert list(revised.upserts) == [] and stored == [known, known]


def test_a_fact_goes_with_the_session_where_it_was_last_said() -> None:
    slots = taken([fact("Paris", 1), fact("Paris", 5, session_id="s2", erased_with="s2")])
    (known,) = slots.facts.values()
    assert (known.erased_with, known.session_id, known.source_message_ids) == ("s2", "s1", ("m1",))
    slots = taken([fact("Paris", 3, session_id="s3", erased_with="s3")], notes_of(slots))
    assert [one.erased_with for one in slots.facts.values()] == ["s2"]


@pytest.mark.parametrize("order", [(1, 5), (5, 1)])
def test_what_the_caller_said_too_goes_with_no_session(order: tuple[int, int]) -> None:
    said, heard = told("Paris", order[0]), fact("Paris", order[1])
    slots = taken(sorted([said, heard], key=lambda one: one.seen_us))
    assert [one.erased_with for one in slots.facts.values()] == [""]


def test_interests_compete_by_their_value() -> None:
    slots = taken([fact("tea", 1, type=INTEREST, key="likes")])
    slots.retract(conflict_key_of(INTEREST, "likes", "coffee"), "coffee", 5, "rules")
    assert current(slots) == ["tea"]
    slots.retract(conflict_key_of(INTEREST, "likes", "Tea"), "Tea", 5, "rules")
    assert current(slots) == []


def test_a_thousand_facts_do_not_hold_up_the_journal() -> None:
    facts = [PutFact(told(f"value {at}", at, key=f"key {at % 50}")) for at in range(1_000)]
    notes = [one.to_record() for one in FactMerge.of(merge_facts([], facts)[0].upserts).facts.values()]
    assert len(notes) == 1_000
    revised, _ = merge_facts(notes, facts)
    assert list(revised.upserts) == []
