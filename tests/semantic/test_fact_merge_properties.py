"""Properties of merged facts for any findings in any order."""

from collections import Counter
from dataclasses import dataclass, replace

from hypothesis import given
from hypothesis import strategies as st

from memsidecar.domain.fact import FactType
from memsidecar.domain.ids import new_id
from memsidecar.layers.semantic.fact import KnownFact, conflict_key_of
from memsidecar.layers.semantic.fact_merge import FactMerge
from memsidecar.stores.contract import Record
from tests.semantic.builders import fact, records_of

KEYS, VALUES, SESSIONS = ("city", "likes"), ("a", "A.", "b", "c"), ("s1", "s2")
TYPES = (FactType.USER_PROFILE, FactType.INTEREST)


@dataclass(frozen=True)
class TimedFinding:
    """A finding of the rules with its time; one that does not hold is a retraction."""

    kind: FactType
    key: str
    value: str
    when: int
    session: str
    holds: bool = True


times = st.integers(-3, 12)
timed_findings = st.builds(
    TimedFinding,
    st.sampled_from(TYPES),
    st.sampled_from(KEYS),
    st.sampled_from(VALUES),
    times,
    st.sampled_from(SESSIONS),
)
in_any_order = st.lists(timed_findings, max_size=12)
with_retractions = st.lists(
    st.builds(
        TimedFinding,
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
"Retractions are in the order of time, as in a log: a retraction does not refer to a later message."


def merge_findings(records: list[Record], findings: list[TimedFinding]) -> tuple[list[Record], FactMerge]:
    """Merge the findings, each with its own id, as the fact task does; return the records and the merge."""
    merge = FactMerge.of(records)
    for at, one in enumerate(findings):
        if one.holds:
            merge.put(_fact(one, f"m{at}"))
        else:
            merge.retract(conflict_key_of(one.kind, one.key, one.value), one.value, one.when, "rules")
    return records_of(merge), merge


def _fact(one: TimedFinding, message_id: str) -> KnownFact:
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


def as_known(records: list[Record]) -> dict[str, Record]:
    return {note.id: note for note in records}


@given(st.one_of(in_any_order, with_retractions))
def test_each_conflict_key_has_at_most_one_current_fact(findings: list[TimedFinding]) -> None:
    records, _ = merge_findings([], findings)
    counts = Counter(note.conflict_key for note in records if note.current)
    assert not counts or max(counts.values()) == 1


@given(in_any_order)
def test_without_retractions_every_conflict_key_has_a_current_fact(findings: list[TimedFinding]) -> None:
    records, _ = merge_findings([], findings)
    assert {note.conflict_key for note in records} == {note.conflict_key for note in records if note.current}


@given(st.one_of(in_any_order, with_retractions), st.data())
def test_replaying_the_first_findings_changes_nothing(findings: list[TimedFinding], data: st.DataObject) -> None:
    records, _ = merge_findings([], findings)
    replayed = data.draw(st.integers(0, len(findings)))
    again, merge = merge_findings(records, findings[:replayed])
    assert as_known(again) == as_known(records)
    revised = merge.changes
    assert not merge.changed and not revised.upserts


@given(st.one_of(in_any_order, with_retractions), st.data())
def test_a_replay_after_a_crash_leads_to_the_same_facts(findings: list[TimedFinding], data: st.DataObject) -> None:
    """After a crash, the findings are replayed from an earlier position."""
    once, _ = merge_findings([], findings)
    stopped = data.draw(st.integers(0, len(findings)))
    records, _ = merge_findings([], findings[:stopped])
    records, _ = merge_findings(records, findings)
    assert _meaning(records) == _meaning(once)


def _meaning(records: list[Record]) -> list[tuple[object, ...]]:
    return sorted(
        (note.conflict_key, note.time_us, note.until_us, note.body, note.source) for note in _without_messages(records)
    )


def _without_messages(records: list[Record]) -> list[Record]:
    return [replace(fact_note, id="") for fact_note in records]


@given(in_any_order)
def test_the_latest_finding_is_current(findings: list[TimedFinding]) -> None:
    records, merge = merge_findings([], findings)
    for slot in {note.conflict_key for note in records}:
        of_slot = [finding for finding in findings if conflict_key_of(finding.kind, finding.key, finding.value) == slot]
        last = max(one.when for one in of_slot)
        (current,) = [one for one in merge.facts.values() if one.conflict_key == slot and not one.until_us]
        assert current.seen_us == last
        assert any(one.when == last and current.has_same_value(replace(current, value=one.value)) for one in of_slot)


@given(st.one_of(in_any_order, with_retractions))
def test_no_fact_ends_before_it_starts(findings: list[TimedFinding]) -> None:
    _, merge = merge_findings([], findings)
    for one in merge.facts.values():
        assert not one.until_us or one.until_us >= max(one.valid_from_us, 1)


@given(in_any_order, st.lists(timed_findings, min_size=1, max_size=6))
def test_rules_never_end_a_pinned_fact(before: list[TimedFinding], after: list[TimedFinding]) -> None:
    records, merge = merge_findings([], before)
    pinned = merge.put(fact("pinned", 100, origin="client", pinned=True))
    records = records_of(merge)
    _, merge = merge_findings(
        records, [replace(one, when=one.when + 200, holds=at % 2 == 0) for at, one in enumerate(after)]
    )
    assert merge.facts[pinned.id] == pinned
