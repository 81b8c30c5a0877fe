"""The index of episodes in RAM: naive and exact, gone with the process. What the real one is measured against."""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from threading import RLock

import numpy as np

from memsidecar.stores.contract.index import Episodes, Floats, Generation, IndexBatch, Ints, TableFilter, TableStats

# Of BM25; LanceDB's own.
K1, B = 1.2, 0.75


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


def _is_within(row: Row, within: TableFilter) -> bool:
    return (
        (row.session < 0) == within.chunks
        and within.partition in (None, row.partition)
        and within.session in (None, row.session)
        and (not within.roles or row.role in within.roles)
        and (within.after_us is None or row.time_us > within.after_us)
        and (within.before_us is None or row.time_us < within.before_us)
    )


class VolatileTable:
    """A list of rows, looked through each time."""

    def __init__(self, generation: Generation) -> None:
        self.generation = generation
        self._rows: list[Row] = []
        self._watermark = 0
        self._lock = RLock()

    @property
    def watermark(self) -> int:
        return self._watermark

    def apply(self, harvest: IndexBatch) -> None:
        new = rows_of(harvest.episodes) if harvest.episodes is not None else []
        with self._lock:
            self._take_away(harvest, {row.key: row.written_lsn for row in new})
            here = {row.key: row.written_lsn for row in self._rows}
            self._rows = self._rows + [row for row in new if here.get(row.key, -1) < row.written_lsn]
            self._watermark = max([self._watermark, *(row.written_lsn for row in new)])

    def _take_away(self, harvest: IndexBatch, coming: dict[tuple[int, int], int]) -> None:
        """An episode that comes again goes only as far as it is older than what comes."""
        bounds: dict[int, int] = {}
        for session, bound in zip(harvest.deleted_sessions, harvest.deleted_before, strict=True):
            bounds[session] = max(bound, bounds.get(session, bound))
        named = set(harvest.deleted_episodes)

        def goes(row: Row) -> bool:
            changed = row.key in named and row.written_lsn < coming.get(row.key, row.written_lsn + 1)
            return changed or row.written_lsn < bounds.get(row.session, row.written_lsn)

        self._rows = [row for row in self._rows if not goes(row)]

    def partition(self, number: int, chunks: bool) -> Iterator[Episodes]:
        yield self._episodes(self._within(TableFilter(partition=number, chunks=chunks)))

    def count(self, within: TableFilter) -> int:
        return len(self._within(within))

    def matching(self, terms: Sequence[str], within: TableFilter, limit: int) -> Episodes:
        """Rarity and length are of the whole table, as in an index; the scope only chooses."""
        bm25 = Bm25(self._rows)
        wanted = {word for word in terms if word}
        scored = [(bm25.score(row, wanted), row) for row in self._within(within)]
        return self._best([(score, row) for score, row in scored if score > 0], limit)

    def nearest(self, vector: Floats, within: TableFilter, limit: int) -> Episodes:
        if not np.any(vector):
            return self._episodes([])
        with_vector = [row for row in self._within(within) if np.any(row.vector)]
        return self._best([(_cosine(row.vector, vector), row) for row in with_vector], limit)

    def around(self, places: Sequence[tuple[int, int]]) -> Episodes:
        wanted = set(places)
        return self._episodes([row for row in self._rows if (row.session, row.sequence) in wanted])

    def _within(self, within: TableFilter) -> list[Row]:
        return [row for row in self._rows if _is_within(row, within)]

    def _best(self, scored: list[tuple[float, Row]], limit: int) -> Episodes:
        scored.sort(key=lambda pair: -pair[0])
        return self._episodes([row for _, row in scored[: max(0, limit)]])

    def _episodes(self, rows: Sequence[Row]) -> Episodes:
        return episodes_of(rows, self.generation.dimensions)

    def upkeep(self, idle: bool) -> bool:  # noqa: ARG002 - there is nothing to keep up
        return False

    def purge(self) -> None:
        """What was taken away is nowhere."""

    def figures(self) -> TableStats:
        return TableStats(rows=len(self._rows))


def _cosine(one: Floats, other: Floats) -> float:
    return float(one @ other / (np.linalg.norm(one) * np.linalg.norm(other)))


class Bm25:
    """The statistics of all rows."""

    def __init__(self, rows: Sequence[Row]) -> None:
        split = [row.terms.split(" ") if row.terms else [] for row in rows]
        self._count = len(rows)
        self._mean_length = sum(map(len, split)) / max(1, len(rows))
        self._found_in = Counter(word for terms in split for word in set(terms))

    def score(self, row: Row, wanted: set[str]) -> float:
        frequencies = Counter(row.terms.split(" ")) if row.terms else Counter[str]()
        length = frequencies.total() / self._mean_length if self._mean_length else 0.0
        return sum(self._part(frequencies[word], length, word) for word in wanted if frequencies[word])

    def _part(self, frequency: int, length: float, word: str) -> float:
        among = self._found_in[word]
        rarity = math.log(1 + (self._count - among + 0.5) / (among + 0.5))
        return rarity * frequency * (K1 + 1) / (frequency + K1 * (1 - B + B * length))


class VolatileIndex:
    """Tables in a dictionary."""

    def __init__(self) -> None:
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

    def give_back(self) -> None:
        """There is nothing but what is in use."""

    def disk_bytes(self) -> int:
        return 0

    def close(self) -> None:
        """It goes with the process."""
