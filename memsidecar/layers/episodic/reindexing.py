"""Making the whole index anew from the journal, on request. The old one answers until the new one is complete."""

from collections.abc import Callable
from dataclasses import dataclass

from memsidecar.embedding.contract import Embedders
from memsidecar.layers.background import Pulse
from memsidecar.layers.episodic.hot import HotShelves
from memsidecar.layers.episodic.indexing import Indexing
from memsidecar.layers.episodic.places import Place, Places
from memsidecar.stores.contract import Index, Journal

CHAPTER = 1_000


@dataclass
class Reindexing:
    """For a journal that nobody else writes to."""

    journal: Journal
    index: Index
    embedders: Embedders

    def __post_init__(self) -> None:
        self._places = Places(self.journal, self.index, self.embedders, self.journal.figures().last_lsn)
        self._indexing = Indexing(self.journal, self._places, HotShelves(0), Pulse(self.journal))

    def total(self) -> int:
        """How much there is to go through, in the unit of the progress."""
        return sum(self.journal.tails().values())

    def __call__(self, progress: Callable[[int], object]) -> None:
        """Raises NotNow when the embedder or the index is away; the old index stays then, what was built goes."""
        for namespace, tail in self.journal.tails().items():
            self._build(self._places.get(namespace), tail, progress)

    def _build(self, place: Place, tail: int, progress: Callable[[int], object]) -> None:
        self._places.rebuild(place)
        position = 0
        while chapter := self.journal.news(place.namespace, position, CHAPTER):
            self._indexing.take(place.namespace, chapter)
            progress(chapter[-1].lsn - position)
            position = chapter[-1].lsn
        progress(tail - position)
        if place.rising is not None:
            self._places.take_over(place)
        while self._indexing.rest(idle=True):
            pass
