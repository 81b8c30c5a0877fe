"""Generations of each namespace's index: the live table, and the one that is being built to replace it."""

import logging
import threading
from collections.abc import Mapping
from dataclasses import dataclass

from memsidecar.embedding.contract import Embedder, Embedders
from memsidecar.layers.text_analysis import ANALYZER_VERSION
from memsidecar.stores.contract import (
    AdvanceWatermark,
    Generation,
    Index,
    Journal,
    Table,
    submit_and_wait,
)

log = logging.getLogger(__name__)

GENERATION_WATERMARK = "episodic.generation"
"The watermark that holds the number of the live generation. It is in the journal, so that a promotion is atomic."
EMPTY_WATERMARK = "episodic.empty"
"The watermark up to which all of a namespace was erased, and its tables were dropped."


@dataclass
class OpenGeneration:
    """A table, the embedder that made its vectors, and the last log entry that was applied to it."""

    table: Table
    embedder: Embedder | None
    position: int

    @property
    def generation_number(self) -> int:
        return self.table.generation.number


@dataclass
class NamespaceIndex:
    """`live` answers searches. `building`, if there is one, replaces it when it has caught up."""

    namespace: str
    live: OpenGeneration
    building: OpenGeneration | None = None

    @property
    def write_target(self) -> OpenGeneration:
        """The table that the indexer writes to. While another one is built, the live one gets erasures only."""
        return self.building or self.live

    @property
    def open_generations(self) -> list[OpenGeneration]:
        return [self.live] if self.building is None else [self.live, self.building]


