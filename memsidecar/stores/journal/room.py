"""Room on the disk: never less than it takes to move the write-ahead log into the file."""

import sqlite3
from pathlib import Path

from memsidecar.stores.journal.checkpoints import PAGE_BYTES, Checkpoints
from memsidecar.stores.journal.files import Ballast, free_bytes

PLENTY_BYTES = 64 << 20


class Room:
    """Tells what would fill the disk so far that a checkpoint fails, and makes room.

    A log that cannot be moved can only grow. Then nothing could be erased any more, because erasing writes first, and
    a full disk would stay full.
    """

    def __init__(self, connection: sqlite3.Connection, path: Path, ballast: Ballast, checkpoints: Checkpoints) -> None:
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
