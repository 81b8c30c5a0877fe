"""Maintenance of a table: compaction, index refresh, cleanup of old versions, purge of deleted rows."""

import logging
import time
from dataclasses import dataclass, field
from datetime import timedelta

from memsidecar.stores.contract.index import IndexUnavailable
from memsidecar.stores.lance import files, process_memory
from memsidecar.stores.lance.client import SCALAR_INDEXES, TableClient
from memsidecar.stores.lance.runtime import Unreadable, translated

log = logging.getLogger(__name__)

# (min, max) commits before a run while busy. Searches of 350 fragments take ten times as long as of one.
BUSY_COMMITS = (64, 200)
BUSY_ROWS_PER_COMMIT = 500
# A thousand rows that are not in the index cost each search 2 ms.
BUSY_UNINDEXED_ROWS = 5_000
# The same while idle: at once if the table is small; the rewrite of a large one waits for a few commits.
IDLE_COMMITS = (1, 16)
IDLE_ROWS_PER_COMMIT = 5_000
# An optimization indexes in the next run what it has compacted. A few runs are always enough.
MAX_OPTIMIZE_RUNS = 6
# Building the index again takes 4.5 s for 100,000 rows; each segment costs a fragment and some search time.
MAX_VECTOR_INDEX_SEGMENTS = 10
MIN_VERSION_AGE = timedelta(milliseconds=1)
CLOCK_SKEW_SECONDS = 0.1  # between the time of a version and that of its file


@dataclass(frozen=True)
class MaintenanceConfig:
    """Settings that may differ between tables, or in tests."""

    retention_seconds: float = 40.0
    """Age at which a version is certainly on disk. LanceDB never syncs, and Linux writes its cache within 35 seconds. A
    younger version may be damaged by a power loss, so the version before it is kept. After a minute of idleness no old
    version is left."""
    vector_index_rows: int = 200_000
    """Rows from which on the vectors get an index; fewer are searched exactly. For 100,000 rows an exact search takes
    80 to 130 ms, an index search 47 ms with a recall of 0.86, and building the index takes 100 MB more."""


