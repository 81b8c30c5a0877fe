"""Answering a question: from RAM where the shelf is small enough, else from the index; always up to this moment."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from memsidecar.embedding.contract import Embedder, Embedders
from memsidecar.layers.background import Pulse
from memsidecar.layers.episodic.asking import Findings, Lack, Mode, Pointer, Question, Range
from memsidecar.layers.episodic.candidates import candidates
from memsidecar.layers.episodic.finding import Ranking, scope_of
from memsidecar.layers.episodic.harvesting import unit
from memsidecar.layers.episodic.hot import DoesNotFit, HotShelves, ShelfKey
from memsidecar.layers.episodic.makeshift import MESSAGES_AT_MOST
from memsidecar.layers.episodic.places import Place, Places, Standing
from memsidecar.layers.episodic.query import Query, analysed, without
from memsidecar.layers.episodic.shelf import Shelf
from memsidecar.layers.episodic.tail import PIECES_AT_MOST, Piece
from memsidecar.layers.episodic.unindexed import NO_VECTORS, Source, Unindexed
from memsidecar.stores.contract import Episodes, Harvest, IndexUnavailable, Journal, Within

CHAPTERS_AT_MOST = 8
"How much of what is not indexed yet a search reads itself; what is beyond is left to the next one, and it says so."
NEWEST = 256
"Of what is beyond, so many are ranked all the same: who imports much keeps nobody from what was said a moment ago."
RANKED_WHEN_STALE = 1_000
BYTES_BESIDE_VECTOR = 350
"What an episode takes in RAM besides its vector, which takes a byte a dimension: about, to know before it is loaded."


@dataclass
class _Asking:
    """One search on its way: what was missing so far, and up to which entry everything was considered."""

    question: Question
    within: Range
    limit: int
    lacks: set[Lack] = field(default_factory=set)
    last_lsn: int = 0
    by_candidates: bool = False

    def considered(self, piece: Piece) -> Harvest:
        self.lacks |= piece.lacks
        self.last_lsn = max(self.last_lsn, piece.end)
        return piece.harvest


@dataclass
class Retrieving:
    """`places` is None until the index is open. Thread-safe."""

    journal: Journal
    embedders: Embedders
    hot: HotShelves
    pulse: Pulse
    places: Places | None = None

    def __post_init__(self) -> None:
        self._unindexed = Unindexed(self.journal, self.embedders)

    def __call__(self, question: Question, within: Range, limit: int, min_score: float) -> Findings:
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
        return Findings(_each_once(best), frozenset(asking.lacks - _harmless(question)), as_of, asking.by_candidates)

    def _from_index(self, asking: _Asking) -> tuple[Sequence[Shelf], Query]:
        if self.places is None:
            raise IndexUnavailable("retrieval is still warming up")
        found = self.places.find(asking.within.namespace)
        if found is None:
            return self._from_log(asking)
        # As it stands now: another table may take over at any moment, and two must not be mixed in one answer.
        place = replace(found)
        try:
            if self._fits(place, asking.within):
                shelves = [self._caught_up(place, number, asking) for number in asking.within.shelves]
                shelves += self._newest_beside(shelves, Source.of(place), asking)
                return shelves, self._query(shelves, place.live.embedder, asking)
        except DoesNotFit:
            pass
        return self._among_candidates(place, asking)

    def _fits(self, place: Place, within: Range) -> bool:
        keys = [_key(place, number) for number in within.shelves]
        if any(self.hot.is_too_large(key) for key in keys):
            return False
        rows = sum(
            place.live.table.count(Within(shelf=key.shelf, chunks=within.chunks))
            for key in keys
            if self.hot.get(key) is None
        )
        row_bytes = BYTES_BESIDE_VECTOR + place.live.table.generation.dimensions
        return bool(keys) and rows * row_bytes <= self.hot.max_bytes

    # -- in RAM

    def _caught_up(self, place: Place, number: int, asking: _Asking) -> Shelf:
        shelf = self.hot.get_or_load(_key(place, number), lambda: self._load(place.live, number, asking.within.chunks))
        if shelf.lacks_vectors and self._answers(place.live.embedder):
            self.hot.discard(_key(place, number))
            return self._caught_up(place, number, asking)
        self._catch_up(shelf, place, number, asking)
        asking.last_lsn = max(asking.last_lsn, shelf.position)
        return shelf

    def _load(self, live: Standing, number: int, chunks: bool) -> Shelf:
        """The position first: rows that come in between are told once more, and known by then."""
        shelf = Shelf(live.table.generation.dimensions)
        shelf.position = live.position
        shelf.expect(live.table.count(Within(shelf=number, chunks=chunks)))
        shelf.load(self._while_it_fits(shelf, live.table.shelf(number, chunks)))
        return shelf

    def _while_it_fits(self, shelf: Shelf, parts: Iterator[Episodes]) -> Iterator[Episodes]:
        for part in parts:
            if shelf.size_bytes > self.hot.max_bytes:
                raise DoesNotFit
            yield part

    def _catch_up(self, shelf: Shelf, place: Place, number: int, asking: _Asking) -> None:
        for _ in range(CHAPTERS_AT_MOST):
            beat, after = self.pulse.of(place.namespace), shelf.position
            if shelf.beat == beat:
                return
            piece = self._unindexed.next_of(Source.of(place), after, number)
            if piece is None:
                shelf.beat = beat
                return
            shelf.advance(piece.after, piece.end, asking.considered(piece))
            self.hot.make_room()
            shelf.lacks_vectors = shelf.lacks_vectors or Lack.EMBEDDER in piece.lacks
        asking.lacks.add(Lack.STALE)

    def _newest_beside(self, shelves: Sequence[Shelf], source: Source, asking: _Asking) -> list[Shelf]:
        """Where the shelves could not be brought to the end of the log: what is at its end. Pages go on in this answer,
        because what is in between would come among its hits.
        """
        if Lack.STALE not in asking.lacks:
            return []
        asking.by_candidates, asking.limit = True, max(asking.limit, RANKED_WHEN_STALE)
        newest = [Shelf(source.dimensions) for _ in shelves]
        for shelf, number, behind in zip(newest, asking.within.shelves, shelves, strict=True):
            shelf.apply(self._newest(source, behind.position, number, asking))
        return newest

    def _newest(
        self, source: Source, after: int, number: int | None, asking: _Asking, at_most: int = NEWEST
    ) -> Harvest:
        return asking.considered(self._unindexed.newest_of(source, asking.within, after, number, at_most))

    # -- from the tables

    def _among_candidates(self, place: Place, asking: _Asking) -> tuple[Sequence[Shelf], Query]:
        tail = self._tail(place, asking)
        first = self._query((), place.live.embedder, asking)
        table = place.live.table
        shelf = candidates(table, first, asking.question, asking.within, limit=asking.limit, tail=tail)
        asking.by_candidates, asking.limit = True, shelf.columns.count
        return [shelf], self._query([shelf], place.live.embedder, asking)

    def _tail(self, place: Place, asking: _Asking) -> list[Harvest]:
        beat = self.pulse.of(place.namespace)
        tail = self.hot.tail(place.namespace, place.live.number)
        pieces = tail.since(place.live, beat, lambda after: self._pieces(Source.of(place), after, asking))
        if len(pieces) >= PIECES_AT_MOST:
            asking.lacks.add(Lack.STALE)
        asking.last_lsn = place.live.position
        harvests = [asking.considered(piece) for piece in pieces]
        if Lack.STALE in asking.lacks:
            harvests.append(self._newest(Source.of(place), asking.last_lsn, None, asking))
        return [_within(harvest, asking.within) for harvest in harvests]

    def _pieces(self, source: Source, after: int, asking: _Asking) -> list[Piece]:
        pieces: list[Piece] = []
        for _ in range(CHAPTERS_AT_MOST):
            piece = self._unindexed.next_of(source, after, None)
            if piece is None:
                return pieces
            pieces.append(piece)
            after = piece.end
        asking.lacks.add(Lack.STALE)
        return pieces

    # -- without the index

    def _from_log(self, asking: _Asking) -> tuple[Sequence[Shelf], Query]:
        """Nothing of the namespace is indexed yet, if there is anything at all: no table is made for a question."""
        embedder, namespace = self.embedders.default, asking.within.namespace
        shelf = Shelf(embedder.dimensions)
        source = Source(namespace, embedder, embedder.dimensions)
        for piece in self._pieces(source, 0, asking) if self.pulse.knows(namespace) else ():
            shelf.apply(_within(asking.considered(piece), asking.within))
        if Lack.STALE in asking.lacks:
            shelf.apply(self._newest(source, asking.last_lsn, None, asking))
            asking.by_candidates, asking.limit = True, shelf.columns.count
        return [shelf], self._query([shelf], embedder, asking)

    def _from_journal(self, asking: _Asking) -> tuple[Sequence[Shelf], Query]:
        asking.lacks.add(Lack.INDEX)
        embedder = self.embedders.default
        shelf = Shelf(embedder.dimensions)
        source = Source(asking.within.namespace, embedder, embedder.dimensions)
        shelf.apply(self._newest(source, 0, None, asking, MESSAGES_AT_MOST))
        return [shelf], self._query([shelf], embedder, asking)

    # -- the question

    def _query(self, shelves: Sequence[Shelf], embedder: Embedder | None, asking: _Asking) -> Query:
        within = asking.within
        asked = replace(within, as_of=asking.last_lsn if within.as_of is None else within.as_of)
        named = asking.question.mode is not Mode.KEYWORD  # where nothing but words counts, a name is one of them
        speakers = [words for shelf in shelves if named for words in _speakers(shelf, asked)]
        query = analysed(asking.question.text, speakers, None)
        return replace(query, vector=self._meaning(query, embedder, asking))

    def _answers(self, embedder: Embedder | None) -> bool:
        try:
            return embedder is not None and len(self.embedders.in_a_hurry(embedder).embed(["is anybody there"])) == 1
        except NO_VECTORS:
            return False

    def _meaning(self, query: Query, embedder: Embedder | None, asking: _Asking) -> NDArray[np.float32] | None:
        question = asking.question
        if question.mode is Mode.KEYWORD:
            return None
        if question.vector is not None and embedder and len(question.vector) == embedder.dimensions:
            return unit(question.vector)
        try:
            if embedder is not None and question.vector is None:
                (vector,) = self.embedders.in_a_hurry(embedder).embed([without(question.text, query.names)])
                if vector.any() or not query.words:
                    return vector if vector.any() else None
        except NO_VECTORS:
            pass
        asking.lacks.add(Lack.EMBEDDER)
        return None


def _speakers(shelf: Shelf, within: Range) -> list[frozenset[str]]:
    """Those who speak in what is asked about: whoever came later must not change the meaning between two pages."""
    if not any(shelf.speaker_words):
        return []
    with shelf.reading():
        spoken = np.bincount(shelf.columns["speaker"][scope_of(shelf, within)])
        return [shelf.speaker_words[number] for number in np.flatnonzero(spoken)]


def _each_once(pointers: Sequence[Pointer]) -> list[Pointer]:
    """What stands at the end of the log may have come to its shelf meanwhile, too. The better of the two stays."""
    best: dict[tuple[int, int], Pointer] = {}
    for one in pointers:
        best.setdefault((one.lsn, one.sequence), one)
    return list(best.values())


def _harmless(question: Question) -> set[Lack]:
    """What is missing and not missed."""
    return {Lack.EMBEDDER} if question.mode is Mode.KEYWORD else set()


def _key(place: Place, number: int) -> ShelfKey:
    return ShelfKey(place.namespace, place.live.number, number)


def _within(harvest: Harvest, within: Range) -> Harvest:
    """What of it is on the shelves that are asked for, messages or chunks."""
    return harvest.of_kind(within.chunks) if not within.shelves else harvest.on_shelves(within.shelves)
