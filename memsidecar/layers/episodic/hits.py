"""Ranked ids -> stored messages or chunks, authorised, paged; result cache."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field, replace
from typing import Generic, TypeVar

from memsidecar.layers.documents.documents import ChunkHit, FoundChunks
from memsidecar.layers.episodic.query import Degradation, RankedHit, RankedHits, SearchQuery, SearchScope
from memsidecar.layers.episodic.ranking import Weights
from memsidecar.layers.episodic.search import Searcher
from memsidecar.stores.contract import Chunk, Journal, LocatedMessage, Owner, StoredDocument

MOST_KEPT = 8
"A few, because each may have thousands of pointers: who turns a page does it soon. Later, the question is asked anew."

ANSWER_BYTES = 3 << 20
_FETCHED_AT_ONCE = 100
_MORE = 4
_SEARCHED_AGAIN_AT_MOST = 100

T = TypeVar("T")


class SearchResultCache:
    """The newest few. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._findings: OrderedDict[Hashable, RankedHits] = OrderedDict()

    def get(self, question: SearchQuery, within: SearchScope, min_score: float) -> RankedHits | None:
        with self._lock:
            return self._findings.get(_key(question, within, min_score))

    def put(self, question: SearchQuery, within: SearchScope, min_score: float, findings: RankedHits) -> None:
        with self._lock:
            self._findings[_key(question, within, min_score)] = findings
            while len(self._findings) > MOST_KEPT:
                self._findings.popitem(last=False)


def _key(question: SearchQuery, within: SearchScope, min_score: float) -> Hashable:
    asked = (question.text, question.mode, None if question.vector is None else question.vector.tobytes())
    where = (within.namespace, tuple(within.shelves), within.session, within.roles, within.exclude_from)
    return (
        *asked,
        *where,
        within.include_repeats,
        within.as_of,
        within.after_us,
        within.before_us,
        tuple(within.owners),
        min_score,
    )


@dataclass(frozen=True, slots=True)
class PageRequest:
    """Which part of the hits: from `start` in the order of their scores, as it was at `as_of`."""

    limit: int
    min_score: float = 0.0
    start: int = 0
    as_of: int | None = None


@dataclass(frozen=True, slots=True)
class HitPage(Generic[T]):
    """Hits, best first; `next` is the turn that goes on behind them, if there may be more."""

    hits: Sequence[tuple[RankedHit, T]]
    degraded: frozenset[Degradation]
    next: PageRequest | None


@dataclass(frozen=True)
class HitLoader:
    journal: Journal
    retrieve: Searcher
    kept: SearchResultCache = field(default_factory=SearchResultCache)

    def messages(
        self,
        question: SearchQuery,
        within: SearchScope,
        turn: PageRequest,
        admits: Callable[[LocatedMessage], bool],
        go_on: Callable[[], bool] = lambda: True,
    ) -> HitPage[LocatedMessage]:
        """`go_on` is asked between steps, so that a caller who is gone does not keep a thread busy."""

        def fetch(pointers: Sequence[RankedHit]) -> list[LocatedMessage | None]:
            found = self.journal.get_by_lsn([one.lsn for one in pointers])
            return [_theirs(found.get(one.lsn), within) for one in pointers]

        return self._fill(question, within, turn, _Fetching(fetch, admits, lambda one: len(one.message.body), go_on))

    def chunks(
        self, question: SearchQuery, within: SearchScope, turn: PageRequest
    ) -> HitPage[tuple[StoredDocument, Chunk]]:
        """A document that is replaced meanwhile is looked for again, so that nobody sees a part of it.

        Not for ever: an index that names what the journal does not know must not keep a thread busy.
        """
        patience = iter(range(_SEARCHED_AGAIN_AT_MOST))

        def fetch(pointers: Sequence[RankedHit]) -> list[tuple[StoredDocument, Chunk] | None]:
            found = self.journal.find_chunks([(one.lsn, one.sequence) for one in pointers])
            if len(found) < len(pointers) and next(patience, None) is not None:
                raise _Replaced
            there = (found.get((one.lsn, one.sequence)) for one in pointers)
            return [one if one is not None and one[0].owner in within.owners else None for one in there]

        while True:
            try:
                return self._fill(
                    question, within, turn, _Fetching(fetch, lambda _: True, lambda one: len(one[1].text))
                )
            except _Replaced:
                continue

    def _fill(
        self, question: SearchQuery, within: SearchScope, turn: PageRequest, fetching: "_Fetching[T]"
    ) -> HitPage[T]:
        within = replace(within, as_of=turn.as_of)
        wanted = turn.start + turn.limit + 1
        while True:
            findings = self._findings(question, within, wanted, turn.min_score)
            hits, consumed, full = fetching.take(findings.hits[turn.start :], turn.limit)
            exhausted = findings.approximate or len(findings.hits) < wanted
            if full or exhausted or not fetching.go_on():
                return HitPage(hits, findings.degraded, _next(turn, findings, consumed, exhausted))
            wanted *= _MORE

    def _findings(self, question: SearchQuery, within: SearchScope, wanted: int, min_score: float) -> RankedHits:
        """Of a ranking among candidates, later pages see what the first one saw."""
        kept = self.kept.get(question, within, min_score) if within.as_of is not None else None
        if kept is not None:
            return kept
        findings = self.retrieve(question, within, wanted, min_score)
        if findings.approximate:
            self.kept.put(question, replace(within, as_of=findings.as_of), min_score, findings)
        return findings


