"""Hit loading: ranked hits to stored messages or chunks, authorized and paged; cache of approximate results."""

import threading
import time
from collections.abc import Callable, Collection, Container, Hashable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Generic, TypeVar

from cachetools import LRUCache

from memsidecar import spans
from memsidecar.domain.message import StoredMessage
from memsidecar.domain.statistics import CALL_SECONDS, Distribution, Tally
from memsidecar.layers.documents.documents import ChunkHit, FoundChunks
from memsidecar.layers.episodic.index_batch import text_of
from memsidecar.layers.episodic.query import Degradation, Mode, RankedHit, RankedHits, SearchQuery, SearchScope, Weights
from memsidecar.layers.episodic.search import Searcher
from memsidecar.layers.text_analysis import stem, tokenize
from memsidecar.stores.contract import Chunk, Journal, LocatedMessage, Owner, StoredDocument
from memsidecar.v1.context_pb2 import Degradation as WireDegradation
from memsidecar.v1.message_pb2 import Message

MAX_CACHED_RESULTS = 8
"Few, because each may have thousands of hits, and a client asks for the next page soon. Later, the search is repeated."
MAX_PAGE_BYTES = 3 << 20
_LOAD_HITS = 100
_WIDEN_FACTOR = 4
_MAX_SEARCHES = 100

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class PageRequest:
    """A page of the hits: from `start` in the order of their scores, as of the log entry `as_of`."""

    limit: int
    min_score: float = 0.0
    start: int = 0
    as_of: int | None = None


@dataclass(frozen=True, slots=True)
class HitPage(Generic[T]):
    """Hits, best first; `next` requests the following page, None if there is none."""

    hits: Sequence[tuple[RankedHit, T]]
    degraded: frozenset[Degradation]
    next: PageRequest | None


