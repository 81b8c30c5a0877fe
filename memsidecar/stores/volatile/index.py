"""VolatileIndex: an exact index in RAM, the reference implementation for the tests of LanceIndex."""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from threading import RLock

import numpy as np

from memsidecar.domain.statistics import OperationStatistics
from memsidecar.stores.contract.index import Episodes, Floats, Generation, IndexBatch, Ints, TableFilter, TableStats

# The defaults of LanceDB.
BM25_K1, BM25_B = 1.2, 0.75


@dataclass(frozen=True)
class Row:
    """One episode."""

    lsn: int
    sequence: int
    written_lsn: int
    partition: int
    session: int
    role: int
    time_us: int
    score: float
    name: str
    terms: str
    vector: Floats

    @property
    def key(self) -> tuple[int, int]:
        return self.lsn, self.sequence


def rows_of(episodes: Episodes) -> list[Row]:
    return [_row(episodes, place) for place in range(len(episodes))]


def _row(episodes: Episodes, place: int) -> Row:
    return Row(
        lsn=int(episodes.lsn[place]),
        sequence=int(episodes.sequence[place]),
        written_lsn=int(episodes.written_lsn[place]),
        partition=int(episodes.partition[place]),
        session=int(episodes.session[place]),
        role=int(episodes.role[place]),
        time_us=int(episodes.time_us[place]),
        score=float(episodes.score[place]),
        name=episodes.name[place],
        terms=episodes.terms[place],
        vector=episodes.vectors[place],
    )


def episodes_of(rows: Sequence[Row], dimensions: int) -> Episodes:
    def column(of: Callable[[Row], int]) -> Ints:
        return np.array([of(row) for row in rows], np.int64)

    return Episodes(
        lsn=column(lambda row: row.lsn),
        sequence=column(lambda row: row.sequence),
        written_lsn=column(lambda row: row.written_lsn),
        partition=column(lambda row: row.partition),
        session=column(lambda row: row.session),
        role=column(lambda row: row.role).astype(np.int8),
        time_us=column(lambda row: row.time_us),
        score=np.array([row.score for row in rows], np.float32),
        name=[row.name for row in rows],
        terms=[row.terms for row in rows],
        vectors=np.array([row.vector for row in rows], np.float32).reshape(len(rows), dimensions),
    )


def _matches(row: Row, table_filter: TableFilter) -> bool:
    return (
        (row.session < 0) == table_filter.chunks
        and table_filter.partition in (None, row.partition)
        and table_filter.session in (None, row.session)
        and (not table_filter.roles or row.role in table_filter.roles)
        and (table_filter.after_us is None or row.time_us > table_filter.after_us)
        and (table_filter.before_us is None or row.time_us < table_filter.before_us)
    )


