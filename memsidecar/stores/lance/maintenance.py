"""Compaction, index refresh, version cleanup, purge."""

import logging
import time
from dataclasses import dataclass, field
from datetime import timedelta

from memsidecar.stores.contract.index import IndexUnavailable
from memsidecar.stores.lance import files, process_memory
from memsidecar.stores.lance.client import SCALARS, TableClient
from memsidecar.stores.lance.runtime import Unreadable, translated

log = logging.getLogger(__name__)

# Searches with 350 fragments take ten times as long as with one: while busy, a run for each so many commits.
BUSY_COMMITS = (64, 200)
BUSY_ROWS_PER_COMMIT = 500
# Rows that are not in the index cost 2 ms a thousand in each search.
BUSY_UNINDEXED_ROWS = 5_000
# While idle: at once if the table is small; a rewrite of a large one waits for a few commits.
IDLE_COMMITS = (1, 16)
IDLE_ROWS_PER_COMMIT = 5_000
# A run indexes what it compacted only next time, when it is merged with the rest; it is never more than a few.
MOST_RUNS = 6
# Building it anew takes 4.5 s for 100,000 rows; each part is a fragment and a little more to search.
MOST_VECTOR_INDEX_PARTS = 10
AT_ONCE = timedelta(milliseconds=1)
CLOCKS_DIFFER_SECONDS = 0.1  # when a version was made, and when its file was written


@dataclass(frozen=True)
class MaintenanceConfig:
    """What may differ from one table to another, or in a test."""

    kept_seconds: float = 40.0
    """When a version is certainly on disk. LanceDB never syncs, and Linux writes within 35 seconds what it was given:
    what is younger may be damaged by a loss of power, and the version before it is kept to go back to. Nothing old is
    to be left after a minute of rest."""
    vector_index_rows: int = 200_000
    """From how many rows on the vectors get an index; fewer are searched exactly. For 100,000 rows that takes 80 to
    130 ms, and by an index 47, which finds 0.86 of what it should and takes 100 MB more to build: not worth it yet."""


