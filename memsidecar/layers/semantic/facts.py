"""Put, list, delete, order for a context."""

from collections.abc import Sequence
from dataclasses import dataclass

from memsidecar.domain.fact import FactType
from memsidecar.domain.session import SessionKey
from memsidecar.layers.field_checks import MAX_RESPONSE_BYTES
from memsidecar.layers.ownership import check_owner, claim
from memsidecar.layers.record_cache import DoneCallback, RecordCache
from memsidecar.layers.semantic.fact import KnownFact, fact_of
from memsidecar.layers.semantic.fact_merge import PutFact, merge_facts
from memsidecar.layers.text_analysis import content_terms_or_all, stem, tokenize
from memsidecar.stores.contract import (
    CommitEvent,
    DeleteRecord,
    Journal,
    Owner,
    PendingCommand,
    Record,
    RecordChanges,
    RecordKind,
    RecordQuery,
    UpsertRecords,
)

MOST_READ = 10_000
"More of one user's facts than this are not looked at: the oldest are then out of sight."

_FIGURES_BYTES = 512
"What an answer says of a fact besides its texts, at most."

FactCursor = tuple[float, int, str]
"How sure it is, when it was last seen, and its id."

MUCH_ASKED_FOR = 0.5
"From this share of its words on a fact is what the query is about. Less may be chance, and every change of the chosen"
"facts is a new beginning of the prompt, which no cache knows."


@dataclass(frozen=True, slots=True)
class PendingPut:
    """A put on its way; `facts` is what they are when the ticket is settled, in the order in which they were given."""

    ticket: PendingCommand
    facts: list[KnownFact]


def owner_of(journal: Journal, namespace: str, user_id: str, session_id: str) -> Owner:
    """The user, who may be named by the session; a session without one for itself. NotYourSession for another's."""
    if session_id:
        head = journal.head(SessionKey(namespace, session_id))
        check_owner(head, user_id)
        user_id = user_id or (head.user_id if head else "")
    return Owner(namespace, user_id) if user_id else Owner(namespace, session_id=session_id)


class Facts:
    """Thread-safe. What was put is read from then on, from the cache too."""

    def __init__(self, journal: Journal, cached_owners: int) -> None:
        self._journal = journal
        self._at_hand: RecordCache[Sequence[KnownFact]] = RecordCache(cached_owners)
        journal.subscribe(self._committed)

    def owner(self, namespace: str, user_id: str, session_id: str) -> Owner:
        return owner_of(self._journal, namespace, user_id, session_id)

    def claim(self, namespace: str, user_id: str, session_id: str) -> Owner:
        """The same for whoever puts some: the first user that is named makes the session theirs."""
        claim(self._journal, SessionKey(namespace, session_id), user_id)
        return self.owner(namespace, user_id, session_id)

    def submit_put(self, owner: Owner, told: Sequence[PutFact], settled: DoneCallback) -> PendingPut:
        stored: list[KnownFact] = []

        def revise(notes: Sequence[Record]) -> RecordChanges:
            revised, stored[:] = merge_facts(notes, told)
            return revised

        slots = sorted({one.fact.slot for one in told})
        return PendingPut(self.submit_upsert(UpsertRecords(owner, RecordKind.FACT, slots, revise), settled), stored)

    def submit_upsert(self, command: UpsertRecords, settled: DoneCallback) -> PendingCommand:
        return self._begin(PendingCommand(command, self._at_hand.invalidating(command.owner, settled)))

    def revise(self, command: UpsertRecords) -> None:
        """The same for those who can wait."""
        ticket = self._begin(PendingCommand(command))
        try:
            ticket.wait()
        finally:
            self._at_hand.invalidate(command.owner)

    def submit_delete(self, owner: Owner, fact_id: str, settled: DoneCallback) -> PendingCommand:
        command = DeleteRecord(owner, RecordKind.FACT, fact_id)
        return self._begin(PendingCommand(command, self._at_hand.invalidating(owner, settled)))

    def _begin(self, ticket: PendingCommand) -> PendingCommand:
        self._journal.submit(ticket)
        return ticket

    def current(self, owner: Owner) -> Sequence[KnownFact]:
        """What holds now, newest first."""
        return self._at_hand.get(owner, lambda: self.all(owner, history=False))

    def all(self, owner: Owner, history: bool) -> Sequence[KnownFact]:
        page = RecordQuery(owner, RecordKind.FACT, MOST_READ, history=history)
        return [fact_of(note) for note in self._journal.records(page)]

    def _committed(self, changes: Sequence[CommitEvent]) -> None:
        """What is erased takes facts of any user with it."""
        erased = {one.key.namespace for one in changes if one.reload or (one.head is None and one.key.session_id)}
        if erased:
            self._at_hand.invalidate_where(lambda owner: owner.namespace in erased)


