"""Chooses partition, candidates or journal; catches up; ranks."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from memsidecar.embedding.contract import Embedder, EmbedderMismatch, Embedders, EmbedderUnavailable
from memsidecar.layers.background import Pulse
from memsidecar.layers.episodic.candidates import candidates
from memsidecar.layers.episodic.generations import Place, Places, Standing
from memsidecar.layers.episodic.index_batch import Gathering, Vectoring, blank, unit
from memsidecar.layers.episodic.log_tail import PIECES_AT_MOST, Piece, recent_news
from memsidecar.layers.episodic.partition import Shelf
from memsidecar.layers.episodic.partition_cache import DoesNotFit, HotShelves, ShelfKey
from memsidecar.layers.episodic.query import Findings, Lack, Mode, Query, Question, Range, analysed, without
from memsidecar.layers.episodic.ranking import Ranking, scope_of
from memsidecar.stores.contract import Ended, Episodes, Harvest, Heard, IndexUnavailable, Journal, Within

CHAPTER, CHAPTERS_AT_MOST = 1_000, 8
"How much of what is not indexed yet a search reads itself; what is beyond is left to the next one, and it says so."
BYTES_BESIDE_VECTOR = 350
"What an episode takes in RAM besides its vector, which takes a byte a dimension: about, to know before it is loaded."

_NO_VECTORS = (EmbedderUnavailable, EmbedderMismatch)


@dataclass
class _Asking:
    """One search on its way: what was missing so far, and up to which entry everything was considered."""

    question: Question
    within: Range
    limit: int
    lacks: set[Lack] = field(default_factory=set)
    last_lsn: int = 0
    by_candidates: bool = False


class _Source(NamedTuple):
    """Whose log is read, what makes its vectors, and what alone is listened to; None: everything."""

    namespace: str
    embedder: Embedder | None
    dimensions: int
    heard: Heard | None

    @classmethod
    def of(cls, place: Place, heard: Heard | None = None) -> "_Source":
        return cls(place.namespace, place.live.embedder, place.live.table.generation.dimensions, heard)


@dataclass
class Retrieving:
    """`places` is None until the index is open. Thread-safe."""

    journal: Journal
    embedders: Embedders
    hot: HotShelves
    pulse: Pulse
    places: Places | None = None

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
        return Findings(best, frozenset(asking.lacks - _harmless(question)), as_of, asking.by_candidates)

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
            piece = self._read(_Source.of(place, asking.within.heard), after, number)
            if piece is None:
                shelf.beat = beat
                return
            shelf.advance(piece.after, piece.end, piece.harvest)
            self.hot.make_room()
            asking.lacks |= piece.lacks
            shelf.lacks_vectors = shelf.lacks_vectors or Lack.EMBEDDER in piece.lacks
            if piece.last:
                shelf.beat = beat
                return
        asking.lacks.add(Lack.STALE)

    def _read(self, source: _Source, after: int, number: int | None = None) -> Piece | None:
        """What the log says behind an entry, of one shelf or of all; None at its end."""
        chapter = self.journal.news(source.namespace, after, CHAPTER, source.heard)
        if not chapter:
            return None
        gathering = Gathering(self.journal, number)
        for entry in chapter:
            gathering.take(entry)
        harvest, lacks = self._harvest(gathering, source.embedder, source.dimensions)
        return Piece(after, chapter[-1].lsn, harvest, lacks, isinstance(chapter[-1], Ended))

    def _harvest(
        self, gathering: Gathering, embedder: Embedder | None, dimensions: int
    ) -> tuple[Harvest, frozenset[Lack]]:
        """With vectors, or without where there are none to be had."""
        try:
            if embedder is not None:
                return gathering.harvest(Vectoring(self.embedders.in_a_hurry(embedder))), frozenset()
        except _NO_VECTORS:
            pass
        return gathering.harvest(lambda sheaves: blank(sheaves, dimensions)), frozenset({Lack.EMBEDDER})

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
        pieces = tail.since(place.live, beat, lambda after: self._pieces(_Source.of(place), after, asking))
        if len(pieces) >= PIECES_AT_MOST:
            asking.lacks.add(Lack.STALE)
        asking.last_lsn = pieces[-1].end if pieces else place.live.position
        asking.lacks.update(lack for piece in pieces for lack in piece.lacks)
        return [_within(piece.harvest, asking.within) for piece in pieces]

    def _pieces(self, source: _Source, after: int, asking: _Asking) -> list[Piece]:
        pieces: list[Piece] = []
        for _ in range(CHAPTERS_AT_MOST):
            piece = self._read(source, after)
            if piece is None:
                return pieces
            pieces.append(piece)
            if piece.last:
                return pieces
            after = piece.end
        asking.lacks.add(Lack.STALE)
        return pieces

    # -- without the index

    def _from_log(self, asking: _Asking) -> tuple[Sequence[Shelf], Query]:
        """Nothing of the namespace is indexed yet, if there is anything at all: no table is made for a question."""
        embedder, namespace = self.embedders.default, asking.within.namespace
        shelf = Shelf(embedder.dimensions)
        source = _Source(namespace, embedder, embedder.dimensions, asking.within.heard)
        for piece in self._pieces(source, 0, asking) if self.pulse.knows(namespace) else ():
            shelf.apply(_within(piece.harvest, asking.within))
            asking.last_lsn = piece.end
            asking.lacks |= piece.lacks
        return [shelf], self._query([shelf], embedder, asking)

    def _from_journal(self, asking: _Asking) -> tuple[Sequence[Shelf], Query]:
        asking.lacks.add(Lack.INDEX)
        gathering = Gathering(self.journal)
        for entry in recent_news(self.journal, asking.within):
            gathering.take(entry)
            asking.last_lsn = max(asking.last_lsn, entry.lsn)
        embedder = self.embedders.default
        shelf = Shelf(embedder.dimensions)
        harvest, lacks = self._harvest(gathering, embedder, embedder.dimensions)
        shelf.apply(harvest)
        asking.lacks |= lacks
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
        except _NO_VECTORS:
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
        except _NO_VECTORS:
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


def _harmless(question: Question) -> set[Lack]:
    """What is missing and not missed."""
    return {Lack.EMBEDDER} if question.mode is Mode.KEYWORD else set()


def _key(place: Place, number: int) -> ShelfKey:
    return ShelfKey(place.namespace, place.live.number, number)


def _within(harvest: Harvest, within: Range) -> Harvest:
    """What of it is on the shelves that are asked for, messages or chunks."""
    return harvest.of_kind(within.chunks) if not within.shelves else harvest.on_shelves(within.shelves)
