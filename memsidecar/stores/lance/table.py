"""LanceTable: apply, search, count."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from memsidecar.stores.contract.index import (
    Episodes,
    Floats,
    Generation,
    IndexBatch,
    TableFilter,
    TableStats,
)
from memsidecar.stores.lance import files, rows
from memsidecar.stores.lance.client import PROBES, TableClient
from memsidecar.stores.lance.maintenance import TableMaintenance
from memsidecar.stores.lance.runtime import Unreadable


class LanceTable:
    """A harvest is some deletions and one append, each a commit of LanceDB's; the watermark comes with the rows.

    Only the last of these commits carries the watermark on. So whatever a crash leaves, the log is read again from
    before the harvest, and what is deleted twice or was added already changes nothing.
    """

    def __init__(self, generation: Generation, handle: TableClient, upkeep: TableMaintenance, watermark: int) -> None:
        self.generation = generation
        self._handle = handle
        self._upkeep = upkeep
        self._watermark = watermark
        self._in_doubt = False
        self._damaged = False

    @property
    def damaged(self) -> bool:
        """Whether something could not be read. Opening the table again heals it, and closes this handle."""
        return self._damaged or self._upkeep.unreadable

    @property
    def watermark(self) -> int:
        return self._watermark

    def apply(self, harvest: IndexBatch) -> None:
        with self._handle.writing, self._noticing_damage():
            self._settle_doubt()
            self._in_doubt = True  # until it is through: a failed commit may be one all the same
            self._take_away(harvest)
            if harvest.episodes is not None and len(harvest.episodes):
                self._append(harvest.episodes)
            self._in_doubt = False

    def _settle_doubt(self) -> None:
        if self._in_doubt:
            self._handle.refresh()
            self._watermark = max(self._watermark, self._handle.watermark())

    def _take_away(self, harvest: IndexBatch) -> None:
        for where in rows.gone(harvest):
            if self._handle.count(where):  # a deletion of nothing would be a version as well
                if harvest.deleted_sessions:
                    self._upkeep.will_owe_purge()
                self._handle.delete(where)
                self._upkeep.deleted()

    def _append(self, episodes: Episodes) -> None:
        new = episodes.take(np.flatnonzero(~self._already_here(episodes)))
        if len(new):
            self._handle.add(rows.rows(new))
            self._upkeep.appended(len(new))
        self._watermark = max(self._watermark, int(episodes.written_lsn.max()))

    def _already_here(self, episodes: Episodes) -> Any:
        """Rows above the watermark cannot be; of the others, those that are here as new as they come now."""
        known = episodes.written_lsn <= self._watermark
        if not known.any():
            return known
        here = self._written_of(episodes.lsn[known].tolist())
        keys = zip(episodes.lsn.tolist(), episodes.sequence.tolist(), episodes.written_lsn.tolist(), strict=True)
        return np.array([here.get((lsn, sequence), -1) >= written_lsn for lsn, sequence, written_lsn in keys])

    def _written_of(self, lsns: Sequence[int]) -> dict[tuple[int, int], int]:
        columns = ["lsn", "sequence", "written"]
        tables = [self._handle.rows(where, columns) for where in rows.any_lsn(lsns)]
        found = rows.joined(tables, self.generation.dimensions).select(columns).to_pydict()
        return {(lsn, sequence): written_lsn for lsn, sequence, written_lsn in zip(*found.values(), strict=True)}

    def partition(self, number: int, chunks: bool) -> Iterator[Episodes]:
        with self._noticing_damage():
            for part in self._handle.parts(rows.whole_shelf(number, chunks)):
                yield self._episodes(part)

    def around(self, places: Sequence[tuple[int, int]]) -> Episodes:
        with self._noticing_damage():
            parts = [self._handle.rows(where) for where in rows.places(places)]
        return self._episodes(rows.joined(parts, self.generation.dimensions))

    def count(self, within: TableFilter) -> int:
        with self._noticing_damage():
            return self._handle.count(rows.scope(within))

    def matching(self, terms: Sequence[str], within: TableFilter, limit: int) -> Episodes:
        wanted = list(dict.fromkeys(word for word in terms if word))
        if not wanted or limit < 1:
            return self._none()
        with self._noticing_damage("words"):
            found = self._handle.matching(wanted, rows.scope(within), limit)
        return self._episodes(rows.sorted_by(found, ("_score", "descending")))

    def nearest(self, vector: Floats, within: TableFilter, limit: int) -> Episodes:
        if not np.any(vector) or limit < 1:
            return self._none()
        where = rows.scope(within)
        with self._noticing_damage("vector"):
            found = self._nearest(vector, where, limit)
        return self._episodes(rows.sorted_by(found, ("_distance", "ascending")))

    def _nearest(self, vector: Floats, where: str, limit: int) -> Any:
        """By the index where it pays; if too few are found in the partitions that are searched, by looking at all."""
        if not self._is_small(where):
            found = self._handle.nearest(vector, where, limit, PROBES)
            if found.num_rows == limit:
                return found
        return self._handle.nearest(vector, where, limit, None)

    @contextmanager
    def _noticing_damage(self, *columns: str) -> Iterator[None]:
        """An index that may be damaged is built anew by upkeep; for rows, the table has to be opened again."""
        try:
            yield
        except Unreadable:
            self._damaged = True
            for column in columns:
                self._upkeep.doubt(column)
            raise

    def _is_small(self, where: str) -> bool:
        """A scope below the threshold is searched exactly, however large its table."""
        threshold = self._upkeep.rules.vector_index_rows
        return not self._upkeep.has_vector_index or self._handle.count(where) < threshold

    def _episodes(self, table: Any) -> Episodes:
        return rows.episodes(table, self.generation.dimensions)

    def _none(self) -> Episodes:
        return self._episodes(rows.joined([], self.generation.dimensions))

    def upkeep(self, idle: bool) -> bool:
        return self._upkeep(idle)

    def purge(self) -> None:
        with self._handle.writing, self._noticing_damage():
            self._upkeep.purge()

    def figures(self) -> TableStats:
        handle = self._handle
        return TableStats(
            rows=handle.count(),
            fragments=handle.fragments(),
            versions=handle.versions(),
            unindexed_rows=max((one.num_unindexed_rows or 0 for one in handle.indexes().values()), default=0),
            disk_bytes=files.size_bytes(handle.folder),
            maintenance_failures=self._upkeep.failures,
            last_maintenance_error=self._upkeep.last_failure,
        )

    def close(self) -> None:
        self._handle.close()
