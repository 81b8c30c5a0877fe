"""Rules of merging facts, one by one."""

from dataclasses import replace

import pytest

from memsidecar.domain.fact import MULTI_VALUED_TYPES, FactType
from memsidecar.layers.semantic.fact import CLIENT, PutFact, conflict_key_of, fact_of
from memsidecar.layers.semantic.fact_merge import FactMerge, merge_facts
from tests.semantic.builders import INTEREST, PROFILE, client_fact, current, fact, history, merged, records_of

CITY = conflict_key_of(PROFILE, "city", "")


def test_a_record_has_all_attributes_of_a_fact() -> None:
    known = fact("Paris", -5, pinned=True, until_us=7, source_message_ids=("m1", "m2"), erased_with="s2")
    assert fact_of(known.to_record()) == known


def test_another_value_supersedes_the_current_one() -> None:
    merge = merged([fact("Paris", 1), fact("Rome", 5)])
    assert (current(merge), history(merge)) == (["Rome"], [("Paris", 1, 5)])


@pytest.mark.parametrize("again", ["Paris", "paris", " PARIS. ", "Ｐａｒｉｓ", "Paris!"])
def test_the_same_value_in_any_spelling_confirms_the_fact(again: str) -> None:
    first = fact("Paris", 1, confidence=0.5)
    merge = merged([first, fact(again, 5, confidence=0.9)])
    assert list(merge.facts.values()) == [replace(first, seen_us=5)]


def test_a_key_in_another_spelling_is_the_same_key() -> None:
    assert current(merged([fact("Paris", 1), fact("Rome", 2, key=" CITY")])) == ["Rome"]


@pytest.mark.parametrize("key", ["location", "home", "residence", "Home City", "home_city", "current-city"])
def test_keys_with_one_meaning_supersede_each_other(key: str) -> None:
    assert current(merged([client_fact("Paris", 1, key="city"), fact("Rome", 2, key=key)])) == ["Rome"]
    assert current(merged([fact("Rome", 1, key=key), client_fact("Paris", 2, key="city")])) == ["Paris"]


def test_the_same_value_under_an_alias_confirms_the_fact() -> None:
    first = client_fact("Paris", 1, key="city")
    merge = merged([first, fact("paris", 5, key="location")])
    assert list(merge.facts.values()) == [replace(first, seen_us=5)]


def test_an_alias_holds_only_for_its_type() -> None:
    merge = merged([fact("Paris", 1), fact("Rome", 2, key="location", type=FactType.DOMAIN)])
    assert current(merge) == ["Paris", "Rome"]


@pytest.mark.parametrize("keys", [("_", "-"), ("birthplace", "city"), ("first name", "last name"), ("country", "city")])
def test_keys_with_different_meanings_stand_beside_each_other(keys: tuple[str, str]) -> None:
    assert len(current(merged([fact("a", 1, key=keys[0]), fact("b", 2, key=keys[1])]))) == 2


@pytest.mark.parametrize("kind", list(FactType))
def test_only_multi_valued_types_hold_many_values(kind: FactType) -> None:
    merge = merged([fact("tea", 1, type=kind), fact("coffee", 2, type=kind), fact("Tea", 3, type=kind)])
    assert current(merge) == (["tea", "coffee"] if kind in MULTI_VALUED_TYPES else ["Tea"])


def test_other_keys_and_types_do_not_conflict() -> None:
    merge = merged([fact("Paris", 1), fact("Rome", 2, key="birthplace"), fact("Oslo", 3, type=FactType.DOMAIN)])
    assert current(merge) == ["Paris", "Rome", "Oslo"]


def test_an_older_fact_goes_directly_into_the_history() -> None:
    merge = merged([fact("Rome", 5), fact("Paris", 1)])
    assert (current(merge), history(merge)) == (["Rome"], [("Paris", 1, 5)])


def test_a_fact_from_before_the_last_confirmation_is_older() -> None:
    merge = merged([fact("Paris", 1), fact("Paris", 9), fact("Rome", 5)])
    assert (current(merge), history(merge)) == (["Paris"], [("Rome", 5, 9)])


def test_an_old_message_does_not_restore_a_fact_that_ended_later() -> None:
    merge = merged([fact("Paris", 3)])
    merge.retract(CITY, "", 7, "rules")
    merge.put(fact("Rome", 5))
    assert (current(merge), history(merge)) == ([], [("Paris", 3, 7), ("Rome", 5, 7)])
    merge.put(fact("Oslo", 8))
    assert current(merge) == ["Oslo"]


