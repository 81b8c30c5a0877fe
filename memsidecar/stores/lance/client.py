"""LanceDB calls on one table; reader epochs."""

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

# The words come analysed: whatever stands between two spaces is one word, as it is.
WORDS = FTS(
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
# An index on lsn does not pay: a harvest's keys are found in 6 ms without and 7 ms with it, on 100,000 rows.
SCALARS = ("shelf", "session")
# About a thousand vectors each: a megabyte of 256 dimensions, so that a few dozen are soon read.
ROWS_IN_A_PARTITION = 1_000
# How many partitions are searched: 16 MB of 256 dimensions, which stay in a cache of 24. To let LanceDB search more
# while it finds too few (its `maximum_nprobes`) makes every search several times as slow.
PROBES = 16
EVERY_PARTITION = 1 << 16
SCAN_ROWS = 1_024


class ReaderEpochs:
    """Reading never waits. Whoever takes files away waits for the readers that may have seen them, and for no other.

    That is enough because a reader looks at the newest version there is when it begins, and that one stays.
    """

    def __init__(self) -> None:
        self._changed = Condition()
        self._under_way: set[int] = set()
        self._last = 0
        self._closed = False

    @contextmanager
    def reading(self) -> Iterator[None]:
        mine = self._begin()
        try:
            yield
        finally:
            with self._changed:
                self._under_way.remove(mine)
                self._changed.notify_all()

    def _begin(self) -> int:
        with self._changed:
            if self._closed:
                raise IndexUnavailable("the table is closed")
            self._last += 1
            self._under_way.add(self._last)
            return self._last

    def wait_for_older(self) -> None:
        with self._changed:
            before = set(self._under_way)
            self._changed.wait_for(lambda: self._under_way.isdisjoint(before))

    def close(self) -> None:
        """Let nobody in any more, and wait for all who are."""
        with self._changed:
            self._closed = True
        self.wait_for_older()


class TableClient:
    """LanceDB's verbs on one table, each run to its end, with its errors translated."""

    def __init__(self, table: AsyncTable, folder: Path, dimensions: int, run: LanceRuntime) -> None:
        self.folder = folder
        self.dimensions = dimensions
        self.readers = ReaderEpochs()
        self.writing = RLock()
        self._table = table
        self._run = run

    def read(self, query: Callable[[], AsyncQueryBase]) -> Any:
        """The query is made here as well: LanceDB panics, past every `except`, when a closed table is asked for one."""
        with self.readers.reading():
            return self._run(query().to_arrow())

    def rows(self, where: str, columns: Sequence[str] = rows.COLUMNS) -> Any:
        return self.read(lambda: self._table.query().where(where).select(list(columns)))

    def parts(self, where: str) -> Iterator[Any]:
        """The same, some rows at a time."""
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
            asked = self._table.query().nearest_to_text(_any_of(terms))
            return asked.where(where).limit(limit).select([*rows.COLUMNS, "_score"])

        return self.read(query)

    def nearest(self, vector: Floats, where: str, limit: int, probes: int | None) -> Any:
        """Without `probes` each row is looked at."""

        def query() -> AsyncQueryBase:
            asked = self._table.query().nearest_to(np.asarray(vector, np.float32)).column("vector")
            asked = asked.distance_type("cosine")
            asked = asked.nprobes(probes) if probes else asked.bypass_vector_index()
            return asked.where(where).limit(limit).select([*rows.COLUMNS, "_distance"])

        return self.read(query)

    def scan(self) -> tuple[int, int]:
        """Read all of every row: how many there are, and the largest `written`. Finds what only reading can find."""
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
        """The largest `written`, as it is stored."""
        with self.readers.reading():
            table = self._run(self._table.query().select(["written"]).to_arrow())
        return max(table["written_lsn"].to_pylist(), default=0)

    def add(self, rows: Any) -> None:
        self._run(self._table.add(rows))

    def delete(self, where: str) -> None:
        self._run(self._table.delete(where))

    def rewrite(self) -> None:
        """Write every row anew, in one commit: what was deleted is then in no file of the newest version.

        LanceDB's own compaction leaves a fragment alone of which less than a tenth is deleted.
        """
        self._run(self._table.update(updates_sql={"lsn": "lsn"}))

    def optimize(self, older_than: timedelta | None = None) -> None:
        """Nobody else writes here, so a file that no version names is what a failure left, and goes as well."""
        self._run(self._table.optimize(cleanup_older_than=older_than, delete_unverified=older_than is not None))

    def refresh(self) -> None:
        """See what is stored, after a failure that may have come before or after the commit."""
        self._run(self._table.checkout_latest())  # type: ignore[no-untyped-call]

    def version(self) -> int:
        return self._run(self._table.version())

    def schema(self) -> Any:
        return self._run(self._table.schema())

    def fragments(self) -> int:
        figures: Any = self._run(self._table.stats())
        return int(figures["fragment_stats"]["num_fragments"])

    def deleted_rows(self) -> int:
        """Of the newest version: rows that are marked as deleted and still in its files."""
        versions: Any = self._run(self._table.list_versions())  # type: ignore[no-untyped-call]
        newest = max(versions, key=lambda one: int(one["version"]))
        return int(newest["metadata"].get("total_deletion_file_rows", "1"))

    def indexes(self) -> dict[str, Any]:
        """By the column they are on."""
        return {str(one.columns[0]): one for one in self._run(self._table.list_indices())}

    def build(self, column: str, rows: int = 0) -> None:
        """Build or build anew the index on a column."""
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
    """The next batch, None behind the last."""
    async for batch in batches:
        return batch
    return None


def _any_of(terms: Sequence[str]) -> MatchQuery:
    """Only the tokenizer of the index sees this text: there is no query language in between."""
    return MatchQuery(
        " ".join(terms),
        "words",
        operator=FullTextOperator.OR,
        boost=1.0,
        fuzziness=0,
        max_expansions=50,
        prefix_length=0,
        document_granularity=None,
    )


def _checked(batch: Any) -> int:
    """The largest `written`; a vector of zeros was never written, so it is a page that the disk lost."""
    vectors = batch.column("vector").flatten().to_numpy()
    width = batch.column("vector").type.list_size
    if not vectors.reshape(-1, width).any(axis=1).all():
        raise ValueError("a vector has been zeroed")
    return int(batch.column("written").to_numpy().max(initial=0))


def _config(column: str, rows: int) -> FTS | BTree | IvfFlat:
    if column == "words":
        return WORDS
    if column in SCALARS:
        return BTree()
    return IvfFlat(distance_type="cosine", num_partitions=max(1, rows // ROWS_IN_A_PARTITION))