@dataclass(frozen=True, slots=True)
class FactQuery:
    """Which facts: of these types (none: all), behind this place."""

    types: frozenset[FactType]
    history: bool
    size: int
    after: FactCursor | None = None

    def of(self, facts: Facts, owner: Owner) -> tuple[Sequence[KnownFact], FactCursor | None]:
        """As many as fit into an answer, and the place of the next page, if there is one."""
        known = facts.all(owner, history=True) if self.history else facts.current(owner)
        wanted = sorted((one for one in known if self._is_wanted(one)), key=lambda fact: _order(cursor_of(fact)))
        found = _as_many_as_fit(wanted[: self.size])
        return found, cursor_of(found[-1]) if len(found) < len(wanted) else None

    def _is_wanted(self, fact: KnownFact) -> bool:
        is_behind = self.after is None or _order(cursor_of(fact)) > _order(self.after)
        return is_behind and (not self.types or fact.type in self.types)


def cursor_of(fact: KnownFact) -> FactCursor:
    return fact.confidence, fact.seen_us, fact.id


def _order(place: FactCursor) -> tuple[float, int, str]:
    confidence, seen_us, fact_id = place
    return -confidence, -seen_us, fact_id


def _as_many_as_fit(facts: Sequence[KnownFact]) -> Sequence[KnownFact]:
    """At least one: a single fact is far smaller than an answer."""
    size = 0
    for at, fact in enumerate(facts):
        texts = (fact.key, fact.value, fact.session_id, fact.origin, *fact.source_message_ids)
        size += _FIGURES_BYTES + sum(len(text.encode()) for text in texts)
        if at and size > MAX_RESPONSE_BYTES:
            return facts[:at]
    return facts


def order_for_context(facts: Sequence[KnownFact], query: str) -> list[KnownFact]:
    """Pinned ones, then who the user is, then what the query is about, then the surest and oldest."""
    asked = frozenset(map(stem, content_terms_or_all(tokenize(query))))
    return sorted(facts, key=lambda fact: (_rank(fact), -_relevance(fact, asked), -fact.confidence, _age(fact)))


def _age(fact: KnownFact) -> tuple[int, str, str]:
    return fact.extracted_us, fact.key, fact.value


def _relevance(fact: KnownFact, asked: frozenset[str]) -> float:
    """The share of the words of its value that are asked for, where that is much."""
    folded = fact.value.casefold()
    if not any(word in folded for word in asked):
        return 0.0  # nearly always, and much sooner than by taking it apart
    said = frozenset(map(stem, content_terms_or_all(tokenize(fact.value))))
    share = len(said & asked) / len(said) if said else 0.0
    return share if share >= MUCH_ASKED_FOR else 0.0


def _rank(fact: KnownFact) -> int:
    return 0 if fact.pinned else 1 if fact.type is FactType.USER_PROFILE else 2


def fact_text(fact: KnownFact) -> str:
    """Where the value stands in the key, because there are many of a kind, it is said once."""
    kind, _, rest = fact.key.partition(":")
    key = kind if rest == fact.value else fact.key
    return f"{key.replace('_', ' ')}: {fact.value}"