def test_only_a_client_supersedes_a_pinned_fact() -> None:
    merge = merged([client_fact("Paris", 1, pinned=True), fact("Rome", 5)])
    assert (current(merge), history(merge)) == (["Paris"], [])
    merge.retract(CITY, "", 6, "rules")
    assert current(merge) == ["Paris"]
    merge.put(client_fact("Oslo", 7))
    assert (current(merge), history(merge)) == (["Oslo"], [("Paris", 1, 7)])


def test_a_retraction_ends_the_value_it_names() -> None:
    merge = merged([fact("Paris", 1)])
    merge.retract(CITY, "Rome", 5, "rules")
    assert current(merge) == ["Paris"]
    merge.retract(CITY, "paris.", 5, "rules")
    assert (current(merge), history(merge)) == ([], [("Paris", 1, 5)])
    merge.retract(CITY, "", 6, CLIENT)
    assert history(merge) == [("Paris", 1, 5)]


@pytest.mark.parametrize("when", [1, 5, 9])
def test_a_retraction_does_not_end_facts_of_the_same_time_or_later(when: int) -> None:
    merge = merged([fact("Paris", 1), fact("Paris", 9)])
    merge.retract(CITY, "", when, "rules")
    assert current(merge) == ["Paris"]


def test_a_replacement_in_one_message_is_stable_when_the_log_is_replayed() -> None:
    merge = merged([fact("Paris", 1)])
    for _ in range(2):
        merge.retract(CITY, "", 5, "rules")
        merge.put(fact("Rome", 5))
    assert (current(merge), history(merge)) == (["Rome"], [("Paris", 1, 5)])


def test_an_undated_put_is_the_newest() -> None:
    ahead = fact("Paris", 1_000)
    revised, stored = merge_facts(
        [ahead.to_record()], [PutFact(client_fact("Rome", 5), undated=True), PutFact(client_fact("Oslo", 6))]
    )
    assert [one.value for one in stored if not one.until_us] == ["Rome"]
    assert [one.value for one in map(fact_of, revised.upserts) if not one.until_us] == ["Rome"]
    assert stored[0].valid_from_us > ahead.seen_us


def test_facts_of_one_request_are_merged_in_order_and_returned_in_their_final_state() -> None:
    cities = ("Paris", "Rome", "Paris")
    _, stored = merge_facts([], [PutFact(client_fact(city, 5), undated=True) for city in cities])
    assert [one.value for one in stored] == list(cities)
    assert [bool(one.until_us) for one in stored] == [True, True, False]
    assert len({one.id for one in stored}) == 3


def test_a_merge_without_changes_writes_nothing() -> None:
    known = fact("Paris", 5)
    revised, stored = merge_facts([known.to_record()], [PutFact(fact("paris", 5)), PutFact(fact("Paris", 2))])
    assert list(revised.upserts) == [] and stored == [known, known]


def test_a_fact_is_erased_with_the_last_session_that_confirmed_it() -> None:
    merge = merged([fact("Paris", 1), fact("Paris", 5, session_id="s2", erased_with="s2")])
    (known,) = merge.facts.values()
    assert (known.erased_with, known.session_id, known.source_message_ids) == ("s2", "s1", ("m1",))
    merge = merged([fact("Paris", 3, session_id="s3", erased_with="s3")], records_of(merge))
    assert [one.erased_with for one in merge.facts.values()] == ["s2"]


@pytest.mark.parametrize("order", [(1, 5), (5, 1)])
def test_a_fact_that_a_client_put_too_is_erased_with_no_session(order: tuple[int, int]) -> None:
    by_client, by_rules = client_fact("Paris", order[0]), fact("Paris", order[1])
    merge = merged(sorted([by_client, by_rules], key=lambda one: one.seen_us))
    assert [one.erased_with for one in merge.facts.values()] == [""]


def test_interests_conflict_by_value() -> None:
    merge = merged([fact("tea", 1, type=INTEREST, key="likes")])
    merge.retract(conflict_key_of(INTEREST, "likes", "coffee"), "coffee", 5, "rules")
    assert current(merge) == ["tea"]
    merge.retract(conflict_key_of(INTEREST, "likes", "Tea"), "Tea", 5, "rules")
    assert current(merge) == []


def test_merging_a_thousand_facts_is_fast() -> None:
    facts = [PutFact(client_fact(f"value {at}", at, key=f"key {at % 50}")) for at in range(1_000)]
    records = [one.to_record() for one in FactMerge.of(merge_facts([], facts)[0].upserts).facts.values()]
    assert len(records) == 1_000
    revised, _ = merge_facts(records, facts)
    assert list(revised.upserts) == []