class VolatileTable:
    """A list of rows. Every search scans it."""

    def __init__(self, generation: Generation) -> None:
        self.generation = generation
        self._rows: list[Row] = []
        self._watermark = 0
        self._lock = RLock()

    @property
    def watermark(self) -> int:
        return self._watermark

    def apply(self, batch: IndexBatch) -> None:
        new = rows_of(batch.episodes) if batch.episodes is not None else []
        with self._lock:
            self._delete(batch, {row.key: row.written_lsn for row in new})
            here = {row.key: row.written_lsn for row in self._rows}
            self._rows = self._rows + [row for row in new if here.get(row.key, -1) < row.written_lsn]
            self._watermark = max([self._watermark, *(row.written_lsn for row in new)])

    def _delete(self, batch: IndexBatch, inserted: dict[tuple[int, int], int]) -> None:
        """Delete rows. A row that is inserted again is deleted only if it is older than the new one."""
        bounds: dict[int, int] = {}
        for session, bound in zip(batch.deleted_sessions, batch.deleted_before, strict=True):
            bounds[session] = max(bound, bounds.get(session, bound))
        replaced, erased = set(batch.deleted_episodes), set(batch.deleted_positions)

        def is_deleted(row: Row) -> bool:
            changed = row.key in replaced and row.written_lsn < inserted.get(row.key, row.written_lsn + 1)
            is_erased = (row.session, row.sequence) in erased
            return is_erased or changed or row.written_lsn < bounds.get(row.session, row.written_lsn)

        self._rows = [row for row in self._rows if not is_deleted(row)]

    def read_partition(self, partition: int, chunks: bool) -> Iterator[Episodes]:
        yield self._episodes(self._filtered(TableFilter(partition=partition, chunks=chunks)))

    def count(self, table_filter: TableFilter) -> int:
        return len(self._filtered(table_filter))

    def matching(self, terms: Sequence[str], table_filter: TableFilter, limit: int) -> Episodes:
        """Idf and mean length are those of the whole table, as in an index; the filter only selects."""
        bm25 = Bm25(self._rows)
        wanted = {word for word in terms if word}
        scored = [(bm25.score(row, wanted), row) for row in self._filtered(table_filter)]
        return self._best([(score, row) for score, row in scored if score > 0], limit)

    def nearest(self, vector: Floats, table_filter: TableFilter, limit: int) -> Episodes:
        if not np.any(vector):
            return self._episodes([])
        with_vector = [row for row in self._filtered(table_filter) if np.any(row.vector)]
        return self._best([(_cosine(row.vector, vector), row) for row in with_vector], limit)

    def at_positions(self, positions: Sequence[tuple[int, int]]) -> Episodes:
        wanted = set(positions)
        return self._episodes([row for row in self._rows if (row.session, row.sequence) in wanted])

    def _filtered(self, table_filter: TableFilter) -> list[Row]:
        return [row for row in self._rows if _matches(row, table_filter)]

    def _best(self, scored: list[tuple[float, Row]], limit: int) -> Episodes:
        scored.sort(key=lambda pair: -pair[0])
        return self._episodes([row for _, row in scored[: max(0, limit)]])

    def _episodes(self, rows: Sequence[Row]) -> Episodes:
        return episodes_of(rows, self.generation.dimensions)

    def maintain(self, idle: bool) -> bool:  # noqa: ARG002 - a list needs no maintenance
        return False

    def purge(self) -> None:
        """Do nothing: deleted rows leave no trace."""

    def stats(self) -> TableStats:
        return TableStats(rows=len(self._rows))


def _cosine(a: Floats, b: Floats) -> float:
    return float(a @ b / (np.linalg.norm(a) * np.linalg.norm(b)))


class Bm25:
    """Term statistics of all rows."""

    def __init__(self, rows: Sequence[Row]) -> None:
        split = [row.terms.split(" ") if row.terms else [] for row in rows]
        self._count = len(rows)
        self._mean_length = sum(map(len, split)) / max(1, len(rows))
        self._document_counts = Counter(word for terms in split for word in set(terms))

    def score(self, row: Row, wanted: set[str]) -> float:
        frequencies = Counter(row.terms.split(" ")) if row.terms else Counter[str]()
        length = frequencies.total() / self._mean_length if self._mean_length else 0.0
        return sum(self._part(frequencies[word], length, word) for word in wanted if frequencies[word])

    def _part(self, frequency: int, length: float, word: str) -> float:
        document_count = self._document_counts[word]
        idf = math.log(1 + (self._count - document_count + 0.5) / (document_count + 0.5))
        return idf * frequency * (BM25_K1 + 1) / (frequency + BM25_K1 * (1 - BM25_B + BM25_B * length))


class VolatileIndex:
    """Tables in a dictionary."""

    cache_bytes = 0

    def __init__(self) -> None:
        self.calls = OperationStatistics()
        self._tables: dict[tuple[str, int], VolatileTable] = {}
        self._lock = RLock()

    def generations(self, namespace: str) -> Sequence[Generation]:
        with self._lock:
            found = [table.generation for (name, _), table in self._tables.items() if name == namespace]
        return sorted(found, key=lambda generation: generation.number)

    def open(self, namespace: str, number: int) -> VolatileTable | None:
        return self._tables.get((namespace, number))

    def create(self, namespace: str, generation: Generation) -> VolatileTable:
        with self._lock:
            table = self._tables[namespace, generation.number] = VolatileTable(generation)
        return table

    def drop(self, namespace: str, number: int) -> None:
        with self._lock:
            self._tables.pop((namespace, number), None)

    def release_memory(self) -> None:
        """Do nothing: all memory is in use."""

    def close(self) -> None:
        """Do nothing: the process owns the tables."""
