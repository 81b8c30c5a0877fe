"""LanceTable: one generation of one namespace in LanceDB."""

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
    """Applies a batch as some deletions and one append, each a commit of LanceDB; the watermark is in the rows.

    Only the last commit advances the watermark. After a crash the log is read again from before the batch, and
    deletions and insertions that were applied already change nothing.
    """

    def __init__(
        self, generation: Generation, client: TableClient, maintenance: TableMaintenance, watermark: int
    ) -> None:
        self.generation = generation
        self._client = client
        self._maintenance = maintenance
        self._watermark = watermark
        self._is_uncertain = False
        self._damaged = False

    @property
    def damaged(self) -> bool:
        """Whether a read found damage. Opening the table again repairs it, and closes this object."""
        return self._damaged or self._maintenance.unreadable

    @property
    def watermark(self) -> int:
        return self._watermark

    def apply(self, batch: IndexBatch) -> None:
        with self._client.writing, self._noticing_damage():
            self._refresh_if_uncertain()
            self._is_uncertain = True  # until all commits succeed: a commit that fails may be stored all the same
            self._delete(batch)
            if batch.episodes is not None and len(batch.episodes):
                self._append(batch.episodes)
            self._is_uncertain = False

    def _refresh_if_uncertain(self) -> None:
        if self._is_uncertain:
            self._client.refresh()
            self._watermark = max(self._watermark, self._client.watermark())

    def _delete(self, batch: IndexBatch) -> None:
        for where in rows.deletions(batch):
            if self._client.count(where):  # a deletion of nothing would add a version
                if batch.erases:
                    self._maintenance.require_purge()
                self._client.delete(where)
                self._maintenance.deleted()

    def _append(self, episodes: Episodes) -> None:
        new = episodes.take(np.flatnonzero(~self._is_stored(episodes)))
        if len(new):
            self._client.add(rows.rows(new))
            self._maintenance.appended(len(new))
        self._watermark = max(self._watermark, int(episodes.written_lsn.max()))

    def _is_stored(self, episodes: Episodes) -> Any:
        """Return a mask of the rows that are stored already. Rows above the watermark cannot be."""
        possible = episodes.written_lsn <= self._watermark
        if not possible.any():
            return possible
        stored = self._stored_lsns(episodes.lsn[possible].tolist())
        keys = zip(episodes.lsn.tolist(), episodes.sequence.tolist(), episodes.written_lsn.tolist(), strict=True)
        return np.array([stored.get((lsn, sequence), -1) >= written_lsn for lsn, sequence, written_lsn in keys])

    def _stored_lsns(self, lsns: Sequence[int]) -> dict[tuple[int, int], int]:
        """Return the `written_lsn` of the stored rows with these lsns, by (lsn, sequence)."""
        columns = ["lsn", "sequence", "written_lsn"]
        tables = [self._client.rows(where, columns) for where in rows.with_lsns(lsns)]
        found = rows.concatenate(tables, self.generation.dimensions).select(columns).to_pydict()
        return {(lsn, sequence): written_lsn for lsn, sequence, written_lsn in zip(*found.values(), strict=True)}

    def read_partition(self, partition: int, chunks: bool) -> Iterator[Episodes]:
        where = rows.filter_sql(TableFilter(partition=partition, chunks=chunks))
        with self._noticing_damage():
            for part in self._client.parts(where):
                yield self._episodes(part)

    def at_positions(self, positions: Sequence[tuple[int, int]]) -> Episodes:
        with self._noticing_damage():
            parts = [self._client.rows(where) for where in rows.at_positions(positions)]
        return self._episodes(rows.concatenate(parts, self.generation.dimensions))

    def count(self, table_filter: TableFilter) -> int:
        with self._noticing_damage():
            return self._client.count(rows.filter_sql(table_filter))

    def matching(self, terms: Sequence[str], table_filter: TableFilter, limit: int) -> Episodes:
        distinct = list(dict.fromkeys(term for term in terms if term))
        if not distinct or limit < 1:
            return self._none()
        with self._noticing_damage("terms"):
            found = self._client.matching(distinct, rows.filter_sql(table_filter), limit)
        return self._episodes(rows.sorted_by(found, ("_score", "descending")))

    def nearest(self, vector: Floats, table_filter: TableFilter, limit: int) -> Episodes:
        if not np.any(vector) or limit < 1:
            return self._none()
        where = rows.filter_sql(table_filter)
        with self._noticing_damage("vector"):
            found = self._nearest(vector, where, limit)
        return self._episodes(rows.sorted_by(found, ("_distance", "ascending")))

    def _nearest(self, vector: Floats, where: str, limit: int) -> Any:
        """Search by the vector index where it pays, and exactly if that finds too few."""
        if not self._is_small(where):
            found = self._client.nearest(vector, where, limit, PROBES)
            if found.num_rows == limit:
                return found
        return self._client.nearest(vector, where, limit, None)

    @contextmanager
    def _noticing_damage(self, *columns: str) -> Iterator[None]:
        """Mark the table and the indexes on these columns as damaged: reopening and maintenance repair them."""
        try:
            yield
        except Unreadable:
            self._damaged = True
            for column in columns:
                self._maintenance.suspect(column)
            raise

    def _is_small(self, where: str) -> bool:
        """Return whether to search exactly: a small scope is, also in a large table."""
        threshold = self._maintenance.config.vector_index_rows
        return not self._maintenance.has_vector_index or self._client.count(where) < threshold

    def _episodes(self, table: Any) -> Episodes:
        return rows.episodes(table, self.generation.dimensions)

    def _none(self) -> Episodes:
        return self._episodes(rows.concatenate([], self.generation.dimensions))

    def maintain(self, idle: bool) -> bool:
        return self._maintenance.run(idle)

    def purge(self) -> None:
        with self._client.writing, self._noticing_damage():
            self._maintenance.purge()

    def stats(self) -> TableStats:
        client = self._client
        with client.readers.reading():  # another thread may close the table
            return TableStats(
                rows=client.count(),
                fragments=client.fragments(),
                versions=client.versions(),
                unindexed_rows=max((index.num_unindexed_rows or 0 for index in client.indexes().values()), default=0),
                disk_bytes=files.size_bytes(client.folder),
                maintenance_failures=self._maintenance.failures,
            )

    def close(self) -> None:
        self._client.close()