class SearchResultCache:
    """LRU cache of approximate results, which later pages must reuse. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._results: LRUCache[Hashable, RankedHits] = LRUCache(MAX_CACHED_RESULTS)

    def get(self, query: SearchQuery, scope: SearchScope, min_score: float) -> RankedHits | None:
        with self._lock:
            return self._results.get(_cache_key(query, scope, min_score))

    def put(self, query: SearchQuery, scope: SearchScope, min_score: float, results: RankedHits) -> None:
        with self._lock:
            self._results[_cache_key(query, scope, min_score)] = results


def _cache_key(query: SearchQuery, scope: SearchScope, min_score: float) -> Hashable:
    return (
        query.text,
        query.mode,
        query.now_us,
        None if query.vector is None else query.vector.tobytes(),
        scope.namespace,
        tuple(scope.partitions),
        scope.session,
        scope.roles,
        scope.exclude_from,
        scope.include_repeats,
        scope.as_of,
        scope.after_us,
        scope.before_us,
        tuple(scope.owners),
        min_score,
    )


class RetrievalStatistics:
    """Pages of hits: search and loading together, and what their searches lacked. Thread-safe."""

    def __init__(self) -> None:
        self.seconds = Distribution(CALL_SECONDS)
        self.degraded = Tally(*map(_name_of, Degradation))

    def observe(self, seconds: float, degraded: Iterable[Degradation]) -> None:
        self.seconds.observe(seconds)
        for degradation in degraded:
            self.degraded.add(_name_of(degradation))


def _name_of(degradation: Degradation) -> str:
    return WireDegradation.Name(int(degradation)).removeprefix("DEGRADATION_")


@dataclass(frozen=True)
class HitLoader:
    """Searches and loads the hits from the journal, which decides what exists and who may read it."""

    journal: Journal
    searcher: Searcher
    results: SearchResultCache = field(default_factory=SearchResultCache)
    statistics: RetrievalStatistics = field(default_factory=RetrievalStatistics)

    def messages(
        self,
        query: SearchQuery,
        scope: SearchScope,
        page: PageRequest,
        matches: Callable[[LocatedMessage], bool],
        should_continue: Callable[[], bool] = lambda: True,
    ) -> HitPage[LocatedMessage]:
        """Return a page of messages that satisfy `matches`.

        `should_continue` is called between steps, so that an abandoned call does not occupy a thread.
        """

        def load(hits: Sequence[RankedHit]) -> list[LocatedMessage | None]:
            found = self.journal.get_by_lsn(scope.namespace, [hit.lsn for hit in hits])
            visible = (_visible_to(scope, found.get(hit.lsn)) for hit in hits)
            if query.mode is not Mode.HYBRID:  # the scores of other modes are of the message itself
                return list(visible)
            return [each if each is not None and _matches_itself(each.message, terms) else None for each in visible]

        terms = frozenset(map(stem, query.tokens))

        return self._fill(
            query, scope, page, _PageLoader(load, matches, lambda found: len(found.message.body), should_continue)
        )

    def newest_with(
        self,
        any_of: Collection[str],
        scope: SearchScope,
        limit: int,
        rare_terms: Callable[[], Iterable[str]],
        known: Container[int],
    ) -> list[LocatedMessage]:
        """Return the newest user messages that have one of the terms `any_of`, as `Searcher` chooses them.

        Log entries that are `known` are not loaded again.
        """
        found = self.searcher.newest_with(any_of, scope, limit, rare_terms)
        loaded = self.journal.get_by_lsn(scope.namespace, [lsn for lsn in found if lsn not in known])
        return [each for each in loaded.values() if _visible_to(scope, each) is not None]

    def chunks(
        self, query: SearchQuery, scope: SearchScope, page: PageRequest
    ) -> HitPage[tuple[StoredDocument, Chunk]]:
        """Return a page of chunks. If a document is replaced meanwhile, search again, so that no page mixes versions.

        The number of searches is bounded, because a damaged index may name chunks that the journal does not have.
        """
        retries = iter(range(_MAX_SEARCHES))

        def load(hits: Sequence[RankedHit]) -> list[tuple[StoredDocument, Chunk] | None]:
            found = self.journal.find_chunks(scope.namespace, [(hit.lsn, hit.sequence) for hit in hits])
            if len(found) < len(hits) and next(retries, None) is not None:
                raise _ChunkReplaced
            chunks = (found.get((hit.lsn, hit.sequence)) for hit in hits)
            return [chunk if chunk is not None and chunk[0].owner in scope.owners else None for chunk in chunks]

        loader = _PageLoader(load, lambda _: True, lambda chunk: len(chunk[1].text))
        while True:
            try:
                return self._fill(query, scope, page, loader)
            except _ChunkReplaced:
                continue

    def _fill(self, query: SearchQuery, scope: SearchScope, page: PageRequest, loader: "_PageLoader[T]") -> HitPage[T]:
        """Search for more and more hits until the page is full or there are no more."""
        scope = replace(scope, as_of=page.as_of)
        wanted, started = page.start + page.limit + 1, time.perf_counter()
        while True:
            results = self._search(query, scope, wanted, page.min_score)
            loaded, consumed, is_full = loader.load_page(results.hits[page.start :], page.limit)
            exhausted = results.approximate or len(results.hits) < wanted
            if is_full or exhausted or not loader.should_continue():
                self.statistics.observe(time.perf_counter() - started, results.degraded)
                return HitPage(loaded, results.degraded, _next_page(page, results, consumed, exhausted))
            wanted *= _WIDEN_FACTOR

    def _search(self, query: SearchQuery, scope: SearchScope, wanted: int, min_score: float) -> RankedHits:
        """Search, or reuse the approximate results of the first page."""
        cached = self.results.get(query, scope, min_score) if scope.as_of is not None else None
        if cached is not None:
            return cached
        with spans.step("search"):
            results = self.searcher(query, scope, wanted, min_score)
        if results.approximate:
            self.results.put(query, replace(scope, as_of=results.as_of), min_score, results)
        return results


class _ChunkReplaced(Exception):
    """The chunk of a hit does not exist any more."""


def _next_page(page: PageRequest, results: RankedHits, consumed: int, exhausted: bool) -> PageRequest | None:
    start = page.start + consumed
    is_last = exhausted and start >= len(results.hits)
    return None if is_last else replace(page, start=start, as_of=results.as_of)


@dataclass(frozen=True)
class _PageLoader(Generic[T]):
    """Loads hits until a page has enough of them or enough bytes."""

    load: Callable[[Sequence[RankedHit]], list[T | None]]
    matches: Callable[[T], bool]
    size_of: Callable[[T], int]
    should_continue: Callable[[], bool] = lambda: True

    def load_page(self, hits: Sequence[RankedHit], limit: int) -> tuple[list[tuple[RankedHit, T]], int, bool]:
        """Return the loaded hits, how many hits were consumed for them, and whether the page is full."""
        loaded: list[tuple[RankedHit, T]] = []
        size_bytes = 0
        for start in range(0, len(hits), _LOAD_HITS):
            batch = hits[start : start + _LOAD_HITS]
            for at, (hit, item) in enumerate(zip(batch, self.load(batch), strict=True)):
                if item is None or not self.matches(item):
                    continue
                size_bytes += self.size_of(item)
                if len(loaded) == limit or (loaded and size_bytes > MAX_PAGE_BYTES):
                    return loaded, start + at, True
                loaded.append((hit, item))
            if not self.should_continue():
                break
        return loaded, len(hits), len(loaded) == limit


def _matches_itself(message: StoredMessage, terms: frozenset[str]) -> bool:
    """Return False for a tool call without content that has no term of the query: only its neighbours match."""
    if message.exchange != message.sequence:
        return True
    decoded = Message.FromString(message.body)
    return bool(decoded.content.strip()) or not terms.isdisjoint(map(stem, tokenize(text_of(decoded))))


def _visible_to(scope: SearchScope, found: LocatedMessage | None) -> LocatedMessage | None:
    """Return the message if it still exists and is in scope; the index may be behind the journal."""
    allowed = scope.message_scope
    if found is None or allowed is None or found.key.namespace != allowed.namespace:
        return None
    if allowed.user_id and found.user_id != allowed.user_id:
        return None
    return None if allowed.session_id and found.key.session_id != allowed.session_id else found


@dataclass(frozen=True)
class ChunkSearcher:
    """Implements `layers.documents.documents.FindChunks`."""

    loader: HitLoader
    weights: Weights

    def __call__(self, owners: Sequence[Owner], query: str, limit: int, min_score: float) -> FoundChunks:
        page = self.loader.chunks(
            SearchQuery(query, weights=self.weights), SearchScope.of_owners(owners), PageRequest(limit, min_score)
        )
        hits = [
            ChunkHit(document, hit.sequence, chunk, hit.score, hit.parts, hit.relevance)
            for hit, (document, chunk) in page.hits
        ]
        return FoundChunks(hits, page.degraded)
