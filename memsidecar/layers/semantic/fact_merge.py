"""Fact merge, pure: put facts supersede, confirm or extend the history of the known ones; retractions end them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from memsidecar.domain.fact import FactType
from memsidecar.layers.semantic.fact import CLIENT, KnownFact, PutFact, conflict_key_of, fact_of, source_ids_of
from memsidecar.stores.contract import ErasedSources, Record, RecordChanges

MAX_TIME_US = 253_402_300_799_999_999
"""End of the year 9999, the latest valid time."""

LIKES, DISLIKES = "likes", "dislikes:"


@dataclass
class FactMerge:
    """Known facts with some conflict keys, and their changes. Each conflict key has at most one current fact."""

    facts: dict[str, KnownFact] = field(default_factory=dict)
    changed: dict[str, KnownFact] = field(default_factory=dict)
    _by_key: dict[int, dict[str, KnownFact]] = field(default_factory=dict)

    @classmethod
    def of(cls, records: Iterable[Record]) -> "FactMerge":
        merge = cls()
        for record in records:
            merge.facts[record.id] = merge._with_key(record.conflict_key)[record.id] = fact_of(record)
        return merge

    def put(self, fact: KnownFact) -> KnownFact:
        """Put a fact; return it as stored, or the known fact that already says the same."""
        key = fact.conflict_key
        current = self._current(key)
        if current is not None and current.has_same_value(fact):
            return self._store(key, _confirmed(current, fact))
        past = self._same_in_history(key, fact)
        if past is not None:
            return past
        if current is None:
            return self._store(key, self._ended_by_history(key, fact))
        if current.pinned and fact.origin != CLIENT:
            return current
        if fact.valid_from_us < current.valid_from_us or fact.seen_us < current.seen_us:
            return self._store(key, _ended_before(current, fact))
        self._store(key, replace(current, until_us=max(fact.valid_from_us, 1)))
        return self._store(key, fact)

    def restore(self, fact: KnownFact) -> KnownFact:
        """Store a fact of an archive as it is. Only if another fact of its key holds, it is put like a new one."""
        key = fact.conflict_key
        return self._store(key, fact) if fact.until_us or self._current(key) is None else self.put(fact)

    def put_request(self, request: PutFact) -> KnownFact:
        return self.put(self._as_newest(request.fact) if request.undated else request.fact)

    def _as_newest(self, fact: KnownFact) -> KnownFact:
        """Date an undated fact after all known ones: messages may carry times of other clocks."""
        known = self._with_key(fact.conflict_key).values()
        latest_us = max((max(other.valid_from_us, other.seen_us, other.until_us) for other in known), default=0)
        if latest_us < fact.seen_us:
            return fact
        after_us = min(latest_us + 1, MAX_TIME_US)
        return replace(fact, valid_from_us=after_us, seen_us=after_us)

    def retract(self, key: int, value: str, when_us: int, origin: str) -> None:
        """End the current fact if it has this value (empty: any) and was last mentioned before `when_us`.

        The same time is not before: in one message, a new value must not end together with the old one.
        """
        current = self._current(key)
        if current is None or (current.pinned and origin != CLIENT):
            return
        if when_us <= max(current.valid_from_us, current.seen_us):
            return
        if not value or current.has_same_value(replace(current, value=value)):
            self._store(key, replace(current, until_us=max(when_us, 1)))

    def is_known(self, key: int) -> bool:
        return self._current(key) is not None

    @property
    def changes(self) -> RecordChanges:
        return RecordChanges([fact.to_record() for fact in self.changed.values()])

    def _with_key(self, key: int) -> dict[str, KnownFact]:
        return self._by_key.setdefault(key, {})

    def _current(self, key: int) -> KnownFact | None:
        return next((fact for fact in self._with_key(key).values() if not fact.until_us), None)

    def _same_in_history(self, key: int, fact: KnownFact) -> KnownFact | None:
        """Return an ended fact with the same value that still held at the time of this one."""
        for known in self._with_key(key).values():
            # An end before 1970 cannot be stored, because 0 means none. The last mention is used instead.
            ended_us = known.until_us if known.until_us > 1 else known.seen_us
            if known.until_us and fact.valid_from_us <= ended_us and known.has_same_value(fact):
                return known
        return None

    def _ended_by_history(self, key: int, fact: KnownFact) -> KnownFact:
        """End the fact if the key has an end later than the fact: an old message does not restore a fact."""
        later = max((known.until_us for known in self._with_key(key).values()), default=0)
        return replace(fact, until_us=later) if later > fact.valid_from_us else fact

    def _store(self, key: int, fact: KnownFact) -> KnownFact:
        if self.facts.get(fact.id) != fact:
            self.facts[fact.id] = self.changed[fact.id] = self._with_key(key)[fact.id] = fact
        return fact


def _confirmed(current: KnownFact, fact: KnownFact) -> KnownFact:
    """Return the current fact with a later mention, and with the session of that mention in `erased_with`."""
    if fact.seen_us <= current.seen_us:
        return current
    erased_with = fact.erased_with if current.erased_with else ""
    return replace(current, seen_us=fact.seen_us, erased_with=erased_with)


def _ended_before(current: KnownFact, fact: KnownFact) -> KnownFact:
    """Return an older fact as history: it ended when the current one began, or was last confirmed."""
    ended_us = max(current.valid_from_us, fact.valid_from_us)
    if ended_us == fact.valid_from_us:
        ended_us = max(current.seen_us, fact.valid_from_us)
    return replace(fact, until_us=max(ended_us, 1))


def merge_facts(records: Sequence[Record], requests: Iterable[PutFact]) -> tuple[RecordChanges, list[KnownFact]]:
    """Put facts; return the record changes, and each put fact as it is after all of them."""
    merge = FactMerge.of(records)
    stored = [merge.put_request(request) for request in requests]
    return merge.changes, [merge.facts[fact.id] for fact in stored]


def restore_facts(stored: Iterable[Record], new: Iterable[Record]) -> RecordChanges:
    """Store the new facts of an archive beside the stored ones."""
    merge = FactMerge.of(stored)
    for record in new:
        merge.restore(fact_of(record))
    return merge.changes


def opposite_key(kind: FactType, key: str, value: str) -> int | None:
    """Return the conflict key of the opposite of a fact (likes and dislikes); None if it has none."""
    if kind is FactType.INTEREST and key == LIKES:
        return conflict_key_of(FactType.PREFERENCE, DISLIKES + value, value)
    if kind is FactType.PREFERENCE and key.startswith(DISLIKES):
        return conflict_key_of(FactType.INTEREST, LIKES, value)
    return None


def rests_on(body: bytes, time_us: int, erased: ErasedSources) -> bool:
    """Tell whether a fact may rest on one of the messages, by its body and the time of its last mention.

    All writes wait while the journal asks this for each fact of a session, so no more than the ids is decoded.
    """
    return time_us in erased.times_us or not erased.ids.isdisjoint(source_ids_of(body))


def without_messages(record: Record, erased: ErasedSources) -> Record | None:
    """Return the fact without erased messages of the session that it is erased with; None if it rests on no other.

    A fact rests on the messages of its first mention, and on its last mention if that came later. The last mention is
    known by its time only. Once it is erased, the fact counts as mentioned once.
    """
    fact = fact_of(record)
    is_first = fact.session_id == erased.session_id and not erased.ids.isdisjoint(fact.source_message_ids)
    is_last = _has_later_mention(fact) and fact.seen_us in erased.times_us
    if not is_first and not is_last:
        return record
    sources = tuple(each for each in fact.source_message_ids if erased.exists(fact.session_id, each))
    if not sources and (is_last or not _has_later_mention(fact)):
        return None
    if is_last:
        fact = replace(fact, seen_us=fact.extracted_us, erased_with=fact.session_id)
    return replace(fact, source_message_ids=sources).to_record()


def _has_later_mention(fact: KnownFact) -> bool:
    """Whether the fact was mentioned again. A client gives the times of its own facts, so theirs tell nothing."""
    is_put_once = fact.origin == CLIENT and fact.erased_with == fact.session_id
    return fact.seen_us > fact.extracted_us and not is_put_once