@dataclass
class TableMaintenance:
    """Call it now and then. Its counts are those since the last run."""

    handle: TableClient
    rules: MaintenanceConfig
    rows: int
    commits: int
    has_vector_index: bool = False
    unindexed: int = 0
    failures: int = 0
    last_failure: str = ""
    doubted: set[str] = field(default_factory=set)
    unreadable: bool = False
    "Whether even building the indexes anew could not read what is stored."
    unchanged_since: float | None = None
    "Since when there has been no new version; None where no old one is left."
    compacted: bool = True
    "Whether old versions hold more than the newest one's own files."
    purged: bool = False
    owes_purge: bool = False
    "Whether an earlier process took something away, and ended before it could purge."

    def appended(self, rows: int) -> None:
        self.rows += rows
        self.unindexed += rows
        self._committed()

    def deleted(self) -> None:
        self.purged = False
        self._committed()

    def will_owe_purge(self) -> None:
        """Before something that was erased is taken away."""
        try:
            files.owe_purge(self.handle.folder)
        except OSError as error:
            raise translated(error) from error

    def _committed(self) -> None:
        self.commits += 1
        self.unchanged_since = time.monotonic()

    def doubt(self, column: str) -> None:
        """A search by this index failed: build it anew when there is time, and what it filters by as well."""
        self.doubted.update({column, *SCALARS})

    def __call__(self, idle: bool) -> bool:
        with self.handle.writing:
            if not self._is_due(idle):
                return False
            process_memory.release_memory()
            try:
                self._run()
            except (IndexUnavailable, OSError) as error:
                self._failed(error)
            process_memory.release_memory()
            return True

    def _is_due(self, idle: bool) -> bool:
        if self.owes_purge or self.doubted or self._wants_vector_index():
            return True
        if idle:
            return self.commits >= self._gathered(IDLE_COMMITS, IDLE_ROWS_PER_COMMIT) or self._has_old_versions()
        busy = self.commits >= self._gathered(BUSY_COMMITS, BUSY_ROWS_PER_COMMIT)
        return busy or self.unindexed >= max(BUSY_UNINDEXED_ROWS, self.rows // 4)

    def _gathered(self, bounds: tuple[int, int], rows_per_commit: int) -> int:
        fewest, most = bounds
        return min(most, max(fewest, self.rows // rows_per_commit))

    def _has_old_versions(self) -> bool:
        """That may go. While something comes now and then, it is not worth a run, which costs what the table weighs."""
        since = self.unchanged_since
        return self.compacted and since is not None and time.monotonic() - since > self.rules.kept_seconds

    def _wants_vector_index(self) -> bool:
        return not self.has_vector_index and self.rows >= self.rules.vector_index_rows

    def _failed(self, error: Exception) -> None:
        if isinstance(error, Unreadable):  # an index may be damaged where no search has been: build all anew next time
            self.unreadable = self.unreadable or bool(self.doubted)
            self.doubted.update({"words", "vector", *SCALARS})
        self.failures += 1
        self.last_failure = f"{type(error).__name__}: {error}"
        log.warning("upkeep of %s failed and will be tried again: %s", self.handle.folder.name, self.last_failure)

    def _run(self) -> None:
        self._rebuild_doubted()
        if self.owes_purge:
            self.purge()
        self._settle()
        self._index_vectors()
        self._prune(self._older_than_what_is_safe())

    def _rebuild_doubted(self) -> None:
        for column in sorted(self.doubted):
            if column != "vector" or self.has_vector_index:
                self.handle.build(column, self.rows)
                self.unchanged_since = time.monotonic()
        self.doubted.clear()
        self.unreadable = False

    def _settle(self) -> None:
        """Until there is nothing left to merge or to index: then a prune only prunes."""
        before = -1
        for _ in range(MOST_RUNS):
            now = self.handle.version()
            if now == before:
                break
            before = now
            self.handle.optimize()
        self.rows, self.commits, self.unindexed = self.handle.count(), 0, 0
        self.compacted = True

    def _index_vectors(self) -> None:
        """Each run adds a part to this index, and fragments of different parts are never merged: so begin anew."""
        if self._wants_vector_index() or self._vector_index_parts() > MOST_VECTOR_INDEX_PARTS:
            self.handle.build("vector", self.rows)
            self.has_vector_index = True
            self._settle()

    def _vector_index_parts(self) -> int:
        return int(self.handle.indexes()["vector"].num_segments or 1) if self.has_vector_index else 0

    def _older_than_what_is_safe(self) -> timedelta:
        """LanceDB goes by the age of a version, not by how long it has been an old one. After a long rest the last one
        that is certainly on disk would go as soon as there is a newer one; so only what is older than that one goes.
        """
        kept, ages = self.rules.kept_seconds, files.ages_seconds(self.handle.folder)
        if not kept:
            return AT_ONCE
        safe = min((age for age in ages if age >= kept), default=kept)
        newest_is_safe = safe == min(ages, default=kept)
        return timedelta(seconds=kept if newest_is_safe else safe + CLOCKS_DIFFER_SECONDS)

    def _prune(self, older_than: timedelta) -> None:
        """Readers that began on a version that goes are waited for; the newest stays, so others need not be."""
        self.handle.readers.wait_for_older()
        self.handle.optimize(older_than)
        left = self.handle.versions() > 1
        self.unchanged_since = time.monotonic() if left else None
        self.compacted = left

    def purge(self) -> None:
        """Rows are written anew and indexes built anew, because both keep what was deleted; then old versions go."""
        if self.purged:
            return
        self._settle()
        if self.handle.deleted_rows():
            self.handle.rewrite()
        for column in ("words", *SCALARS, *(["vector"] if self.has_vector_index else [])):
            self.handle.build(column, self.rows)
        self._settle()  # what different parts of the old index kept apart is merged now, and not by the prune
        time.sleep(2 * AT_ONCE.total_seconds())
        self._prune(AT_ONCE)
        files.forget_asides(self.handle.folder)
        if self.handle.versions() > 1:
            raise IndexUnavailable("old versions could not be taken away; has the clock been set back?")
        files.forget_purge(self.handle.folder)
        self.purged, self.owes_purge = True, False
        process_memory.release_memory()
