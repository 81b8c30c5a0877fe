"""Points that take time to read: from the journal, the tables of the index and the file system."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from memsidecar.domain.quota import QuotaLookup
from memsidecar.layers.background import Lag
from memsidecar.metrics import definitions as metrics
from memsidecar.metrics.definitions import Point
from memsidecar.stores.contract import IndexUnavailable, Journal, Table, TableStats

MAX_TABLES_PER_SAMPLE = 20
"A table takes 2 ms of CPU. If there are more tables, each sample reads the next ones. `definitions` says so."
RESOURCES = ("sessions", "messages", "bytes")


class TableSampler:
    """Sums up the open tables. Each sample reads some of them, in rotation."""

    def __init__(self, tables: Callable[[], Mapping[tuple[str, int], Table]]) -> None:
        """`tables` returns the open tables by namespace and generation."""
        self._tables = tables
        self._stats: dict[tuple[str, int], TableStats] = {}
        self._failures = 0
        "Of all tables, closed ones included: a counter never falls."

    def __call__(self) -> Iterator[Point]:
        tables = self._tables()
        known = {key: self._stats[key] for key in self._stats if key in tables}
        waiting = [key for key in tables if key not in known]
        # A table that is read moves to the end.
        for key in [*waiting, *known][:MAX_TABLES_PER_SAMPLE]:
            before = known.pop(key, None)
            try:
                known[key] = found = tables[key].stats()
                self._failures += found.maintenance_failures - (before.maintenance_failures if before else 0)
            except (IndexUnavailable, OSError):  # it was dropped meanwhile, or is damaged, which the index repairs
                if before is not None:
                    known[key] = before
        self._stats = known
        return self._points(len(tables))

    def _points(self, tables: int) -> Iterator[Point]:
        stats = list(self._stats.values())
        yield metrics.INDEX_TABLES.point(tables)
        yield metrics.INDEX_ROWS.point(sum(each.rows for each in stats))
        yield metrics.INDEX_FRAGMENTS.point(sum(each.fragments for each in stats))
        yield metrics.INDEX_VERSIONS.point(sum(each.versions for each in stats))
        yield metrics.INDEX_UNINDEXED.point(sum(each.unindexed_rows for each in stats))
        yield metrics.INDEX_BYTES.point(sum(each.disk_bytes for each in stats))
        yield metrics.INDEX_FAILURES.point(self._failures)


def lag_points(tasks: Iterable[str], lags: Sequence[Lag]) -> Iterator[Point]:
    """Return for each task its largest lag of all namespaces; 0 if it has caught up."""
    for task in tasks:
        own = [lag for lag in lags if lag.task == task]
        yield metrics.TASK_LAG_ENTRIES.point(max((lag.entries for lag in own), default=0), task)
        yield metrics.TASK_LAG_SECONDS.point(max((lag.seconds for lag in own), default=0.0), task)


def dead_letter_points(journal: Journal, tasks: Iterable[str]) -> Iterator[Point]:
    return (metrics.DEAD_LETTERS.point(len(journal.dead_letters(task)), task) for task in tasks)


def quota_points(journal: Journal, quota_of: QuotaLookup) -> Iterator[Point]:
    """Return the highest share of a quota that a namespace uses, by resource. Names of namespaces are no labels."""
    highest: dict[str, float] = {}
    for namespace in journal.last_lsns():
        quota, usage = quota_of(namespace), journal.usage(namespace)
        for resource in RESOURCES:
            if limit := getattr(quota, resource):
                highest[resource] = max(highest.get(resource, 0.0), getattr(usage, resource) / limit)
    return (metrics.QUOTA_RATIO.point(share, resource) for resource, share in highest.items())


def disk_points(journal: Journal, directory: Path) -> Iterator[Point]:
    stats, disk = journal.stats(), os.statvfs(directory)
    yield metrics.JOURNAL_BYTES.point(stats.file_bytes)
    yield metrics.WAL_BYTES.point(stats.wal_bytes)
    # What an unprivileged process may still use.
    yield metrics.DISK_FREE.point(disk.f_bavail * disk.f_frsize)
    yield metrics.DISK_SIZE.point(disk.f_blocks * disk.f_frsize)
