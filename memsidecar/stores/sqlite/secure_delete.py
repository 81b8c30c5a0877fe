"""Stepwise physical erasure."""

import json
import logging
import sqlite3
import time
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from memsidecar.domain.errors import DataCorrupted, DiskFull, Overloaded, SidecarError
from memsidecar.stores.contract import PendingCommand
from memsidecar.stores.sqlite.connection import rolled_back, translated
from memsidecar.stores.sqlite.transaction import Transaction
from memsidecar.stores.sqlite.wal import Checkpointer, DiskSpaceGuard, pages_of

log = logging.getLogger(__name__)

ROWS_PER_STEP = 256
RETRY_SECONDS = 0.2
PATIENCE_SECONDS = 5.0

# Emptied and not deleted: where rows are deleted SQLite merges pages, and a page that it builds anew keeps in its
# unused part what lay there before. That is text of neighbours, which no later erasure of theirs would reach, and
# secure_delete does not help. Rows that only shrink are never moved.
_EMPTY_ENCODINGS = """WITH RECURSIVE encodings(lsn) AS (
    SELECT value FROM json_each(?)
    UNION SELECT l.prev FROM log l JOIN encodings e ON l.lsn = e.lsn WHERE l.prev IS NOT NULL
  ) UPDATE log SET id = NULL, body = NULL, vector = NULL, crc = NULL, prev = NULL WHERE lsn IN encodings"""
_FULL_TEXTS = """SELECT number, length(text) FROM texts
  WHERE number >= ? AND number <= ? AND text IS NOT NULL ORDER BY number LIMIT ?"""
_EMPTY_TEXTS = "UPDATE texts SET text = NULL, tokens = NULL, crc = NULL WHERE number >= ? AND number <= ?"


class OrphanedTexts(NamedTuple):
    """A stretch of `texts` that belongs to no document and no note any more."""

    first: int
    last: int


# A session that was erased, by its number, or texts.
Piece = int | OrphanedTexts


class PendingPurge(NamedTuple):
    """What is to be answered when nothing of these pieces is left in the file."""

    pieces: Sequence[Piece]
    result: Any


def leave(stage: Transaction, leftovers: Sequence[OrphanedTexts]) -> Sequence[OrphanedTexts]:
    for leftover in leftovers:
        stage.do("INSERT INTO leftovers VALUES (?, ?)", *leftover)
    return leftovers


