"""Background task: log -> tables."""

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from memsidecar.domain.errors import SidecarError
from memsidecar.embedding.contract import Embedder, EmbedderMismatch, EmbedderUnavailable
from memsidecar.layers.background import CommitSignal, RetryLater
from memsidecar.layers.episodic.generations import GenerationManager, NamespaceIndex, OpenGeneration
from memsidecar.layers.episodic.index_batch import BatchBuilder, BatchEmbedder
from memsidecar.layers.episodic.partition_cache import PartitionCache
from memsidecar.stores.contract import (
    IndexBatch,
    IndexUnavailable,
    Journal,
    LogEntries,
    NoOp,
    RowsErased,
    SessionQuery,
    TableFilter,
)

log = logging.getLogger(__name__)

TASK = "episodic"
RUNS_IN_A_ROW, LONGEST_PAUSE_SECONDS = 3, 60.0
NEARLY_THERE = 256
GIVE_BACK_SECONDS = 20.0


@dataclass
class Indexer:
    """Keeps its position in the tables themselves: rows carry the entry that made them."""

    journal: Journal
    generations: GenerationManager
    hot: PartitionCache
    pulse: CommitSignal
    yield_cpu: Callable[[], None] = lambda: None
    name: str = TASK
    _erased: set[str] = field(default_factory=set)
    _give_back_at: float = 0.0
    _runs: dict[tuple[str, int], tuple[int, float]] = field(default_factory=dict)
    "By table: how often in a row there was upkeep to do, and when it may be looked at again."

    def position(self, namespace: str) -> int:
        try:
            place = self.generations.find(namespace)
        except IndexUnavailable as obstacle:
            raise RetryLater(str(obstacle)) from obstacle
        return place.growing.position if place else self.generations.empty_until(namespace)

    def reached(self, namespace: str) -> int | None:
        """Up to which entry everything is indexed; None while the table is there and not open yet. From any thread."""
        place = self.generations.at_hand(namespace)
        if place is not None:
            return place.growing.position
        return None if self.generations.index.generations(namespace) else self.generations.empty_until(namespace)

    def process(self, namespace: str, chapter: LogEntries) -> None:
        """Without a table there is nothing to erase, and none is made for entries that bring nothing."""
        if self.generations.find(namespace) is None and all(isinstance(entry, RowsErased | NoOp) for entry in chapter):
            self.generations.note_empty(namespace, chapter[-1].lsn)
        else:
            self._take(self.generations.get(namespace), chapter)

    def _take(self, place: NamespaceIndex, chapter: LogEntries) -> None:
        growing, end = place.growing, chapter[-1].lsn
        gathering, erases = BatchBuilder(self.journal), any(isinstance(entry, RowsErased) for entry in chapter)
        for entry in chapter:
            gathering.take(entry)
            if not erases:
                self.yield_cpu()
        if erases:
            self._erase(place, gathering.gone())
        harvest = self._harvest(growing, gathering)
        self._apply(place, growing, harvest)
        after, growing.position = growing.position, end
        if growing is place.live:
            self.hot.tell(place.namespace, growing.number, after, end, harvest)

    def _erase(self, place: NamespaceIndex, gone: IndexBatch) -> None:
        """From every table, and before anything that may have to wait: an embedder that is away keeps no text alive."""
        for standing in _tables(place):
            self._apply(place, standing, gone)
        self._erased.add(place.namespace)

    def _harvest(self, growing: OpenGeneration, gathering: BatchBuilder) -> IndexBatch:
        try:
            return gathering.harvest(BatchEmbedder(_there(growing), self.yield_cpu), self.yield_cpu)
        except (EmbedderUnavailable, EmbedderMismatch) as obstacle:
            raise RetryLater(str(obstacle)) from obstacle

    def _apply(self, place: NamespaceIndex, growing: OpenGeneration, harvest: IndexBatch) -> None:
        try:
            growing.table.apply(harvest)
        except IndexUnavailable as obstacle:
            self._renew(place)
            raise RetryLater(str(obstacle)) from obstacle

    def _renew(self, place: NamespaceIndex) -> None:
        """Whatever it was, what is on disk now is looked at again, and the log replayed from where that has come to."""
        try:
            self.hot.drop(place.namespace, self.generations.renew(place))
        except IndexUnavailable as obstacle:
            log.warning("the index cannot be opened again: %s", obstacle)

    def maintain(self, idle: bool) -> bool:
        """Chores of all tables; what was erased leaves the files first of all."""
        for namespace in list(self._erased):
            self._purge(namespace)
        for place in self.generations.all():
            self._mend(place)
        done = [self._upkeep(place, one, idle) for place in self.generations.all() for one in _tables(place)]
        if idle and time.monotonic() > self._give_back_at:
            self.generations.index.release_memory()
            self._give_back_at = time.monotonic() + GIVE_BACK_SECONDS
        return any(done)

    def _upkeep(self, place: NamespaceIndex, standing: OpenGeneration, idle: bool) -> bool:
        """Where it never comes to an end, because it fails (a full disk), it is left alone, each time a little longer:
        else nothing but that would be done."""
        table = (place.namespace, standing.number)
        runs, not_before = self._runs.get(table, (0, 0.0))
        if time.monotonic() < not_before:
            return False
        if not standing.table.maintain(idle):
            self._runs.pop(table, None)
            return False
        pause = min(2.0 ** (runs - RUNS_IN_A_ROW), LONGEST_PAUSE_SECONDS) if runs >= RUNS_IN_A_ROW else 0.0
        self._runs[table] = runs + 1, time.monotonic() + pause
        return True

    def _mend(self, place: NamespaceIndex) -> None:
        """What a search or a chore found damaged need not wait for the next message. One table's trouble is its own."""
        try:
            for number in self.generations.mend(place):
                self.hot.drop(place.namespace, number)
                self.pulse.invalidate(place.namespace)
            self._complete(place)
        except (SidecarError, OSError) as obstacle:
            log.warning("a part of the index cannot be brought up yet: %s", obstacle)

    def _complete(self, place: NamespaceIndex) -> None:
        """Switch to the rising table when it has come to the end of the log, be it in an earlier process.

        Nearly: where somebody adds without a pause there is always a little more, and searches read that themselves.
        """
        rising = place.rising
        if rising is None or rising.position < place.live.position:
            return
        if len(self.journal.read_changes(place.namespace, rising.position, NEARLY_THERE)) < NEARLY_THERE:
            self.hot.drop(place.namespace, self.generations.take_over(place))

    def _purge(self, namespace: str) -> None:
        """A failure is tried again at the next rest, because the namespace stays on the list until then."""
        try:
            if (place := self.generations.find(namespace)) is not None:
                self._purge_now(place)
            self._erased.discard(namespace)
        except (IndexUnavailable, OSError) as obstacle:
            log.warning("what was erased is still in files of the index: %s", obstacle)

    def _purge_now(self, place: NamespaceIndex) -> None:
        namespace = place.namespace
        self.hot.drop_tails(namespace)
        if self._is_empty(place):
            self.generations.forget(namespace, place.growing.position)
            self.hot.drop(namespace, place.live.number)
        else:
            for standing in _tables(place):
                standing.table.purge()

    def _is_empty(self, place: NamespaceIndex) -> bool:
        """Documents may be anybody's: there are none when none of their chunks is left and nothing is still to come."""
        namespace, growing = place.namespace, place.growing
        return not (
            self.journal.sessions(SessionQuery(namespace, limit=1))
            or growing.table.count(TableFilter(chunks=True))
            or self.journal.read_changes(namespace, growing.position, 1)
        )


def _there(standing: OpenGeneration) -> Embedder:
    if standing.embedder is None:
        raise EmbedderUnavailable("the embedder that made this index is not known any more")
    return standing.embedder


def _tables(place: NamespaceIndex) -> list[OpenGeneration]:
    return [place.live] if place.rising is None else [place.live, place.rising]
