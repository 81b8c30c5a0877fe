"""Facts: put, list, delete, order for a context."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from memsidecar.domain.fact import FactType
from memsidecar.domain.session import SessionKey
from memsidecar.domain.statistics import CacheStatistics
from memsidecar.layers.field_checks import MAX_RESPONSE_BYTES
from memsidecar.layers.ownership import check_owner, claim
from memsidecar.layers.record_cache import DoneCallback, RecordCache
from memsidecar.layers.semantic.fact import KnownFact, PutFact, fact_of
from memsidecar.layers.semantic.fact_merge import merge_facts
from memsidecar.layers.text_analysis import MAX_QUERY_TERMS, content_terms_or_all, stem, tokenize
from memsidecar.stores.contract import (
    CommitEvent,
    DeleteRecord,
    ImportRecords,
    Journal,
    Owner,
    PendingCommand,
    Record,
    RecordChanges,
    RecordKind,
    RecordQuery,
    SessionReader,
    UpsertRecords,
    submit_and_wait,
)

MAX_FACTS_READ = 10_000
"""Bound on the facts of one user that are read; the oldest beyond it are ignored."""

MIN_MATCHED_SHARE = 0.5
"""Share of its words that a fact must share with the query to rank higher. A smaller share may be chance, and every
change of the chosen facts changes the beginning of the prompt, which invalidates the provider's cache."""

_FIELDS_BYTES = 512
"""Upper bound on the size of an encoded fact without its texts."""

FactCursor = tuple[float, int, str]
"""Position in a listing: confidence, last mention, id."""


def owner_of(journal: SessionReader, namespace: str, user_id: str, session_id: str) -> Owner:
    """Return the owner of facts: the given user, else the user of the session, else the session itself.

    Raises SessionOwnerMismatch if the session belongs to another user.
    """
    if session_id:
        head = journal.head(SessionKey(namespace, session_id))
        check_owner(head, user_id)
        user_id = user_id or (head.user_id if head else "")
    return Owner(namespace, user_id) if user_id else Owner(namespace, session_id=session_id)


_CORRECTED_TYPES = (FactType.USER_PROFILE, FactType.PREFERENCE)
"""Types whose new value means that the old one is wrong. A new topic or mood corrects nothing."""

MessageName = tuple[str, str]
"""Session id and message id."""


class OwnerFacts:
    """Facts of one owner: the current ones, and, read when first needed, which messages they superseded."""

    def __init__(self, current: Sequence[KnownFact], read_history: Callable[[], Sequence[KnownFact]]) -> None:
        self.current = current
        self._read_history = read_history
        self._superseded: Mapping[MessageName, Sequence[MessageName]] | None = None

    @property
    def superseded(self) -> Mapping[MessageName, Sequence[MessageName]]:
        if self._superseded is None:
            self._superseded = superseded_messages(self._read_history())
        return self._superseded


def superseded_messages(facts: Sequence[KnownFact]) -> Mapping[MessageName, Sequence[MessageName]]:
    """Return the sources of facts that have ended, each with the newest sources of the facts that replaced them."""
    begun = {(fact.conflict_key, fact.valid_from_us): fact for fact in facts}
    found: dict[MessageName, list[MessageName]] = {}
    for fact in facts:
        if fact.until_us and fact.type in _CORRECTED_TYPES:
            later = begun.get((fact.conflict_key, fact.until_us))
            for name in _sources(fact):
                found.setdefault(name, []).extend([each for each in _sources(later) if each != name][-1:])
    return found


def _sources(fact: KnownFact | None) -> list[MessageName]:
    return [(fact.session_id, message_id) for message_id in fact.source_message_ids] if fact else []


