"""Background task that applies the change feed to the tables of each namespace."""

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
    MessageErased,
    NoOp,
    RowsErased,
    SessionQuery,
    TableFilter,
)

log = logging.getLogger(__name__)

TASK = "episodic"
MAINTENANCE_RUNS_BEFORE_PAUSE, MAX_MAINTENANCE_PAUSE_SECONDS = 3, 60.0
PROMOTION_LAG_ENTRIES = 256
RELEASE_MEMORY_SECONDS = 20.0
PURGE_PAUSE_RATIO, MAX_PURGE_PAUSE_SECONDS = 9.0, 5.0


@dataclass
class Indexer:
    """Background task. Its position is stored in the tables: each row carries the lsn of the entry that wrote it."""

    journal: Journal
    generations: GenerationManager
    partitions: PartitionCache
    commits: CommitSignal
    yield_cpu: Callable[[], None] = lambda: None
    name: str = TASK
    _purge_pending: set[str] = field(default_factory=set)
    _purge_not_before: dict[str, float] = field(default_factory=dict)
    "By namespace. Erasures of single messages in quick succession share a purge, which rewrites files."
    _release_memory_at: float = 0.0
    _maintenance_runs: dict[tuple[str, int], tuple[int, float]] = field(default_factory=dict)
    "By table: consecutive runs of maintenance that found work, and the time before which it does not run again."

    def position(self, namespace: str) -> int:
        try:
            index = self.generations.get_existing(namespace)
        except IndexUnavailable as error:
            raise RetryLater(str(error)) from error
        return index.write_target.position if index else self.generations.empty_until(namespace)

    def completed_lsn(self, namespace: str) -> int | None:
        """Return the last entry that is indexed; None if a table exists and is not open yet. Callable on any thread."""
        index = self.generations.get_open(namespace)
        if index is not None:
            return index.write_target.position
        return None if self.generations.index.generations(namespace) else self.generations.empty_until(namespace)

    def process(self, namespace: str, entries: LogEntries) -> None:
        """Apply entries. Entries that only delete create no table."""
        only_deletes = all(isinstance(entry, RowsErased | MessageErased | NoOp) for entry in entries)
        if only_deletes and self.generations.get_existing(namespace) is None:
            self.generations.set_empty_until(namespace, entries[-1].lsn)
        else:
            self._index(self.generations.get(namespace), entries)

    def _index(self, index: NamespaceIndex, entries: LogEntries) -> None:
        target, end = index.write_target, entries[-1].lsn
        builder = BatchBuilder(self.journal)
        erases = any(isinstance(entry, RowsErased | MessageErased) for entry in entries)
        for entry in entries:
            builder.add(entry)
            if not erases:
                self.yield_cpu()
        if erases:
            self._erase(index, builder.deletions())
        batch = self._build(target, builder)
        self._apply(index, target, batch)
        after, target.position = target.position, end
        if target is index.live:
            self.partitions.advance(index.namespace, target.generation_number, after, end, batch)

    def _erase(self, index: NamespaceIndex, deletions: IndexBatch) -> None:
        """Delete from every table before any embedding: an unavailable embedder must not delay erasure."""
        for generation in index.open_generations:
            self._apply(index, generation, deletions)
        self._purge_pending.add(index.namespace)
        if deletions.deleted_sessions:
            self._purge_not_before.pop(index.namespace, None)

    def _build(self, target: OpenGeneration, builder: BatchBuilder) -> IndexBatch:
        try:
            return builder.build(BatchEmbedder(_embedder_of(target), self.yield_cpu), self.yield_cpu)
        except (EmbedderUnavailable, EmbedderMismatch) as error:
            raise RetryLater(str(error)) from error

    def _apply(self, index: NamespaceIndex, generation: OpenGeneration, batch: IndexBatch) -> None:
        try:
            generation.table.apply(batch)
        except IndexUnavailable as error:
            self._reopen(index)
            raise RetryLater(str(error)) from error

    def _reopen(self, index: NamespaceIndex) -> None:
        """Reopen the table from disk. The log is then replayed from the position that the table has."""
        try:
            self.partitions.drop(index.namespace, self.generations.reopen(index))
        except IndexUnavailable as error:
            log.warning("the index cannot be reopened: %s", error)

    def maintain(self, idle: bool) -> bool:
        """Purge erased rows from files first; then repair, promote and maintain all tables."""
        for namespace in list(self._purge_pending):
            if time.monotonic() >= self._purge_not_before.get(namespace, 0.0):
                self._purge(namespace)
        for index in self.generations.all():
            self._repair(index)
        done = [
            self._maintain(index, generation, idle)
            for index in self.generations.all()
            for generation in index.open_generations
        ]
        if idle and time.monotonic() > self._release_memory_at:
            self.generations.index.release_memory()
            self._release_memory_at = time.monotonic() + RELEASE_MEMORY_SECONDS
        return any(done)

    def _maintain(self, index: NamespaceIndex, generation: OpenGeneration, idle: bool) -> bool:
        """Run maintenance of a table. If it never finishes (a full disk), pause it with exponential back-off."""
        table = (index.namespace, generation.generation_number)
        runs, not_before = self._maintenance_runs.get(table, (0, 0.0))
        if time.monotonic() < not_before:
            return False
        if not generation.table.maintain(idle):
            self._maintenance_runs.pop(table, None)
            return False
        excess = runs - MAINTENANCE_RUNS_BEFORE_PAUSE
        pause = min(2.0**excess, MAX_MAINTENANCE_PAUSE_SECONDS) if excess >= 0 else 0.0
        self._maintenance_runs[table] = runs + 1, time.monotonic() + pause
        return True

    def _repair(self, index: NamespaceIndex) -> None:
        """Repair tables that a search or maintenance found damaged. A failure affects this namespace alone."""
        try:
            for number in self.generations.repair(index):
                self.partitions.drop(index.namespace, number)
                self.commits.invalidate(index.namespace)
            self._promote(index)
        except (SidecarError, OSError) as error:
            log.warning("a part of the index cannot be repaired yet: %s", error)

    def _promote(self, index: NamespaceIndex) -> None:
        """Promote the table that is being built when it is near the end of the log.

        It never reaches the end while a client adds without a pause; searches read the remaining entries themselves.
        """
        building = index.building
        if building is None or building.position < index.live.position:
            return
        if (
            len(self.journal.read_changes(index.namespace, building.position, PROMOTION_LAG_ENTRIES))
            < PROMOTION_LAG_ENTRIES
        ):
            self.partitions.drop(index.namespace, self.generations.promote(index))

    def _purge(self, namespace: str) -> None:
        """Remove erased rows from files. A failed purge stays pending and is tried again."""
        began = time.monotonic()
        try:
            if (index := self.generations.get_existing(namespace)) is not None:
                self._purge_index(index)
            self._purge_pending.discard(namespace)
            pause = min(PURGE_PAUSE_RATIO * (time.monotonic() - began), MAX_PURGE_PAUSE_SECONDS)
            self._purge_not_before[namespace] = time.monotonic() + pause
        except (IndexUnavailable, OSError) as error:
            log.warning("erased rows are still in files of the index: %s", error)

    def _purge_index(self, index: NamespaceIndex) -> None:
        self.partitions.drop_tails(index.namespace)
        if self._is_empty(index):
            self.generations.drop_namespace(index.namespace, index.write_target.position)
            self.partitions.drop(index.namespace, index.live.generation_number)
        else:
            for generation in index.open_generations:
                generation.table.purge()

    def _is_empty(self, index: NamespaceIndex) -> bool:
        """Return whether the namespace has no sessions, no chunks of documents and no entries to index."""
        target = index.write_target
        return not (
            self.journal.sessions(SessionQuery(index.namespace, limit=1))
            or target.table.count(TableFilter(chunks=True))
            or self.journal.read_changes(index.namespace, target.position, 1)
        )


def _embedder_of(generation: OpenGeneration) -> Embedder:
    if generation.embedder is None:
        raise EmbedderUnavailable("the embedder that made this index is not configured any more")
    return generation.embedder
