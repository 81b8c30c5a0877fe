"""Checkpoints and disk-space guard."""

import logging
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from memsidecar.domain.errors import DiskFull, Overloaded
from memsidecar.stores.sqlite.connection import BUSY_TIMEOUT_MS, translated
from memsidecar.stores.sqlite.data_dir import Ballast, free_bytes

log = logging.getLogger(__name__)

PAGE_BYTES = 4_096
# A truncation is tried again soon; a restart comes after megabytes of writes, and has to get through now and then.
WAIT_FOR_READERS_MS = {"PASSIVE": 0, "TRUNCATE": 20, "RESTART": 500}
PAGES_PER_COMMIT = 3
PATIENCE = 4

PLENTY_BYTES = 64 << 20


def pages_of(rows: int, body_bytes: int = 0) -> int:
    """About as many pages as a commit of so many rows and bytes dirties."""
    return PAGES_PER_COMMIT + rows + body_bytes // PAGE_BYTES


class Checkpointer:
    """SQLite's own automatic checkpoint swallows errors, a failed fsync among them; so this one is ours."""

    def __init__(self, connection: sqlite3.Connection, path: Path, limit_bytes: int) -> None:
        self._connection = connection
        self._path = path
        self._limit_pages = limit_bytes // PAGE_BYTES
        self._pages = 0

    def wrote(self, pages: int) -> None:
        self._pages += pages

    def run_when_due(self) -> None:
        if self._pages < self._limit_pages:
            return
        self._pages = 0
        try:
            self._run_as_gently_as_possible()
        except DiskFull:
            log.warning("no room for a checkpoint; the write-ahead log keeps growing until there is")

    def _run_as_gently_as_possible(self) -> None:
        """Where readers follow each other without a gap the log never starts over by itself: then wait for them."""
        _, pages = self._run("PASSIVE")
        if pages > PATIENCE * self._limit_pages:
            self._run("RESTART")

    def make_room(self) -> None:
        """Try to empty the write-ahead log on a full disk; without success, things are as before."""
        try:
            self._run("TRUNCATE")
        except DiskFull:
            log.debug("no room for a checkpoint")

    def truncate(self) -> None:
        """Empty the write-ahead log, so that nothing erased is left in it; Busy while a reader still uses it."""
        done, _ = self._run("TRUNCATE")
        if not done:
            raise Overloaded("a reader still uses the write-ahead log")
        self._pages = 0

    def _run(self, mode: str) -> tuple[bool, int]:
        """Whether it came to its end, and how many pages the log has."""
        with translated(self._path), self._impatient(WAIT_FOR_READERS_MS[mode]):
            busy, pages, _ = self._connection.execute(f"PRAGMA wal_checkpoint({mode})").fetchone()
        return not busy, pages

    @contextmanager
    def _impatient(self, milliseconds: int) -> Iterator[None]:
        """Wait for readers a moment only: everybody's writes wait behind this, and a backup may read for minutes."""
        self._connection.execute(f"PRAGMA busy_timeout = {milliseconds}")
        try:
            yield
        finally:
            self._connection.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}")


class DiskSpaceGuard:
    """Tells what would fill the disk so far that a checkpoint fails, and makes room.

    A log that cannot be moved can only grow. Then nothing could be erased any more, because erasing writes first, and
    a full disk would stay full.
    """

    def __init__(self, connection: sqlite3.Connection, path: Path, ballast: Ballast, checkpoints: Checkpointer) -> None:
        self._connection = connection
        self._path = path
        self._ballast = ballast
        self._checkpoints = checkpoints

    def is_there_for(self, pages: int) -> bool:
        """Whether so many pages find room in the log and later in the file."""
        free = free_bytes(self._path.parent) + self._ballast.held_bytes
        return free >= PLENTY_BYTES or free >= self._growth_bytes() + 2 * pages * PAGE_BYTES

    def _growth_bytes(self) -> int:
        """How much longer the file becomes by a checkpoint."""
        (pages,) = self._connection.execute("PRAGMA page_count").fetchone()
        growth: int = pages * PAGE_BYTES - self._path.stat().st_size
        return growth

    def make(self, *, spending: bool) -> bool:
        """Empty the log into the file, at the ballast's expense or by a loan of it; whether there was a ballast."""
        held = self._ballast.drop()
        self._checkpoints.make_room()
        if held and not spending:
            self._ballast.take(held)
        return held > 0

    def keep_in_reserve(self) -> None:
        self._ballast.restore()