@dataclass
class TableMaintenance:
    """Decides what maintenance is due, and does it. `rows`, `commits` and `unindexed` count since the last run."""

    client: TableClient
    config: MaintenanceConfig
    rows: int
    commits: int
    has_vector_index: bool = False
    unindexed: int = 0
    failures: int = 0
    suspect_indexes: set[str] = field(default_factory=set)
    unreadable: bool = False
    "Whether the stored data could not be read, even to build the indexes again."
    unchanged_since: float | None = None
    "The time of the last new version; None if there is no old version."
    compacted: bool = True
    "Whether old versions have files that the newest does not need."
    purged: bool = False
    purge_pending: bool = False
    "Whether an earlier process deleted rows, and ended before it could purge them."

    def appended(self, rows: int) -> None:
        self.rows += rows
        self.unindexed += rows
        self._committed()

    def deleted(self) -> None:
        self.purged = False
        self._committed()

    def require_purge(self) -> None:
        """Store that a purge is due. Call it before erased rows are deleted."""
        try:
            files.mark_purge_pending(self.client.folder)
        except OSError as error:
            raise translated(error) from error

    def _committed(self) -> None:
        self.commits += 1
        self.unchanged_since = time.monotonic()

    def suspect(self, column: str) -> None:
        """Build this index again in the next run, and the scalar indexes that its searches use."""
        self.suspect_indexes.update({column, *SCALAR_INDEXES})

    def run(self, idle: bool) -> bool:
        with self.client.writing:
            if not self._is_due(idle):
                return False
            process_memory.release_memory()
            try:
                self._maintain()
            except (IndexUnavailable, OSError) as error:
                self._failed(error)
            process_memory.release_memory()
            return True

    def _is_due(self, idle: bool) -> bool:
        if self.purge_pending or self.suspect_indexes or self._wants_vector_index():
            return True
        if idle:
            return self.commits >= self._due_commits(IDLE_COMMITS, IDLE_ROWS_PER_COMMIT) or self._has_old_versions()
        busy = self.commits >= self._due_commits(BUSY_COMMITS, BUSY_ROWS_PER_COMMIT)
        return busy or self.unindexed >= max(BUSY_UNINDEXED_ROWS, self.rows // 4)

    def _due_commits(self, bounds: tuple[int, int], rows_per_commit: int) -> int:
        min_commits, max_commits = bounds
        return min(max_commits, max(min_commits, self.rows // rows_per_commit))

    def _has_old_versions(self) -> bool:
        """Return whether old versions can be deleted. Not while there are commits: a run costs as much as the table."""
        since = self.unchanged_since
        return self.compacted and since is not None and time.monotonic() - since > self.config.retention_seconds

    def _wants_vector_index(self) -> bool:
        return not self.has_vector_index and self.rows >= self.config.vector_index_rows

    def _failed(self, error: Exception) -> None:
        if isinstance(error, Unreadable):  # an index may be damaged where no search reads: build all again
            self.unreadable = self.unreadable or bool(self.suspect_indexes)
            self.suspect_indexes.update({"terms", "vector", *SCALAR_INDEXES})
        self.failures += 1
        text = f"{type(error).__name__}: {error}"
        log.warning("maintenance of %s failed and will be retried: %s", self.client.folder.name, text)

    def _maintain(self) -> None:
        self._rebuild_suspects()
        if self.purge_pending:
            self.purge()
        self._optimize()
        self._index_vectors()
        self._delete_old_versions(self._safe_age())

    def _rebuild_suspects(self) -> None:
        for column in sorted(self.suspect_indexes):
            if column != "vector" or self.has_vector_index:
                self.client.build(column, self.rows)
                self.unchanged_since = time.monotonic()
        self.suspect_indexes.clear()
        self.unreadable = False

    def _optimize(self) -> None:
        """Compact and index until nothing is left to do: then the cleanup of versions only deletes."""
        before = -1
        for _ in range(MAX_OPTIMIZE_RUNS):
            now = self.client.version()
            if now == before:
                break
            before = now
            self.client.optimize()
        self.rows, self.commits, self.unindexed = self.client.count(), 0, 0
        self.compacted = True

    def _index_vectors(self) -> None:
        """Build the vector index. Each run adds a segment, and fragments of different segments are never merged."""
        if self._wants_vector_index() or self._vector_index_segments() > MAX_VECTOR_INDEX_SEGMENTS:
            self.client.build("vector", self.rows)
            self.has_vector_index = True
            self._optimize()

    def _vector_index_segments(self) -> int:
        return int(self.client.indexes()["vector"].num_segments or 1) if self.has_vector_index else 0

    def _safe_age(self) -> timedelta:
        """Return the age from which on versions may be deleted: older than the newest one that is certainly on disk.

        LanceDB goes by the age of a version, not by how long it has been superseded. After a long pause it would delete
        the last certain version as soon as there is a newer one.
        """
        retention, ages = self.config.retention_seconds, files.ages_seconds(self.client.folder)
        if not retention:
            return MIN_VERSION_AGE
        safe = min((age for age in ages if age >= retention), default=retention)
        newest_is_safe = safe == min(ages, default=retention)
        return timedelta(seconds=retention if newest_is_safe else safe + CLOCK_SKEW_SECONDS)

    def _delete_old_versions(self, older_than: timedelta) -> None:
        """Wait for the readers that may use an old version, then delete it."""
        self.client.readers.wait_for_older()
        self.client.optimize(older_than)
        left = self.client.versions() > 1
        self.unchanged_since = time.monotonic() if left else None
        self.compacted = left

    def purge(self) -> None:
        """Write rows and indexes again, because both keep deleted rows; then delete old versions."""
        if self.purged:
            return
        self._optimize()
        if self.client.deleted_rows():
            self.client.rewrite()
        for column in ("terms", *SCALAR_INDEXES, *(["vector"] if self.has_vector_index else [])):
            self.client.build(column, self.rows)
        self._optimize()  # merges what segments of the old index kept apart; the cleanup must not do it
        time.sleep(2 * MIN_VERSION_AGE.total_seconds())
        self._delete_old_versions(MIN_VERSION_AGE)
        files.remove_quarantined(self.client.folder)
        if self.client.versions() > 1:
            raise IndexUnavailable("old versions could not be deleted; has the clock been set back?")
        files.clear_purge_pending(self.client.folder)
        self.purged, self.purge_pending = True, False
        process_memory.release_memory()