class PurgeQueue:
    """A session that was erased is out of reach at once, because its number is in no session's row any more.

    So are texts that no row of a document or a note points to. Then come steps of a bounded size, so that nobody waits
    long for a large session's end, and last the write-ahead log is emptied. A crash in between leaves the number in
    `erasures` and the texts' places in `leftovers`, and the next start goes on.
    """

    def __init__(
        self, connection: sqlite3.Connection, path: Path, room: DiskSpaceGuard, checkpoints: Checkpointer
    ) -> None:
        self._connection = connection
        self._path = path
        self._room = room
        self._checkpoints = checkpoints
        self._pieces = deque(unfinished(connection))
        self._waiting: list[tuple[PendingCommand, Any]] = []
        self._waiting_since = 0.0
        self._rows_per_step = ROWS_PER_STEP
        # A crash may have come between the last row's deletion and the emptying of the write-ahead log.
        self._untruncated = True

    def _answer_the_impatient(self) -> None:
        """Somebody outside reads the file for long. What was erased is out of reach; its bytes will follow."""
        if self._waiting and time.monotonic() > self._waiting_since + PATIENCE_SECONDS:
            self.refuse_all(Overloaded("erased, but a reader still holds the old write-ahead log; call again"))

    def begin(self, ticket: PendingCommand, erasing: PendingPurge) -> None:
        if not self._waiting:
            self._waiting_since = time.monotonic()
        self._pieces.extend(erasing.pieces)
        self._waiting.append((ticket, erasing.result))
        self._untruncated = True

    def step(self) -> float | None:
        """Do a bounded piece of work; in how many seconds there is more to do, None when there is nothing."""
        if not self._untruncated:
            self._room.keep_in_reserve()
            return None
        try:
            self._advance()
        except DiskFull:
            return self._find_room()
        except Overloaded:
            self._answer_the_impatient()
            return RETRY_SECONDS
        except DataCorrupted as damage:
            self._give_up(damage)
        return 0.0

    def _find_room(self) -> float:
        """A step that failed left the room it took to the write-ahead log: empty that, and take smaller steps."""
        smaller = self._rows_per_step > 1
        self._rows_per_step = max(1, self._rows_per_step // 4)
        return 0.0 if self._room.make(spending=True) or smaller else RETRY_SECONDS

    def refuse_all(self, error: SidecarError) -> None:
        waiting, self._waiting = self._waiting, []
        for ticket, _ in waiting:
            if not ticket.done:
                ticket.complete(error=error)

    def _give_up(self, damage: DataCorrupted) -> None:
        """Until the next start, when somebody may have mended the file; `erasures` and `leftovers` remember."""
        log.error("erasing cannot go on: %s", damage)
        self._pieces.clear()
        self._untruncated = False
        self.refuse_all(damage)

    def _advance(self) -> None:
        if not self._pieces:
            self._finish()
            return
        for _ in range(self._erase_some()):
            self._pieces.popleft()
        self._rows_per_step = min(ROWS_PER_STEP, 2 * self._rows_per_step)

    def _erase_some(self) -> int:
        """Erase up to a step's worth of rows in one transaction; how many pieces that ended."""
        with translated(self._path), rolled_back(self._connection):
            self._connection.execute("BEGIN IMMEDIATE")
            ended = self._end_pieces()
            self._connection.execute("COMMIT")
            self._checkpoints.run_when_due()
        return ended

    def _end_pieces(self) -> int:
        room = self._rows_per_step
        for ended, piece in enumerate(self._pieces):
            taken = self._take(piece, room)
            if taken == room:
                return ended
            self._forget(piece)
            room -= max(taken, 1)
            if not room:
                return ended + 1
        return len(self._pieces)

    def _take(self, piece: Piece, limit: int) -> int:
        """Erase up to so many rows; how many these were. Fewer than asked for were the last."""
        if isinstance(piece, OrphanedTexts):
            return self._empty_texts(piece, limit)
        return self._delete_messages(piece, limit)

    def _forget(self, piece: Piece) -> None:
        if isinstance(piece, OrphanedTexts):
            self._connection.execute("DELETE FROM leftovers WHERE first = ?", (piece.first,))
        else:
            self._connection.execute("DELETE FROM erasures WHERE number = ?", (piece,))

    def _delete_messages(self, number: int, limit: int) -> int:
        rows = self._connection.execute(
            "SELECT sequence, lsn, shown_lsn FROM messages WHERE session = ? ORDER BY sequence LIMIT ?", (number, limit)
        ).fetchall()
        if rows:
            self._connection.execute(_EMPTY_ENCODINGS, (json.dumps([lsn for row in rows for lsn in row[1:]]),))
            self._connection.execute("DELETE FROM messages WHERE session = ? AND sequence <= ?", (number, rows[-1][0]))
        self._checkpoints.wrote(pages_of(2 * len(rows)))
        return len(rows)

    def _empty_texts(self, leftover: OrphanedTexts, limit: int) -> int:
        rows = self._connection.execute(_FULL_TEXTS, (*leftover, limit)).fetchall()
        if rows:
            self._connection.execute(_EMPTY_TEXTS, (rows[0][0], rows[-1][0]))
        self._checkpoints.wrote(pages_of(len(rows), sum(size for _, size in rows)))
        return len(rows)

    def _finish(self) -> None:
        self._checkpoints.truncate()
        self._untruncated = False
        waiting, self._waiting = self._waiting, []
        for ticket, result in waiting:
            if not ticket.done:
                ticket.complete(result)


def unfinished(connection: sqlite3.Connection) -> list[Piece]:
    """What an earlier process began to erase."""
    sessions: list[Piece] = [number for (number,) in connection.execute("SELECT number FROM erasures")]
    return sessions + [OrphanedTexts(*row) for row in connection.execute("SELECT first, last FROM leftovers")]