class _Replaced(Exception):
    """What a pointer points at is not there any more."""


def _next(turn: PageRequest, findings: RankedHits, consumed: int, exhausted: bool) -> PageRequest | None:
    start = turn.start + consumed
    ended = exhausted and start >= len(findings.hits)
    return None if ended else replace(turn, start=start, as_of=findings.as_of)


@dataclass(frozen=True)
class _Fetching(Generic[T]):
    """How pointers become hits: `size_of` one, and whether it is `admitted` at all."""

    fetch: Callable[[Sequence[RankedHit]], list[T | None]]
    admits: Callable[[T], bool]
    size_of: Callable[[T], int]
    go_on: Callable[[], bool] = lambda: True

    def take(self, pointers: Sequence[RankedHit], limit: int) -> tuple[list[tuple[RankedHit, T]], int, bool]:
        """Hits, how many pointers were looked at for them, and whether the answer is full."""
        hits: list[tuple[RankedHit, T]] = []
        size = 0
        for start in range(0, len(pointers), _FETCHED_AT_ONCE):
            some = pointers[start : start + _FETCHED_AT_ONCE]
            for at, (pointer, one) in enumerate(zip(some, self.fetch(some), strict=True)):
                if one is None or not self.admits(one):
                    continue
                size += self.size_of(one)
                if len(hits) == limit or (hits and size > ANSWER_BYTES):
                    return hits, start + at, True
                hits.append((pointer, one))
            if not self.go_on():
                break
        return hits, len(pointers), len(hits) == limit


def _theirs(found: LocatedMessage | None, within: SearchScope) -> LocatedMessage | None:
    """The message, if it is still there and the one who asks may see it."""
    scope = within.scope
    if found is None or scope is None or found.key.namespace != scope.namespace:
        return None
    if scope.user_id and found.user_id != scope.user_id:
        return None
    return None if scope.session_id and found.key.session_id != scope.session_id else found


@dataclass(frozen=True)
class ChunkSearcher:
    """Keeps the promise of `layers.documents.finding.FindChunks`."""

    hits: HitLoader
    weights: Weights

    def __call__(self, owners: Sequence[Owner], query: str, limit: int, min_score: float) -> FoundChunks:
        question = SearchQuery(query, weights=self.weights)
        found = self.hits.chunks(question, SearchScope.of_owners(owners), PageRequest(limit, min_score))
        hits = [
            ChunkHit(document, pointer.sequence, chunk, pointer.score, pointer.parts, pointer.cosine)
            for pointer, (document, chunk) in found.hits
        ]
        return FoundChunks(hits, found.degraded)