class Facts:
    """Facts of all owners, with a cache of the current ones. A put is visible when it is done. Thread-safe."""

    def __init__(self, journal: Journal, cached_owners: int) -> None:
        self._journal = journal
        self._cache: RecordCache[OwnerFacts] = RecordCache(journal, cached_owners)
        journal.subscribe(self._invalidate, only_invalidations=True)

    @property
    def cache_statistics(self) -> CacheStatistics:
        return self._cache.statistics

    def owner(self, namespace: str, user_id: str, session_id: str) -> Owner:
        return owner_of(self._journal, namespace, user_id, session_id)

    def claim(self, namespace: str, user_id: str, session_id: str) -> Owner:
        """Return the owner for a put; a session without a user is assigned to the given one."""
        claim(self._journal, SessionKey(namespace, session_id), user_id)
        return self.owner(namespace, user_id, session_id)

    def submit_put(self, owner: Owner, requests: Sequence[PutFact], on_done: DoneCallback) -> PendingCommand:
        """Submit a put. Its result has the stored facts, in the order of the requests."""

        def merge(records: Sequence[Record]) -> RecordChanges:
            changes, stored = merge_facts(records, requests)
            return replace(changes, result=stored)

        keys = sorted({request.fact.conflict_key for request in requests})
        return self.submit_upsert(UpsertRecords(owner, RecordKind.FACT, keys, merge), on_done)

    def submit_upsert(self, command: UpsertRecords, on_done: DoneCallback) -> PendingCommand:
        return self._submit(PendingCommand(command, self._cache.invalidating(command.owner, on_done)))

    def submit_import(self, command: ImportRecords, on_done: DoneCallback) -> PendingCommand:
        return self._submit(PendingCommand(command, self._cache.invalidating(command.owner, on_done)))

    def upsert(self, command: UpsertRecords) -> None:
        """Apply a command; return when it is durable."""
        try:
            submit_and_wait(self._journal, command)
        finally:
            self._cache.invalidate(command.owner)

    def submit_delete(self, owner: Owner, fact_id: str, on_done: DoneCallback) -> PendingCommand:
        command = DeleteRecord(owner, RecordKind.FACT, fact_id)
        return self._submit(PendingCommand(command, self._cache.invalidating(owner, on_done)))

    def _submit(self, pending: PendingCommand) -> PendingCommand:
        self._journal.submit(pending)
        return pending

    def current(self, owner: Owner) -> Sequence[KnownFact]:
        """Return the facts that hold now, newest first."""
        return self._of(owner).current

    def superseded(self, owner: Owner) -> Mapping[MessageName, Sequence[MessageName]]:
        """Return the messages with facts that hold no longer, each with the messages that replaced these facts."""
        return self._of(owner).superseded

    def _of(self, owner: Owner) -> OwnerFacts:
        return self._cache.get(
            owner, lambda: OwnerFacts(self.all(owner, history=False), lambda: self.all(owner, history=True))
        )

    def all(self, owner: Owner, history: bool) -> Sequence[KnownFact]:
        page = RecordQuery(owner, RecordKind.FACT, MAX_FACTS_READ, history=history)
        return [fact_of(record) for record in self._journal.records(page)]

    def _invalidate(self, changes: Sequence[CommitEvent]) -> None:
        """Invalidate the namespace of an erasure: it erases facts of any user."""
        erased = {change.key.namespace for change in changes if change.erases}
        if erased:
            self._cache.invalidate_where(lambda owner: owner.namespace in erased)


@dataclass(frozen=True, slots=True)
class FactQuery:
    """Page of facts of these types (none: all) after a cursor, by confidence, then last mention."""

    types: frozenset[FactType]
    history: bool
    size: int
    after: FactCursor | None = None

    def of(self, facts: Facts, owner: Owner) -> tuple[Sequence[KnownFact], FactCursor | None]:
        """Return as many facts as fit into a response, and the cursor of the next page, if there is one."""
        known = facts.all(owner, history=True) if self.history else facts.current(owner)
        wanted = sorted(filter(self._is_wanted, known), key=lambda fact: _order(cursor_of(fact)))
        page = _fit_response(wanted[: self.size])
        return page, cursor_of(page[-1]) if len(page) < len(wanted) else None

    def _is_wanted(self, fact: KnownFact) -> bool:
        is_after = self.after is None or _order(cursor_of(fact)) > _order(self.after)
        return is_after and (not self.types or fact.type in self.types)


def cursor_of(fact: KnownFact) -> FactCursor:
    return fact.confidence, fact.seen_us, fact.id


def _order(cursor: FactCursor) -> tuple[float, int, str]:
    confidence, seen_us, fact_id = cursor
    return -confidence, -seen_us, fact_id


def _fit_response(facts: Sequence[KnownFact]) -> Sequence[KnownFact]:
    """Return as many facts as fit into a response, at least one: a single fact is far smaller."""
    size = 0
    for at, fact in enumerate(facts):
        texts = (fact.key, fact.value, fact.session_id, fact.origin, *fact.source_message_ids)
        size += _FIELDS_BYTES + sum(len(text.encode()) for text in texts)
        if at and size > MAX_RESPONSE_BYTES:
            return facts[:at]
    return facts


def order_for_context(facts: Sequence[KnownFact], query: str) -> list[KnownFact]:
    """Sort facts: pinned, user profile, relevant for the query, then by confidence and age."""
    query_stems = frozenset(map(stem, content_terms_or_all(tokenize(query))[:MAX_QUERY_TERMS]))
    return sorted(facts, key=lambda fact: (_rank(fact), -_relevance(fact, query_stems), -fact.confidence, _age(fact)))


def _rank(fact: KnownFact) -> int:
    return 0 if fact.pinned else 1 if fact.type is FactType.USER_PROFILE else 2


def _relevance(fact: KnownFact, query_stems: frozenset[str]) -> float:
    """Return the share of the words of the value that the query has; 0 below MIN_MATCHED_SHARE."""
    folded = fact.value.casefold()
    if not any(word in folded for word in query_stems):
        return 0.0  # the common case, much faster than to tokenize the value
    value_stems = frozenset(map(stem, content_terms_or_all(tokenize(fact.value))))
    share = len(value_stems & query_stems) / len(value_stems) if value_stems else 0.0
    return share if share >= MIN_MATCHED_SHARE else 0.0


def _age(fact: KnownFact) -> tuple[int, str, str]:
    return fact.extracted_us, fact.key, fact.value


def fact_label(fact: KnownFact) -> str:
    """Return the key for prompts. What it repeats of the value ("uses:postgres") is left out."""
    prefix, _, suffix = fact.key.partition(":")
    is_repeated = bool(suffix) and re.search(rf"(?<!\w){re.escape(suffix)}", fact.value, re.IGNORECASE) is not None
    return (prefix if is_repeated else fact.key).replace("_", " ")
