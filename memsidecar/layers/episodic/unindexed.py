"""What the index has not been told yet, read and embedded by whoever searches."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from memsidecar.embedding.contract import Embedder, EmbedderMismatch, Embedders, EmbedderUnavailable
from memsidecar.layers.episodic.asking import Lack, Range
from memsidecar.layers.episodic.harvesting import Gathering, Vectoring, blank
from memsidecar.layers.episodic.makeshift import recent_news
from memsidecar.layers.episodic.places import Place
from memsidecar.layers.episodic.tail import Piece
from memsidecar.stores.contract import Harvest, Journal, News

CHAPTER = 1_000

NO_VECTORS = (EmbedderUnavailable, EmbedderMismatch)


class Source(NamedTuple):
    """Whose log is read, and what makes its vectors."""

    namespace: str
    embedder: Embedder | None
    dimensions: int

    @classmethod
    def of(cls, place: Place) -> "Source":
        return cls(place.namespace, place.live.embedder, place.live.table.generation.dimensions)


@dataclass(frozen=True)
class Unindexed:
    journal: Journal
    embedders: Embedders

    def next_of(self, source: Source, after: int, shelf: int | None) -> Piece | None:
        """What the log says behind an entry, of one shelf or of all; None at its end."""
        chapter = self.journal.news(source.namespace, after, CHAPTER)
        return self._piece(source, after, shelf, chapter) if chapter else None

    def newest_of(self, source: Source, within: Range, after: int, shelf: int | None, at_most: int) -> Piece:
        """The newest of what is asked for, of one shelf or of all, without what the log says in between."""
        recent = recent_news(self.journal, within, after=after, messages_at_most=at_most)
        return self._piece(source, after, shelf, list(recent))

    def _piece(self, source: Source, after: int, shelf: int | None, news: Iterable[News]) -> Piece:
        gathering, end = Gathering(self.journal, shelf), after
        for entry in news:
            gathering.take(entry)
            end = max(end, entry.lsn)
        return Piece(after, end, *self._harvest(gathering, source))

    def _harvest(self, gathering: Gathering, source: Source) -> tuple[Harvest, frozenset[Lack]]:
        """With vectors, or without where there are none to be had."""
        try:
            if source.embedder is not None:
                return gathering.harvest(Vectoring(self.embedders.in_a_hurry(source.embedder))), frozenset()
        except NO_VECTORS:
            pass
        return gathering.harvest(lambda sheaves: blank(sheaves, source.dimensions)), frozenset({Lack.EMBEDDER})
