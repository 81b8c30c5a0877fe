"""Checkpoints of the write-ahead log, and the guard of free disk space."""

import logging
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from memsidecar.domain.errors import DiskFull, Overloaded
from memsidecar.stores.sqlite.connection import BUSY_TIMEOUT_MS, translated
from memsidecar.stores.sqlite.data_dir import Ballast, free_bytes

log = logging.getLogger(__name__)

PAGE_BYTES = 4_096
LOG_HEADER_BYTES, FRAME_HEADER_BYTES = 32, 24
READER_TIMEOUT_MS = {"PASSIVE": 0, "TRUNCATE": 20, "RESTART": 20}
RESTART_TRIES = 25
"A restart is due after megabytes of writes only, and has to succeed now and then: it is tried half a second."
PAGES_PER_COMMIT = 3
RESTART_FACTOR = 4
"The log is restarted when it has this many times the pages of the checkpoint limit."
AMPLE_BYTES = 64 << 20


def estimate_pages(rows: int, body_bytes: int = 0) -> int:
    """Estimate how many pages a commit of so many rows and bytes writes."""
    return PAGES_PER_COMMIT + rows + body_bytes // PAGE_BYTES


class Checkpointer:
    """Runs checkpoints. SQLite's automatic checkpoint ignores errors, a failed fsync among them, so it is off."""

    def __init__(self, connection: sqlite3.Connection, path: Path, limit_bytes: int) -> None:
        self._connection = connection
        self._path = path
        self._limit_pages = limit_bytes // PAGE_BYTES
        self._pages = 0
        self._tracked: set[int] | None = None

    def wrote(self, pages: int) -> None:
        self._pages += pages

    def run_when_due(self) -> None:
        if self._pages < self._limit_pages:
            return
        self._pages = 0
        try:
            self._checkpoint()
        except (DiskFull, Overloaded) as obstacle:
            log.warning("no checkpoint yet, the write-ahead log grows until there is one: %s", obstacle)

    def _checkpoint(self) -> None:
        """Run a passive checkpoint. If readers overlap without a gap, the log never restarts: then wait for them."""
        _, pages = self._run("PASSIVE")
        if pages > RESTART_FACTOR * self._limit_pages:
            self._restart()

    def _restart(self) -> None:
        """Restart the log in many short tries: in one try SQLite also waits for readers that begin meanwhile."""
        for _ in range(RESTART_TRIES):
            done, _ = self._run("RESTART")
            if done:
                return

    def try_truncate(self) -> None:
        """Truncate the write-ahead log of a full disk if possible."""
        try:
            self._run("TRUNCATE")
        except DiskFull:
            log.debug("no room for a checkpoint")

    def truncate(self) -> None:
        """Truncate the write-ahead log, so that it holds no erased content; Overloaded while a reader uses it."""
        done, _ = self._run("TRUNCATE")
        if not done:
            raise Overloaded("a reader still uses the write-ahead log")
        self._pages = 0

    def track(self) -> None:
        """Collect from now on which pages are written."""
        self._tracked = set()

    def truncate_tracked(self) -> set[int]:
        """Truncate the write-ahead log, and return the pages that were written since `track`."""
        self.truncate()
        tracked, self._tracked = self._tracked, None
        return tracked or set()

    def _run(self, mode: str) -> tuple[bool, int]:
        """Return whether the checkpoint was completed, and how many pages the log has."""
        with translated(self._path), self._busy_timeout(READER_TIMEOUT_MS[mode]):
            if self._tracked is not None:
                self._tracked.update(_pages_of(self._path.with_name(f"{self._path.name}-wal")))
            busy, pages, _ = self._connection.execute(f"PRAGMA wal_checkpoint({mode})").fetchone()
        return not busy, pages

    @contextmanager
    def _busy_timeout(self, milliseconds: int) -> Iterator[None]:
        """Wait for readers for a short time only: all writes wait meanwhile, and a backup may read for minutes."""
        self._connection.execute(f"PRAGMA busy_timeout = {milliseconds}")
        try:
            yield
        finally:
            self._connection.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}")


def _pages_of(wal: Path) -> Iterator[int]:
    """Yield the numbers of the pages in a write-ahead log, also of those that are superseded."""
    with wal.open("rb") as file:
        for offset in range(LOG_HEADER_BYTES, wal.stat().st_size, FRAME_HEADER_BYTES + PAGE_BYTES):
            yield int.from_bytes(os.pread(file.fileno(), 4, offset))


class DiskSpaceGuard:
    """Refuses writes that would leave no room for a checkpoint, and makes room.

    A write-ahead log that cannot be checkpointed can only grow. Then nothing could be erased either, because an erasure
    writes first, and the disk would stay full.
    """

    def __init__(
        self, connection: sqlite3.Connection, path: Path, ballast: Ballast, checkpointer: Checkpointer
    ) -> None:
        self._connection = connection
        self._path = path
        self._ballast = ballast
        self._checkpointer = checkpointer

    def has_room_for(self, pages: int) -> bool:
        """Return whether so many pages fit into the log now and into the file later."""
        free = free_bytes(self._path.parent) + self._ballast.held_bytes
        return free >= AMPLE_BYTES or free >= self._growth_bytes() + 2 * pages * PAGE_BYTES

    def _growth_bytes(self) -> int:
        """Return how much the file will grow by a checkpoint."""
        (pages,) = self._connection.execute("PRAGMA page_count").fetchone()
        growth: int = pages * PAGE_BYTES - self._path.stat().st_size
        return growth

    def make_room(self, *, spend_ballast: bool) -> bool:
        """Truncate the log with the room of the ballast, which is restored unless spent. Return whether it existed."""
        held = self._ballast.drop()
        self._checkpointer.try_truncate()
        if held and not spend_ballast:
            self._ballast.allocate(held)
        return held > 0

    def restore_ballast(self) -> None:
        self._ballast.restore()
