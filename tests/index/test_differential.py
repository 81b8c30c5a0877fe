"""Arbitrary batches on the index on disk and on the reference: same rows, same results."""

import shutil
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from memsidecar.stores.contract.index import Episodes, Floats, IndexBatch, Table, TableFilter
from memsidecar.stores.lance.index import LanceIndex
from memsidecar.stores.volatile.index import VolatileTable
from tests.index.conftest import CACHE_BYTES
from tests.index.episodes import FIRST, SampleEpisode, comparable, episodes, partition, unit
from tests.support.differential import EXAMPLES

WORDS = ["cat", "Cat", "dog", '"', "OR", "é", "日本", "a'b"]
SESSIONS = [-2, -1, 0, 1, 2, 3]
PARTITIONS = [0, 1, 2]

sentences = st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join)
vectors = st.lists(st.sampled_from([-1.0, 0.0, 0.5, 1.0]), max_size=4)
few = st.lists(st.integers(1, 60), max_size=4)
withins = st.builds(
    TableFilter,
    partition=st.none() | st.sampled_from(PARTITIONS),
    session=st.none() | st.sampled_from(SESSIONS),
    roles=st.lists(st.integers(1, 3), max_size=2),
    after_us=st.none() | st.integers(0, 60_000),
    before_us=st.none() | st.integers(0, 60_000),
    chunks=st.booleans(),
)


@st.composite
def sample_episodes(draw: st.DrawFn) -> SampleEpisode:
    return SampleEpisode(
        0,
        terms=draw(sentences),
        partition=draw(st.sampled_from(PARTITIONS)),
        session=draw(st.sampled_from(SESSIONS)),
        role=draw(st.integers(1, 3)),
        score=draw(st.sampled_from([float("nan"), 0.0, 1.5])),
        vector=draw(vectors),
    )


class TwoIndexes(RuleBasedStateMachine):
    """The log is a growing number; some entries change or erase earlier ones."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.lsn = 0
        self.last: IndexBatch | None = None

    @initialize()
    def create(self) -> None:
        self._open_index().create("space", FIRST)
        self.reference = VolatileTable(FIRST)

    def _open_index(self) -> LanceIndex:
        self.index = LanceIndex(self.folder, memory_bytes=CACHE_BYTES, retention_seconds=0.0, vector_index_rows=20)
        return self.index

    @property
    def table(self) -> Table:
        table = self.index.open("space", 1)
        assert table is not None
        return table

    def _apply(self, batch: IndexBatch) -> None:
        self.last = batch
        self.table.apply(batch)
        self.reference.apply(batch)

    @rule(
        rows=st.lists(sample_episodes(), min_size=1, max_size=8),
        sessions=st.lists(st.sampled_from(SESSIONS), max_size=2),
    )
    def apply_rows(self, rows: list[SampleEpisode], sessions: list[int]) -> None:
        bounds = [self.lsn] * len(sessions)
        for number, one in enumerate(rows):
            self.lsn += 1
            one.lsn, one.sequence = self.lsn, 1 + number % 2
        self._apply(IndexBatch(sessions, bounds, (), episodes(*rows)))

    @rule(one=sample_episodes(), lsn=st.integers(1, 60), sequence=st.integers(1, 2))
    def change(self, one: SampleEpisode, lsn: int, sequence: int) -> None:
        self.lsn += 1
        one.lsn, one.sequence, one.written_lsn = min(lsn, self.lsn), sequence, self.lsn
        self._apply(IndexBatch(deleted_episodes=[(one.lsn, sequence)], episodes=episodes(one)))

    @rule(sessions=st.lists(st.sampled_from(SESSIONS), max_size=3), lsns=few, back=st.integers(0, 5))
    def erase(self, sessions: list[int], lsns: list[int], back: int) -> None:
        self.lsn += 1
        self._apply(IndexBatch(sessions, [self.lsn - back] * len(sessions), [(lsn, 1) for lsn in lsns]))

    @rule(positions=st.lists(st.tuples(st.sampled_from(SESSIONS), st.integers(1, 2)), min_size=1, max_size=3))
    def erase_messages(self, positions: list[tuple[int, int]]) -> None:
        self.lsn += 1
        self._apply(IndexBatch(deleted_positions=positions))

    @rule()
    def reapply(self) -> None:
        if self.last is not None:
            self._apply(self.last)

    @rule(idle=st.booleans())
    def maintain(self, idle: bool) -> None:
        self.table.maintain(idle)
        assert self.table.stats().maintenance_failures == 0, self.table.stats()

    @rule()
    def purge(self) -> None:
        self.table.purge()

    @rule()
    def reopen(self) -> None:
        self.index.close()
        self._open_index()
        assert self.index.repairs == 0
        written_lsn = [row[2] for chunks in (False, True) for row in _all(self.reference, chunks)]
        assert self.table.watermark == max(written_lsn, default=0) <= self.reference.watermark
        # The layer reads the log again from there, and applies it again.
        if self.last is not None:
            self._apply(self.last)

    @invariant()
    def partitions_are_equal(self) -> None:
        for chunks in (False, True):
            assert _all(self.table, chunks) == _all(self.reference, chunks)

    @rule(within=withins)
    def counts_are_equal(self, within: TableFilter) -> None:
        assert self.table.count(within) == self.reference.count(within)

    @rule(places=st.lists(st.tuples(st.sampled_from(SESSIONS), st.integers(1, 2)), max_size=4))
    def rows_at_positions_are_equal(self, places: list[tuple[int, int]]) -> None:
        assert sorted(comparable(self.table.at_positions(places))) == sorted(
            comparable(self.reference.at_positions(places))
        )

    @rule(terms=st.lists(st.sampled_from([*WORDS, "none"]), max_size=3), within=withins)
    def matching_rows_are_equal(self, terms: list[str], within: TableFilter) -> None:
        found, expected = (one.matching(terms, within, 1_000) for one in (self.table, self.reference))
        assert sorted(comparable(found)) == sorted(comparable(expected))

    @rule(numbers=vectors, within=withins, limit=st.integers(1, 9))
    def nearest_distances_are_equal(self, numbers: list[float], within: TableFilter, limit: int) -> None:
        vector = unit(*numbers)
        found, expected = (one.nearest(vector, within, limit) for one in (self.table, self.reference))
        np.testing.assert_allclose(_similarities(found, vector), _similarities(expected, vector), atol=1e-5)
        everything = self.reference.nearest(vector, within, 1_000)
        assert set(comparable(found)) <= set(comparable(everything))

    def teardown(self) -> None:
        self.index.close()
        shutil.rmtree(self.folder)


def _all(table: Table, chunks: bool) -> list[tuple[Any, ...]]:
    return [row for number in PARTITIONS for row in comparable(partition(table, number, chunks))]


def _similarities(found: Episodes, vector: Floats) -> Floats:
    return found.vectors @ vector


TestTwoIndexes = TwoIndexes.TestCase
TestTwoIndexes.settings = settings(
    max_examples=EXAMPLES, stateful_step_count=20, deadline=None, suppress_health_check=list(HealthCheck)
)
