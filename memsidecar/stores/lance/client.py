"""LanceDB calls on one table, and the epochs of its readers."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from threading import Condition, RLock
from typing import Any

import numpy as np
from lancedb.arrow import AsyncRecordBatchReader
from lancedb.index import FTS, BTree, IvfFlat
from lancedb.query import AsyncQueryBase, FullTextOperator, MatchQuery
from lancedb.table import AsyncTable

from memsidecar.stores.contract.index import Floats, IndexUnavailable
from memsidecar.stores.lance import files, rows
from memsidecar.stores.lance.runtime import LanceRuntime

# The terms come analysed: what stands between two spaces is one term.
TERMS_INDEX = FTS(
    base_tokenizer="whitespace",
    max_token_length=None,
    lower_case=False,
    stem=False,
    remove_stop_words=False,
    ascii_folding=False,
    with_position=False,
    num_workers=1,
    memory_limit=32,
)
# An index on lsn does not pay: the keys of a batch are found in 6 ms without and 7 ms with it, on 100,000 rows.
SCALAR_INDEXES = ("partition", "session")
# About a megabyte of 256 dimensions, so that a few dozen partitions are read quickly.
ROWS_PER_IVF_PARTITION = 1_000
# Partitions of the vector index that a search reads: 16 MB of 256 dimensions, which stay in a cache of 24 MB. LanceDB's
# `maximum_nprobes`, which searches more while it finds too few, makes every search several times slower.
PROBES = 16
ALL_PROBES = 1 << 16
SCAN_ROWS = 1_024


class ReaderEpochs:
    """Epoch-based reclamation: deleting files waits for the readers that may use them, and for no others.

    A reader uses the newest version at its start, and that version stays. So later readers need not be awaited.
    """

    def __init__(self) -> None:
        self._changed = Condition()
        self._active: set[int] = set()
        self._last = 0
        self._closed = False

    @contextmanager
    def reading(self) -> Iterator[None]:
        epoch = self._begin()
        try:
            yield
        finally:
            with self._changed:
                self._active.remove(epoch)
                self._changed.notify_all()

    def _begin(self) -> int:
        with self._changed:
            if self._closed:
                raise IndexUnavailable("the table is closed")
            self._last += 1
            self._active.add(self._last)
            return self._last

    def wait_for_older(self) -> None:
        with self._changed:
            older = set(self._active)
            self._changed.wait_for(lambda: self._active.isdisjoint(older))

    def close(self) -> None:
        """Refuse new readers, and wait for the active ones."""
        with self._changed:
            self._closed = True
        self.wait_for_older()


class TableClient:
    """Synchronous LanceDB calls on one table, with translated errors."""

    def __init__(self, table: AsyncTable, folder: Path, dimensions: int, runtime: LanceRuntime) -> None:
        self.folder = folder
        self.dimensions = dimensions
        self.readers = ReaderEpochs()
        self.writing = RLock()
        self._table = table
        self._run = runtime

    def read(self, query: Callable[[], AsyncQueryBase]) -> Any:
        """Build and run a query. LanceDB panics, past every `except`, if a query is built on a closed table."""
        with self.readers.reading():
            return self._run(query().to_arrow())

    def rows(self, where: str, columns: Sequence[str] = rows.COLUMNS) -> Any:
        return self.read(lambda: self._table.query().where(where).select(list(columns)))

    def parts(self, where: str) -> Iterator[Any]:
        """Yield the rows in parts."""
        with self.readers.reading():
            query = self._table.query().where(where).select(list(rows.COLUMNS))
            reader = self._run(query.to_batches(max_batch_length=SCAN_ROWS))
            while (batch := self._run(_next(reader))) is not None:
                yield rows.table_of(batch)

    def count(self, where: str | None = None) -> int:
        with self.readers.reading():
            return self._run(self._table.count_rows(where))

    def matching(self, terms: Sequence[str], where: str, limit: int) -> Any:
        def query() -> AsyncQueryBase:
            built = self._table.query().nearest_to_text(_any_of(terms))
            return built.where(where).limit(limit).select([*rows.COLUMNS, "_score"])

        return self.read(query)

    def nearest(self, vector: Floats, where: str, limit: int, probes: int | None) -> Any:
        """Search by the vector index, or without `probes` exactly."""

        def query() -> AsyncQueryBase:
            built = self._table.query().nearest_to(np.asarray(vector, np.float32)).column("vector")
            built = built.distance_type("cosine")
            built = built.nprobes(probes) if probes else built.bypass_vector_index()
            return built.where(where).limit(limit).select([*rows.COLUMNS, "_distance"])

        return self.read(query)

    def scan(self) -> tuple[int, int]:
        """Read every row; return their number and the largest `written_lsn`. Only a full read detects some damage."""
        with self.readers.reading():
            return self._run(self._scan())

    async def _scan(self) -> tuple[int, int]:
        count, written_lsn = 0, 0
        reader = await self._table.query().select(rows.COLUMNS).to_batches(max_batch_length=SCAN_ROWS)
        async for batch in reader:
            count += batch.num_rows
            written_lsn = max(written_lsn, _checked(batch))
        if count != await self._table.count_rows():
            raise ValueError(f"{count} rows could be read of {await self._table.count_rows()}")
        return count, written_lsn

    def watermark(self) -> int:
        """Return the largest stored `written_lsn`."""
        with self.readers.reading():
            table = self._run(self._table.query().select(["written_lsn"]).to_arrow())
        return max(table["written_lsn"].to_pylist(), default=0)

    def add(self, rows: Any) -> None:
        self._run(self._table.add(rows))

    def delete(self, where: str) -> None:
        self._run(self._table.delete(where))

    def rewrite(self) -> None:
        """Write every row again in one commit: then no file of the newest version has deleted rows.

        LanceDB's compaction skips a fragment of which less than a tenth is deleted.
        """
        self._run(self._table.update(updates_sql={"lsn": "lsn"}))

    def optimize(self, older_than: timedelta | None = None) -> None:
        """Compact; with `older_than` also delete old versions, and files that no version refers to.

        Only this process writes here, so such a file is the remains of a failure.
        """
        self._run(self._table.optimize(cleanup_older_than=older_than, delete_unverified=older_than is not None))

    def refresh(self) -> None:
        """Load the stored version, after a failure that may have come before or after its commit."""
        self._run(self._table.checkout_latest())  # type: ignore[no-untyped-call]

    def version(self) -> int:
        return self._run(self._table.version())

    def schema(self) -> Any:
        return self._run(self._table.schema())

    def fragments(self) -> int:
        stats: Any = self._run(self._table.stats())
        return int(stats["fragment_stats"]["num_fragments"])

    def deleted_rows(self) -> int:
        """Return how many deleted rows are still in the files of the newest version."""
        versions: Any = self._run(self._table.list_versions())  # type: ignore[no-untyped-call]
        newest = max(versions, key=lambda version: int(version["version"]))
        return int(newest["metadata"].get("total_deletion_file_rows", "1"))

    def indexes(self) -> dict[str, Any]:
        """Return the indexes by column."""
        return {str(index.columns[0]): index for index in self._run(self._table.list_indices())}

    def build(self, column: str, rows: int = 0) -> None:
        """Build the index on a column, in place of an existing one."""
        self._run(self._table.create_index(column, config=_config(column, rows), replace=True))

    def drop_index(self, name: str) -> None:
        self._run(self._table.drop_index(name))

    def versions(self) -> int:
        return len(files.manifests(self.folder))

    def close(self) -> None:
        self.readers.close()
        with self.writing:
            self._table.close()  # type: ignore[no-untyped-call]


async def _next(batches: AsyncRecordBatchReader) -> Any:
    """Return the next batch; None after the last."""
    async for batch in batches:
        return batch
    return None


def _any_of(terms: Sequence[str]) -> MatchQuery:
    """Return a query for any of the terms. Only the index's tokenizer reads them, no query language."""
    return MatchQuery(
        " ".join(terms),
        "terms",
        operator=FullTextOperator.OR,
        boost=1.0,
        fuzziness=0,
        max_expansions=50,
        prefix_length=0,
        document_granularity=None,
    )


def _checked(batch: Any) -> int:
    """Return the largest `written_lsn`. ValueError for a vector of zeros: none is ever written, so a page was lost."""
    vectors = batch.column("vector").flatten().to_numpy()
    width = batch.column("vector").type.list_size
    if not vectors.reshape(-1, width).any(axis=1).all():
        raise ValueError("a vector has been zeroed")
    return int(batch.column("written_lsn").to_numpy().max(initial=0))


def _config(column: str, rows: int) -> FTS | BTree | IvfFlat:
    if column == "terms":
        return TERMS_INDEX
    if column in SCALAR_INDEXES:
        return BTree()
    return IvfFlat(distance_type="cosine", num_partitions=max(1, rows // ROWS_PER_IVF_PARTITION))
