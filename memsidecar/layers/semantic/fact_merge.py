"""Supersede, retract, history: pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from memsidecar.domain.fact import FactType
from memsidecar.layers.semantic.fact import KnownFact, conflict_key_of, fact_of
from memsidecar.stores.contract import Record, RecordChanges

CLIENT = "client"
LAST_US = 253_402_300_799_999_999
"The end of the year 9999: no time is later."

LIKES, DISLIKES = "likes", "dislikes:"


class PutFact(NamedTuple):
    """A fact that somebody tells; `undated` where they did not say when."""

    fact: KnownFact
    undated: bool = False


@dataclass
class FactMerge:
    """What is known in some slots, and what becomes of it. Of each slot, one fact or none is current."""

    facts: dict[str, KnownFact] = field(default_factory=dict)
    changed: dict[str, KnownFact] = field(default_factory=dict)
    _by_slot: dict[int, dict[str, KnownFact]] = field(default_factory=dict)

    @classmethod
    def of(cls, notes: Iterable[Record]) -> "FactMerge":
        slots = cls()
        for note in notes:
            slots.facts[note.id] = slots._in(note.conflict_key)[note.id] = fact_of(note)
        return slots

    def take(self, fact: KnownFact) -> KnownFact:
        """The fact as it is then; the one that was there, where nothing new was said."""
        slot = fact.slot
        current = self._current(slot)
        if current is not None and current.has_same_value(fact):
            return self._keep(slot, _seen_again(current, fact))
        past = self._past(slot, fact)
        if past is not None:
            return past
        if current is None:
            return self._keep(slot, self._after_history(slot, fact))
        if current.pinned and fact.origin != CLIENT:
            return current
        if fact.valid_from_us < current.valid_from_us or fact.seen_us < current.seen_us:
            return self._keep(slot, _ended_before(current, fact))
        self._keep(slot, replace(current, until_us=max(fact.valid_from_us, 1)))
        return self._keep(slot, fact)

    def tell(self, told: PutFact) -> KnownFact:
        return self.take(self._newest(told.fact) if told.undated else told.fact)

    def _newest(self, fact: KnownFact) -> KnownFact:
        """Messages may be dated by other clocks: what is told without a time comes after them all the same."""
        known = self._in(fact.slot).values()
        latest_us = max((max(one.valid_from_us, one.seen_us, one.until_us) for one in known), default=0)
        if latest_us < fact.seen_us:
            return fact
        after_us = min(latest_us + 1, LAST_US)
        return replace(fact, valid_from_us=after_us, seen_us=after_us)

    def end(self, slot: int, value: str, when_us: int, origin: str) -> None:
        """It does not hold any more, if it is this value (empty: any) and was last said before.

        At the same moment is not before: what takes the place of the old in one message must not end with it.
        """
        current = self._current(slot)
        if current is None or (current.pinned and origin != CLIENT):
            return
        if when_us <= max(current.valid_from_us, current.seen_us):
            return
        if not value or current.has_same_value(replace(current, value=value)):
            self._keep(slot, replace(current, until_us=max(when_us, 1)))

    @property
    def revised(self) -> RecordChanges:
        return RecordChanges([fact.to_record() for fact in self.changed.values()])

    def _in(self, slot: int) -> dict[str, KnownFact]:
        return self._by_slot.setdefault(slot, {})

    def _current(self, slot: int) -> KnownFact | None:
        return next((fact for fact in self._in(slot).values() if not fact.until_us), None)

    def _past(self, slot: int, fact: KnownFact) -> KnownFact | None:
        """The same value out of the history, if it was still held when this was said: nothing new then."""
        for known in self._in(slot).values():
            # An end before 1970 cannot be told, because 0 is none: it is known when it was last said.
            ended_us = known.until_us if known.until_us > 1 else known.seen_us
            if known.until_us and fact.valid_from_us <= ended_us and known.has_same_value(fact):
                return known
        return None

    def _after_history(self, slot: int, fact: KnownFact) -> KnownFact:
        """What ended later than this was said has ended with it: an old message does not bring it back."""
        later = max((known.until_us for known in self._in(slot).values()), default=0)
        return replace(fact, until_us=later) if later > fact.valid_from_us else fact

    def _keep(self, slot: int, fact: KnownFact) -> KnownFact:
        if self.facts.get(fact.id) != fact:
            self.facts[fact.id] = self.changed[fact.id] = self._in(slot)[fact.id] = fact
        return fact


def _seen_again(current: KnownFact, fact: KnownFact) -> KnownFact:
    """Said by the caller, or in another session since: it does not come from the first one alone any more."""
    if fact.seen_us <= current.seen_us:
        return current
    goes_with = fact.erased_with if current.erased_with else ""
    return replace(current, seen_us=fact.seen_us, erased_with=goes_with)


def _ended_before(current: KnownFact, fact: KnownFact) -> KnownFact:
    """An older one is history at once: until the current one began, or was last confirmed."""
    ended_us = max(current.valid_from_us, fact.valid_from_us)
    if ended_us == fact.valid_from_us:
        ended_us = max(current.seen_us, fact.valid_from_us)
    return replace(fact, until_us=max(ended_us, 1))


def merge_facts(notes: Sequence[Record], told: Iterable[PutFact]) -> tuple[RecordChanges, list[KnownFact]]:
    """What to keep, and each fact as it is after all of them."""
    slots = FactMerge.of(notes)
    taken = [slots.tell(one) for one in told]
    return slots.revised, [slots.facts[fact.id] for fact in taken]


def opposite_key(kind: FactType, key: str, value: str) -> int | None:
    """Where the opposite of a fact would be; None for facts that have none."""
    if kind is FactType.INTEREST and key == LIKES:
        return conflict_key_of(FactType.PREFERENCE, DISLIKES + value, value)
    if kind is FactType.PREFERENCE and key.startswith(DISLIKES):
        return conflict_key_of(FactType.INTEREST, LIKES, value)
    return None
