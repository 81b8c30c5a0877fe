"""Whatever was said in whatever order: what must hold of the facts that are left."""

from collections import Counter
from dataclasses import dataclass, replace

from hypothesis import given
from hypothesis import strategies as st

from memsidecar.domain.fact import FactType
from memsidecar.domain.ids import new_id
from memsidecar.layers.semantic.fact import KnownFact, conflict_key_of
from memsidecar.layers.semantic.fact_merge import FactMerge
from memsidecar.stores.contract import Record
from tests.semantic.builders import fact, notes_of

KEYS, VALUES, SESSIONS = ("city", "likes"), ("a", "A.", "b", "c"), ("s1", "s2")
TYPES = (FactType.USER_PROFILE, FactType.INTEREST)


@dataclass(frozen=True)
class Said:
    """A finding of the rules at a moment; one that does not hold is a retraction."""

    kind: FactType
    key: str
    value: str
    when: int
    session: str
    holds: bool = True


times = st.integers(-3, 12)
said = st.builds(
    Said, st.sampled_from(TYPES), st.sampled_from(KEYS), st.sampled_from(VALUES), times, st.sampled_from(SESSIONS)
)
in_any_order = st.lists(said, max_size=12)
with_retractions = st.lists(
    st.builds(
        Said,
        st.sampled_from(TYPES),
        st.sampled_from(KEYS),
        st.sampled_from(("", *VALUES)),
        times,
        st.sampled_from(SESSIONS),
        st.booleans(),
    ).filter(lambda one: bool(one.value) or not one.holds),
    max_size=12,
    unique_by=lambda one: one.when,
).map(lambda findings: sorted(findings, key=lambda one: one.when))
"Retractions are told in the order of time, as a log has them: nobody can take back what is only said later."


def hear(notes: list[Record], findings: list[Said]) -> tuple[list[Record], FactMerge]:
    """What is kept after hearing all of it, each under an id of its own, as a run of the learning task does."""
    slots = FactMerge.of(notes)
    for at, one in enumerate(findings):
        if one.holds:
            slots.put(_fact(one, f"m{at}"))
        else:
            slots.retract(conflict_key_of(one.kind, one.key, one.value), one.value, one.when, "rules")
    return notes_of(slots), slots


def _fact(one: Said, message_id: str) -> KnownFact:
    return fact(
        one.value,
        one.when,
        id=new_id(),
        type=one.kind,
        key=one.key,
        session_id=one.session,
        erased_with=one.session,
        source_message_ids=(f"{one.session} {message_id}",),
    )


def as_known(notes: list[Record]) -> dict[str, Record]:
    return {note.id: note for note in notes}


@given(st.one_of(in_any_order, with_retractions))
def test_of_each_slot_at_most_one_is_current(findings: list[Said]) -> None:
    notes, _ = hear([], findings)
    counts = Counter(note.conflict_key for note in notes if note.current)
    assert not counts or max(counts.values()) == 1


@given(in_any_order)
def test_where_nothing_is_taken_back_every_slot_has_a_current_fact(findings: list[Said]) -> None:
    notes, _ = hear([], findings)
    assert {note.conflict_key for note in notes} == {note.conflict_key for note in notes if note.current}


@given(st.one_of(in_any_order, with_retractions), st.data())
def test_to_hear_the_beginning_again_changes_nothing(findings: list[Said], data: st.DataObject) -> None:
    notes, _ = hear([], findings)
    heard = data.draw(st.integers(0, len(findings)))
    again, slots = hear(notes, findings[:heard])
    assert as_known(again) == as_known(notes)
    revised = slots.changes
    assert not slots.changed and not revised.upserts


@given(st.one_of(in_any_order, with_retractions), st.data())
def test_to_stop_midway_and_begin_again_leads_to_the_same(findings: list[Said], data: st.DataObject) -> None:
    """A crash after some of it was kept: everything is heard from an earlier place on."""
    once, _ = hear([], findings)
    stopped = data.draw(st.integers(0, len(findings)))
    notes, _ = hear([], findings[:stopped])
    notes, _ = hear(notes, findings)
    assert _meaning(notes) == _meaning(once)


def _meaning(notes: list[Record]) -> list[tuple[object, ...]]:
    return sorted(
        (note.conflict_key, note.time_us, note.until_us, note.body, note.source) for note in _without_messages(notes)
    )


def _without_messages(notes: list[Record]) -> list[Record]:
    return [replace(fact_note, id="") for fact_note in notes]


@given(in_any_order)
def test_the_one_said_last_is_the_current_one(findings: list[Said]) -> None:
    notes, slots = hear([], findings)
    for slot in {note.conflict_key for note in notes}:
        of_slot = [finding for finding in findings if conflict_key_of(finding.kind, finding.key, finding.value) == slot]
        last = max(one.when for one in of_slot)
        (current,) = [one for one in slots.facts.values() if one.conflict_key == slot and not one.until_us]
        assert current.seen_us == last
        assert any(one.when == last and current.has_same_value(replace(current, value=one.value)) for one in of_slot)


@given(st.one_of(in_any_order, with_retractions))
def test_nothing_ends_before_it_begins(findings: list[Said]) -> None:
    _, slots = hear([], findings)
    for one in slots.facts.values():
        assert not one.until_us or one.until_us >= max(one.valid_from_us, 1)


@given(in_any_order, st.lists(said, min_size=1, max_size=6))
def test_rules_never_end_a_pinned_fact(before: list[Said], after: list[Said]) -> None:
    notes, slots = hear([], before)
    pinned = slots.put(fact("pinned", 100, origin="client", pinned=True))
    notes = notes_of(slots)
    _, slots = hear(notes, [replace(one, when=one.when + 200, holds=at % 2 == 0) for at, one in enumerate(after)])
    assert slots.facts[pinned.id] == pinned
