"""Live and building table of each namespace."""

import logging
import threading
from dataclasses import dataclass

from memsidecar.embedding.contract import Embedder, Embedders
from memsidecar.layers.text_analysis import ANALYZER_VERSION
from memsidecar.stores.contract import AdvanceWatermark, Generation, Index, Journal, PendingCommand, Table

log = logging.getLogger(__name__)

GENERATION_WATERMARK = "episodic.generation"
"The watermark that says which generation answers: it moves in the journal, so a switch is whole or has not happened."
EMPTY_WATERMARK = "episodic.empty"
"The watermark up to which everything in a namespace was erased, and its tables with it."


@dataclass
class OpenGeneration:
    """A table, what made its vectors, and how far in the log it is."""

    table: Table
    embedder: Embedder | None
    position: int

    @property
    def number(self) -> int:
        return self.table.generation.number


@dataclass
class NamespaceIndex:
    """`live` answers; `rising`, if there is one, is being built and takes its place when it has come as far."""

    namespace: str
    live: OpenGeneration
    rising: OpenGeneration | None = None

    @property
    def growing(self) -> OpenGeneration:
        """The table that is written to. While another one rises, the one that answers rests."""
        return self.rising or self.live


class GenerationManager:
    """Opens the tables of a namespace when they are first needed. Thread-safe."""

    def __init__(self, journal: Journal, index: Index, embedders: Embedders, last_lsn: int) -> None:
        """`last_lsn` is the journal's when it was opened: a table that knows more belongs to another one."""
        self.index = index
        self._last_lsn = last_lsn
        self._journal = journal
        self._embedders = embedders
        self._lock = threading.Lock()
        self._places: dict[str, NamespaceIndex] = {}

    def get(self, namespace: str) -> NamespaceIndex:
        """Raises IndexUnavailable."""
        place = self._places.get(namespace)
        if place is not None:
            return place
        with self._lock:
            place = self._places.get(namespace)
            if place is None:
                place = self._places[namespace] = self._open(namespace)
            return place

    def find(self, namespace: str) -> NamespaceIndex | None:
        """The same, but None where there is no table yet: a question makes none."""
        return self.get(namespace) if namespace in self._places or self.index.generations(namespace) else None

    def at_hand(self, namespace: str) -> NamespaceIndex | None:
        """The same if it is open already; never waits."""
        return self._places.get(namespace)

    def all(self) -> list[NamespaceIndex]:
        return list(self._places.values())

    def _open(self, namespace: str) -> NamespaceIndex:
        number = self._journal.watermark(GENERATION_WATERMARK, namespace)
        table = self.index.open(namespace, number) if number else None
        if table is not None and table.watermark > self._last_lsn:
            log.warning("the index of a namespace knows more than the journal, which must be an older copy")
            table = None
        if table is None:
            self._drop_others(namespace, keep=set())
            return NamespaceIndex(namespace, self._begin_anew(namespace, number + 1))
        rises = not self._is_current(table)
        self._drop_others(namespace, keep={number, number + 1} if rises else {number})
        live = OpenGeneration(table, self._embedders.of_identity(table.generation.embedder), table.watermark)
        return NamespaceIndex(namespace, live, self._rise(namespace, number + 1) if rises else None)

    def _is_current(self, table: Table) -> bool:
        made_by = table.generation.embedder, table.generation.analyzer_version
        return made_by == (self._embedders.default.identity, ANALYZER_VERSION)

    def _drop_others(self, namespace: str, keep: set[int]) -> None:
        for generation in self.index.generations(namespace):
            if generation.number not in keep:
                self.index.drop(namespace, generation.number)

    def _begin_anew(self, namespace: str, number: int) -> OpenGeneration:
        """Nothing answers, so the new table does from the start, however little it has yet."""
        if number > 1:
            log.warning("the index of a namespace is made anew from the journal")
        standing = self._create(namespace, number)
        self._switch(namespace, number)
        return standing

    def _rise(self, namespace: str, number: int) -> OpenGeneration:
        """Go on with what an earlier process has built, if it was built by the same embedder from the same words."""
        table = self.index.open(namespace, number)
        if table is None or not self._is_current(table):
            return self._create(namespace, number)
        return OpenGeneration(table, self._embedders.default, table.watermark)

    def _create(self, namespace: str, number: int) -> OpenGeneration:
        embedder = self._embedders.default
        generation = Generation(number, embedder.identity, embedder.dimensions, ANALYZER_VERSION)
        return OpenGeneration(self.index.create(namespace, generation), embedder, self.empty_until(namespace))

    def empty_until(self, namespace: str) -> int:
        """Up to which entry there is nothing to be indexed."""
        return self._journal.watermark(EMPTY_WATERMARK, namespace)

    def note_empty(self, namespace: str, lsn: int) -> None:
        self._advance(EMPTY_WATERMARK, namespace, lsn)

    def _switch(self, namespace: str, number: int) -> None:
        self._advance(GENERATION_WATERMARK, namespace, number)

    def _advance(self, watermark: str, namespace: str, number: int) -> None:
        ticket = PendingCommand(AdvanceWatermark(watermark, namespace, number))
        self._journal.submit(ticket)
        ticket.wait()

    def rebuild(self, place: NamespaceIndex) -> None:
        """Begin the next generation from nothing, whatever is there."""
        place.rising = self._create(place.namespace, place.live.number + 1)

    def take_over(self, place: NamespaceIndex) -> int:
        """The rising table answers from now on; the number of the one that did."""
        assert place.rising is not None
        old, new = place.live.number, place.rising
        self._switch(place.namespace, new.number)
        place.live, place.rising = new, None
        self.index.drop(place.namespace, old)
        log.info("the index of a namespace is complete under %s", new.table.generation.embedder)
        return old

    def mend(self, place: NamespaceIndex) -> list[int]:
        """Renew what could not be read of late: the index then gives another table than before. Their numbers."""
        mended = []
        if place.rising is not None and self._given(place, place.live) not in (place.live.table, None):
            table = self._given(place, place.live)
            assert table is not None
            place.live = OpenGeneration(table, place.live.embedder, table.watermark)
            mended.append(place.live.number)
        if self._given(place, place.growing) is not place.growing.table:
            mended.append(self.renew(place))
        return mended

    def _given(self, place: NamespaceIndex, standing: OpenGeneration) -> Table | None:
        return self.index.open(place.namespace, standing.number)

    def renew(self, place: NamespaceIndex) -> int:
        """The table that is written to is damaged: open it again, healed, or begin the next; answers the old number."""
        growing = place.growing
        with self._lock:
            table = self.index.open(place.namespace, growing.number)
            if table is not None:
                self._replace_growing(place, OpenGeneration(table, growing.embedder, table.watermark))
            elif place.rising is not None:
                place.rising = self._create(place.namespace, growing.number)
            else:
                place.live = self._begin_anew(place.namespace, growing.number + 1)
        return growing.number

    @staticmethod
    def _replace_growing(place: NamespaceIndex, standing: OpenGeneration) -> None:
        """Never changed in place: whoever searches holds the old one, whose table and position belong together."""
        if place.rising is not None:
            place.rising = standing
        else:
            place.live = standing

    def forget(self, namespace: str, lsn: int) -> None:
        """Leave nothing of the namespace in the index, which was emptied up to this entry of the log.

        Its generations go on counting, in case it comes back.
        """
        self.note_empty(namespace, lsn)
        with self._lock:
            place = self._places.pop(namespace, None)
            for generation in self.index.generations(namespace):
                self.index.drop(namespace, generation.number)
        if place is not None:
            log.info("the index of an empty namespace is gone")
