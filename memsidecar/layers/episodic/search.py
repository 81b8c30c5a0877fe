"""Chooses partition, candidates or journal; catches up; ranks."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from memsidecar.embedding.contract import Embedder, EmbedderMismatch, Embedders, EmbedderUnavailable
from memsidecar.layers.background import CommitSignal
from memsidecar.layers.episodic.candidates import find_candidates
from memsidecar.layers.episodic.generations import GenerationManager, NamespaceIndex, OpenGeneration
from memsidecar.layers.episodic.index_batch import BatchBuilder, BatchEmbedder, unit, zero_vectors
from memsidecar.layers.episodic.log_tail import PIECES_AT_MOST, TailSegment, journal_fallback
from memsidecar.layers.episodic.partition import Partition
from memsidecar.layers.episodic.partition_cache import PartitionCache, PartitionKey, PartitionTooLarge
from memsidecar.layers.episodic.query import (
    AnalyzedQuery,
    Degradation,
    Mode,
    RankedHits,
    SearchQuery,
    SearchScope,
    analyze_query,
    remove_names,
)
from memsidecar.layers.episodic.ranking import Ranking, scope_of
from memsidecar.stores.contract import EndOfLog, Episodes, IndexBatch, IndexUnavailable, Journal, LogFilter, TableFilter

CHAPTER, CHAPTERS_AT_MOST = 1_000, 8
"How much of what is not indexed yet a search reads itself; what is beyond is left to the next one, and it says so."
BYTES_BESIDE_VECTOR = 350
"What an episode takes in RAM besides its vector, which takes a byte a dimension: about, to know before it is loaded."

_NO_VECTORS = (EmbedderUnavailable, EmbedderMismatch)


@dataclass
class _Asking:
    """One search on its way: what was missing so far, and up to which entry everything was considered."""

    question: SearchQuery
    within: SearchScope
    limit: int
    degraded: set[Degradation] = field(default_factory=set)
    last_lsn: int = 0
    approximate: bool = False


class _Source(NamedTuple):
    """Whose log is read, what makes its vectors, and what alone is listened to; None: everything."""

    namespace: str
    embedder: Embedder | None
    dimensions: int
    heard: LogFilter | None

    @classmethod
    def of(cls, place: NamespaceIndex, heard: LogFilter | None = None) -> "_Source":
        return cls(place.namespace, place.live.embedder, place.live.table.generation.dimensions, heard)


@dataclass
class Searcher:
    """`places` is None until the index is open. Thread-safe."""

    journal: Journal
    embedders: Embedders
    hot: PartitionCache
    pulse: CommitSignal
    generations: GenerationManager | None = None

    def __call__(self, question: SearchQuery, within: SearchScope, limit: int, min_score: float) -> RankedHits:
        asking = _Asking(question, within, limit)
        try:
            shelves, query = self._from_index(asking)
        except IndexUnavailable:
            shelves, query = self._from_journal(asking)
        as_of = asking.last_lsn if within.as_of is None else within.as_of
        # Chunks have no pages, and a document that was replaced meanwhile is all that is left of it.
        ranked = within if within.chunks else replace(within, as_of=as_of)
        with ExitStack() as reading:
            for shelf in shelves:
                reading.enter_context(shelf.reading())
            best = Ranking(shelves, query, question, ranked).best(asking.limit, min_score)
        return RankedHits(best, frozenset(asking.degraded - _harmless(question)), as_of, asking.approximate)

    def _from_index(self, asking: _Asking) -> tuple[Sequence[Partition], AnalyzedQuery]:
        if self.generations is None:
            raise IndexUnavailable("retrieval is still warming up")
        found = self.generations.find(asking.within.namespace)
        if found is None:
            return self._from_log(asking)
        # As it stands now: another table may take over at any moment, and two must not be mixed in one answer.
        place = replace(found)
        try:
            if self._fits(place, asking.within):
                shelves = [self._caught_up(place, number, asking) for number in asking.within.shelves]
                return shelves, self._query(shelves, place.live.embedder, asking)
        except PartitionTooLarge:
            pass
        return self._among_candidates(place, asking)

    def _fits(self, place: NamespaceIndex, within: SearchScope) -> bool:
        keys = [_key(place, number) for number in within.shelves]
        if any(self.hot.is_too_large(key) for key in keys):
            return False
        rows = sum(
            place.live.table.count(TableFilter(partition=key.shelf, chunks=within.chunks))
            for key in keys
            if self.hot.get(key) is None
        )
        row_bytes = BYTES_BESIDE_VECTOR + place.live.table.generation.dimensions
        return bool(keys) and rows * row_bytes <= self.hot.max_bytes

    # -- in RAM

    def _caught_up(self, place: NamespaceIndex, number: int, asking: _Asking) -> Partition:
        shelf = self.hot.get_or_load(_key(place, number), lambda: self._load(place.live, number, asking.within.chunks))
        if shelf.lacks_vectors and self._answers(place.live.embedder):
            self.hot.discard(_key(place, number))
            return self._caught_up(place, number, asking)
        self._catch_up(shelf, place, number, asking)
        asking.last_lsn = max(asking.last_lsn, shelf.position)
        return shelf

    def _load(self, live: OpenGeneration, number: int, chunks: bool) -> Partition:
        """The position first: rows that come in between are told once more, and known by then."""
        shelf = Partition(live.table.generation.dimensions)
        shelf.position = live.position
        shelf.expect(live.table.count(TableFilter(partition=number, chunks=chunks)))
        shelf.load(self._while_it_fits(shelf, live.table.read_partition(number, chunks)))
        return shelf

    def _while_it_fits(self, shelf: Partition, parts: Iterator[Episodes]) -> Iterator[Episodes]:
        for part in parts:
            if shelf.size_bytes > self.hot.max_bytes:
                raise PartitionTooLarge
            yield part

    def _catch_up(self, shelf: Partition, place: NamespaceIndex, number: int, asking: _Asking) -> None:
        for _ in range(CHAPTERS_AT_MOST):
            beat, after = self.pulse.commit_count(place.namespace), shelf.position
            if shelf.beat == beat:
                return
            piece = self._read(_Source.of(place, asking.within.heard), after, number)
            if piece is None:
                shelf.beat = beat
                return
            shelf.advance(piece.after, piece.end, piece.harvest)
            self.hot.make_room()
            asking.degraded |= piece.degraded
            shelf.lacks_vectors = shelf.lacks_vectors or Degradation.EMBEDDER in piece.degraded
            if piece.last:
                shelf.beat = beat
                return
        asking.degraded.add(Degradation.STALE)

    def _read(self, source: _Source, after: int, number: int | None = None) -> TailSegment | None:
        """What the log says behind an entry, of one shelf or of all; None at its end."""
        chapter = self.journal.read_changes(source.namespace, after, CHAPTER, source.heard)
        if not chapter:
            return None
        gathering = BatchBuilder(self.journal, number)
        for entry in chapter:
            gathering.take(entry)
        harvest, lacks = self._harvest(gathering, source.embedder, source.dimensions)
        return TailSegment(after, chapter[-1].lsn, harvest, lacks, isinstance(chapter[-1], EndOfLog))

    def _harvest(
        self, gathering: BatchBuilder, embedder: Embedder | None, dimensions: int
    ) -> tuple[IndexBatch, frozenset[Degradation]]:
        """With vectors, or without where there are none to be had."""
        try:
            if embedder is not None:
                return gathering.harvest(BatchEmbedder(self.embedders.interactive(embedder))), frozenset()
        except _NO_VECTORS:
            pass
        return gathering.harvest(lambda sheaves: zero_vectors(sheaves, dimensions)), frozenset({Degradation.EMBEDDER})

    # -- from the tables

    def _among_candidates(self, place: NamespaceIndex, asking: _Asking) -> tuple[Sequence[Partition], AnalyzedQuery]:
        tail = self._tail(place, asking)
        first = self._query((), place.live.embedder, asking)
        table = place.live.table
        shelf = find_candidates(table, first, asking.question, asking.within, limit=asking.limit, tail=tail)
        asking.approximate, asking.limit = True, shelf.columns.count
        return [shelf], self._query([shelf], place.live.embedder, asking)

    def _tail(self, place: NamespaceIndex, asking: _Asking) -> list[IndexBatch]:
        beat = self.pulse.commit_count(place.namespace)
        tail = self.hot.tail(place.namespace, place.live.number)
        pieces = tail.since(place.live, beat, lambda after: self._pieces(_Source.of(place), after, asking))
        if len(pieces) >= PIECES_AT_MOST:
            asking.degraded.add(Degradation.STALE)
        asking.last_lsn = pieces[-1].end if pieces else place.live.position
        asking.degraded.update(lack for piece in pieces for lack in piece.degraded)
        return [_within(piece.harvest, asking.within) for piece in pieces]

    def _pieces(self, source: _Source, after: int, asking: _Asking) -> list[TailSegment]:
        pieces: list[TailSegment] = []
        for _ in range(CHAPTERS_AT_MOST):
            piece = self._read(source, after)
            if piece is None:
                return pieces
            pieces.append(piece)
            if piece.last:
                return pieces
            after = piece.end
        asking.degraded.add(Degradation.STALE)
        return pieces

    # -- without the index

    def _from_log(self, asking: _Asking) -> tuple[Sequence[Partition], AnalyzedQuery]:
        """Nothing of the namespace is indexed yet, if there is anything at all: no table is made for a question."""
        embedder, namespace = self.embedders.default, asking.within.namespace
        shelf = Partition(embedder.dimensions)
        source = _Source(namespace, embedder, embedder.dimensions, asking.within.heard)
        for piece in self._pieces(source, 0, asking) if self.pulse.has_data(namespace) else ():
            shelf.apply(_within(piece.harvest, asking.within))
            asking.last_lsn = piece.end
            asking.degraded |= piece.degraded
        return [shelf], self._query([shelf], embedder, asking)

    def _from_journal(self, asking: _Asking) -> tuple[Sequence[Partition], AnalyzedQuery]:
        asking.degraded.add(Degradation.INDEX)
        gathering = BatchBuilder(self.journal)
        for entry in journal_fallback(self.journal, asking.within):
            gathering.take(entry)
            asking.last_lsn = max(asking.last_lsn, entry.lsn)
        embedder = self.embedders.default
        shelf = Partition(embedder.dimensions)
        harvest, lacks = self._harvest(gathering, embedder, embedder.dimensions)
        shelf.apply(harvest)
        asking.degraded |= lacks
        return [shelf], self._query([shelf], embedder, asking)

    # -- the question

    def _query(self, shelves: Sequence[Partition], embedder: Embedder | None, asking: _Asking) -> AnalyzedQuery:
        within = asking.within
        asked = replace(within, as_of=asking.last_lsn if within.as_of is None else within.as_of)
        named = asking.question.mode is not Mode.KEYWORD  # where nothing but words counts, a name is one of them
        speakers = [words for shelf in shelves if named for words in _speakers(shelf, asked)]
        query = analyze_query(asking.question.text, speakers, None)
        return replace(query, vector=self._meaning(query, embedder, asking))

    def _answers(self, embedder: Embedder | None) -> bool:
        try:
            return embedder is not None and len(self.embedders.interactive(embedder).embed(["is anybody there"])) == 1
        except _NO_VECTORS:
            return False

    def _meaning(self, query: AnalyzedQuery, embedder: Embedder | None, asking: _Asking) -> NDArray[np.float32] | None:
        question = asking.question
        if question.mode is Mode.KEYWORD:
            return None
        if question.vector is not None and embedder and len(question.vector) == embedder.dimensions:
            return unit(question.vector)
        try:
            if embedder is not None and question.vector is None:
                (vector,) = self.embedders.interactive(embedder).embed([remove_names(question.text, query.names)])
                if vector.any() or not query.words:
                    return vector if vector.any() else None
        except _NO_VECTORS:
            pass
        asking.degraded.add(Degradation.EMBEDDER)
        return None


def _speakers(shelf: Partition, within: SearchScope) -> list[frozenset[str]]:
    """Those who speak in what is asked about: whoever came later must not change the meaning between two pages."""
    if not any(shelf.speaker_words):
        return []
    with shelf.reading():
        spoken = np.bincount(shelf.columns["speaker"][scope_of(shelf, within)])
        return [shelf.speaker_words[number] for number in np.flatnonzero(spoken)]


def _harmless(question: SearchQuery) -> set[Degradation]:
    """What is missing and not missed."""
    return {Degradation.EMBEDDER} if question.mode is Mode.KEYWORD else set()


def _key(place: NamespaceIndex, number: int) -> PartitionKey:
    return PartitionKey(place.namespace, place.live.number, number)


def _within(harvest: IndexBatch, within: SearchScope) -> IndexBatch:
    """What of it is on the shelves that are asked for, messages or chunks."""
    return harvest.of_kind(within.chunks) if not within.shelves else harvest.in_partitions(within.shelves)