class GenerationManager:
    """Opens the tables of a namespace when they are first needed. Thread-safe."""

    def __init__(
        self,
        journal: Journal,
        index: Index,
        embedders: Embedders,
        lsns_at_start: Mapping[str, int],
        *,
        index_id: str = "",
    ) -> None:
        """`lsns_at_start` are of when the journal was opened. A table with a later entry belongs to another journal.

        `index_id` names the index among those that follow a shared journal; empty if there is one only.
        """
        self.index = index
        self._lsns_at_start = lsns_at_start
        self._journal = journal
        self._embedders = embedders
        self._index_id = index_id
        self._lock = threading.Lock()
        self._namespaces: dict[str, NamespaceIndex] = {}

    def get(self, namespace: str) -> NamespaceIndex:
        """Return the namespace's index; open or create it if need be. Raises IndexUnavailable."""
        opened = self._namespaces.get(namespace)
        if opened is not None:
            return opened
        with self._lock:
            opened = self._namespaces.get(namespace)
            if opened is None:
                opened = self._namespaces[namespace] = self._open(namespace)
            return opened

    def get_existing(self, namespace: str) -> NamespaceIndex | None:
        """Do the same, but return None if there is no table: a search creates none."""
        exists = namespace in self._namespaces or self.index.generations(namespace)
        return self.get(namespace) if exists else None

    def get_open(self, namespace: str) -> NamespaceIndex | None:
        """Return the namespace's index if it is open. Never blocks."""
        return self._namespaces.get(namespace)

    def all(self) -> list[NamespaceIndex]:
        return list(self._namespaces.values())

    def _open(self, namespace: str) -> NamespaceIndex:
        number = self._watermark(GENERATION_WATERMARK, namespace)
        table = self.index.open(namespace, number) if number else None
        if table is not None and self._is_ahead(table, namespace):
            log.warning("the index of a namespace is ahead of the journal, which must be an older copy: rebuilding it")
            table = None
        if table is None:
            self._drop_others(namespace, keep=set())
            return NamespaceIndex(namespace, self._recreate(namespace, number + 1))
        outdated = not self._is_current(table)
        self._drop_others(namespace, keep={number, number + 1} if outdated else {number})
        live = OpenGeneration(table, self._embedders.of_identity(table.generation.embedder), table.watermark)
        return NamespaceIndex(namespace, live, self._resume_build(namespace, number + 1) if outdated else None)

    def _is_ahead(self, table: Table, namespace: str) -> bool:
        """Return whether the table has entries that the journal did not have when it was opened."""
        last_lsn = self._lsns_at_start.get(namespace)
        return table.watermark > (self._journal.log_end(namespace) if last_lsn is None else last_lsn)

    def _is_current(self, table: Table) -> bool:
        """Return whether the table was made by the configured embedder and this version of the analyzer."""
        made_by = table.generation.embedder, table.generation.analyzer_version
        return made_by == (self._embedders.default.identity, ANALYZER_VERSION)

    def _drop_others(self, namespace: str, keep: set[int]) -> None:
        for generation in self.index.generations(namespace):
            if generation.number not in keep:
                self.index.drop(namespace, generation.number)

    def _recreate(self, namespace: str, number: int) -> OpenGeneration:
        """Create an empty table that is live at once, because no other table can answer."""
        if number > 1:
            log.warning("the index of a namespace is rebuilt from the journal")
        created = self._create(namespace, number)
        self._set_watermark(GENERATION_WATERMARK, namespace, number)
        return created

    def _resume_build(self, namespace: str, number: int) -> OpenGeneration:
        """Continue the build of an earlier process, if embedder and analyzer are the same; else create a new table."""
        table = self.index.open(namespace, number)
        if table is None or not self._is_current(table):
            return self._create(namespace, number)
        return OpenGeneration(table, self._embedders.default, table.watermark)

    def _create(self, namespace: str, number: int) -> OpenGeneration:
        embedder = self._embedders.default
        generation = Generation(number, embedder.identity, embedder.dimensions, ANALYZER_VERSION)
        return OpenGeneration(self.index.create(namespace, generation), embedder, self.empty_until(namespace))

    def empty_until(self, namespace: str) -> int:
        """Return the last log entry before which nothing has to be indexed."""
        return self._watermark(EMPTY_WATERMARK, namespace)

    def set_empty_until(self, namespace: str, lsn: int) -> None:
        self._set_watermark(EMPTY_WATERMARK, namespace, lsn)

    def _watermark(self, watermark: str, namespace: str) -> int:
        return self._journal.watermark(self._own(watermark), namespace)

    def _set_watermark(self, watermark: str, namespace: str, value: int) -> None:
        submit_and_wait(self._journal, AdvanceWatermark(self._own(watermark), namespace, value))

    def _own(self, watermark: str) -> str:
        return f"{watermark}/{self._index_id}" if self._index_id else watermark

    def rebuild(self, index: NamespaceIndex) -> None:
        """Start to build the next generation from an empty table."""
        index.building = self._create(index.namespace, index.live.generation_number + 1)

    def promote(self, index: NamespaceIndex) -> int:
        """Make the table that was built the live one, and drop the old one; return the old one's number."""
        assert index.building is not None
        old, new = index.live.generation_number, index.building
        self._set_watermark(GENERATION_WATERMARK, index.namespace, new.generation_number)
        index.live, index.building = new, None
        self.index.drop(index.namespace, old)
        log.info("the index of a namespace is complete under %s", new.table.generation.embedder)
        return old

    def repair(self, index: NamespaceIndex) -> list[int]:
        """Reopen tables that could not be read: the store then returns another handle. Return their numbers."""
        repaired = []
        if index.building is not None and self._stored_table(index, index.live) not in (index.live.table, None):
            table = self._stored_table(index, index.live)
            assert table is not None
            index.live = OpenGeneration(table, index.live.embedder, table.watermark)
            repaired.append(index.live.generation_number)
        if self._stored_table(index, index.write_target) is not index.write_target.table:
            repaired.append(self.reopen(index))
        return repaired

    def _stored_table(self, index: NamespaceIndex, generation: OpenGeneration) -> Table | None:
        return self.index.open(index.namespace, generation.generation_number)

    def reopen(self, index: NamespaceIndex) -> int:
        """Reopen the damaged table that is written to, or start the next generation; return the old number."""
        target = index.write_target
        with self._lock:
            table = self._stored_table(index, target)
            if table is not None:
                self._replace_target(index, OpenGeneration(table, target.embedder, table.watermark))
            elif index.building is not None:
                index.building = self._create(index.namespace, target.generation_number)
            else:
                index.live = self._recreate(index.namespace, target.generation_number + 1)
        return target.generation_number

    @staticmethod
    def _replace_target(index: NamespaceIndex, generation: OpenGeneration) -> None:
        """Replace the object and never mutate it: a search holds the old one, whose table and position match."""
        if index.building is not None:
            index.building = generation
        else:
            index.live = generation

    def drop_namespace(self, namespace: str, lsn: int) -> None:
        """Drop all tables of a namespace that is empty up to this entry. Generation numbers continue if it returns."""
        self.set_empty_until(namespace, lsn)
        with self._lock:
            opened = self._namespaces.pop(namespace, None)
            for generation in self.index.generations(namespace):
                self.index.drop(namespace, generation.number)
        if opened is not None:
            log.info("the index of an empty namespace is dropped")
