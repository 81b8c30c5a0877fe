"""Episodes for tests, and their comparable form."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from memsidecar.stores.contract.index import Episodes, Floats, Generation, IndexBatch, Table
from memsidecar.stores.volatile.index import Row, episodes_of, rows_of

DIMENSIONS = 8
FIRST = Generation(1, "toy/8", DIMENSIONS)


def unit(*numbers: float) -> Floats:
    vector = np.zeros(DIMENSIONS, np.float32)
    vector[: len(numbers)] = numbers
    length = float(np.linalg.norm(vector))
    return vector / np.float32(length) if length else vector


@dataclass
class SampleEpisode:
    """One episode with defaults; `written_lsn` is `lsn` by default."""

    lsn: int
    terms: str = "hello world"
    sequence: int = 1
    written_lsn: int = 0
    partition: int = 1
    session: int = 1
    role: int = 1
    time_us: int = 0
    score: float = float("nan")
    name: str = ""
    vector: Sequence[float] = (1.0,)

    def row(self) -> Row:
        time_us = self.time_us or self.lsn * 1_000
        numbers = (
            self.lsn,
            self.sequence,
            self.written_lsn or self.lsn,
            self.partition,
            self.session,
            self.role,
            time_us,
        )
        return Row(*numbers, self.score, self.name, self.terms, unit(*self.vector))


def episodes(*given: SampleEpisode) -> Episodes:
    return episodes_of([episode.row() for episode in given], DIMENSIONS)


def add(table: Table, *given: SampleEpisode) -> None:
    table.apply(IndexBatch(episodes=episodes(*given)))


def many_episodes(lsns: Iterable[int], *, partitions: int = 3, seed: int = 0) -> Episodes:
    """Return many different episodes."""
    random = np.random.default_rng(seed)
    made = [
        SampleEpisode(
            lsn,
            terms=" ".join(f"w{number}" for number in random.zipf(1.5, 8) % 500),
            partition=lsn % partitions,
            session=lsn % 17,
            sequence=lsn,
            vector=random.standard_normal(DIMENSIONS).tolist(),
        )
        for lsn in lsns
    ]
    return episodes(*made)


def partition(table: Table, number: int, chunks: bool) -> Episodes:
    """Return a whole partition in the order of the log."""
    found = list(table.read_partition(number, chunks))
    together = Episodes.concatenate(found) if found else episodes()
    return together.take(np.lexsort((together.sequence, together.lsn)))


def lsns(found: Episodes) -> list[int]:
    return [int(lsn) for lsn in found.lsn]


def comparable(found: Episodes) -> list[tuple[Any, ...]]:
    """Return every column of every row; NaN equals NaN."""
    return [
        (*row.key, row.written_lsn, row.partition, row.session, row.role, row.time_us, *_rest(row))
        for row in rows_of(found)
    ]


def _rest(row: Row) -> tuple[Any, ...]:
    return repr(row.score), row.name, row.terms, *row.vector.tolist()
