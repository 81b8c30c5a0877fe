"""Sums over the tables of the index, while tables are opened and closed."""

from dataclasses import dataclass, field
from typing import Any, cast

from memsidecar.metrics.definitions import INDEX_FAILURES, INDEX_ROWS, INDEX_TABLES, Metric
from memsidecar.metrics.samples import MAX_TABLES_PER_SAMPLE, TableSampler
from memsidecar.stores.contract import Table, TableStats


@dataclass
class CountingTable:
    """A table of the index that is only asked for its figures."""

    failures: int = 0
    reads: int = field(default=0)

    def stats(self) -> TableStats:
        self.reads += 1
        return TableStats(rows=2, maintenance_failures=self.failures)


def sample(sampler: TableSampler) -> dict[Metric, Any]:
    return {metric: value for metric, _, value in sampler()}


def test_the_failures_of_a_table_stay_counted_when_it_is_closed_and_opened_again() -> None:
    ill, well = CountingTable(failures=5), CountingTable(failures=2)
    tables = {("ill", 1): ill, ("well", 1): well}
    sampler = TableSampler(lambda: cast(dict[tuple[str, int], Table], dict(tables)))
    assert sample(sampler)[INDEX_FAILURES] == 7
    ill.failures = 6
    assert sample(sampler)[INDEX_FAILURES] == 8
    del tables["ill", 1]
    assert sample(sampler)[INDEX_FAILURES] == 8
    tables["ill", 1] = CountingTable(failures=1)
    assert sample(sampler)[INDEX_FAILURES] == 9


def test_all_tables_are_counted_and_some_of_them_read() -> None:
    tables = {(f"n{number}", 1): CountingTable() for number in range(MAX_TABLES_PER_SAMPLE + 5)}
    sampler = TableSampler(lambda: cast(dict[tuple[str, int], Table], dict(tables)))
    found = sample(sampler)
    assert (found[INDEX_TABLES], found[INDEX_ROWS]) == (len(tables), 2 * MAX_TABLES_PER_SAMPLE)
    assert sample(sampler)[INDEX_ROWS] == 2 * len(tables)
    assert {table.reads for table in tables.values()} == {1, 2}
