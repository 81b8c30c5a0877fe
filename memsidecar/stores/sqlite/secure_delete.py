"""Physical deletion of erased content, in steps of bounded size."""

import json
import logging
import math
import sqlite3
import time
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from memsidecar.domain.errors import DataCorrupted, DiskFull, Overloaded, SidecarError
from memsidecar.stores.contract import PendingCommand
from memsidecar.stores.sqlite.connection import rolled_back, translated, without_sync
from memsidecar.stores.sqlite.page_slack import SlackCleaner
from memsidecar.stores.sqlite.transaction import Transaction
from memsidecar.stores.sqlite.wal import Checkpointer, DiskSpaceGuard, estimate_pages

log = logging.getLogger(__name__)

MAX_ROWS_PER_STEP = 64
"They take less than a millisecond, in which no command is committed."
RETRY_SECONDS = 0.2
MAX_WAIT_SECONDS = 5.0
NEVER = math.inf
CLEAN_LATER_SECONDS = 60.0
"How long copies of the names of single deleted facts, artifacts and documents may stay (`page_slack`)."

# Rows are emptied and not deleted. Where rows are deleted SQLite merges pages, and a page that it builds anew keeps in
# its unused part what was there before: text of neighbours, which no later erasure of theirs would reach, and which
# secure_delete does not clear. Rows that only shrink are never moved.
_EMPTY_VERSIONS = """WITH RECURSIVE versions(lsn) AS (
    SELECT value FROM json_each(?)
    UNION SELECT l.prev FROM log l JOIN versions v ON l.lsn = v.lsn WHERE l.prev IS NOT NULL
  ) UPDATE log SET id = NULL, body = NULL, vector = NULL, crc = NULL, prev = NULL WHERE lsn IN versions"""
_FIND_MESSAGES = "SELECT sequence, lsn, displayed_lsn FROM messages WHERE session = ? ORDER BY sequence LIMIT ?"
_FIND_VERSIONS = "SELECT lsn FROM erased_messages WHERE lsn IN (SELECT value FROM json_each(?)) LIMIT ?"
_FIND_TEXTS = """SELECT row_id, length(text) FROM texts
  WHERE row_id >= ? AND row_id <= ? AND text IS NOT NULL ORDER BY row_id LIMIT ?"""
_EMPTY_TEXTS = "UPDATE texts SET text = NULL, tokens = NULL, crc = NULL WHERE row_id >= ? AND row_id <= ?"


class OrphanedTexts(NamedTuple):
    """A range of `texts` that no document and no record refers to any more."""

    first: int
    last: int


class ErasedVersions(NamedTuple):
    """The newest versions of messages that were erased one by one. Each refers to its earlier versions."""

    lsns: Sequence[int]


Purge = int | OrphanedTexts | ErasedVersions
"What is to be purged: an erased session, by its row id, texts, or versions of messages."


class PendingPurge(NamedTuple):
    """A command's result, to be returned when all these purges are done.

    If the command deletes names, no copy of them is left after `clean_within` seconds (`page_slack`). With 0 the
    command waits for it.
    """

    purges: Sequence[Purge]
    result: Any
    clean_within: float = NEVER


def orphan_texts(transaction: Transaction, orphans: Sequence[OrphanedTexts]) -> Sequence[OrphanedTexts]:
    for orphan in orphans:
        transaction.add_statement("INSERT INTO orphaned_texts VALUES (?, ?)", *orphan)
    return orphans


class PurgeQueue:
    """Empties the rows of erased sessions, erased messages and orphaned texts, then truncates the write-ahead log.

    Erased content is unreachable as soon as its erasure is committed: no row of a session, document or record refers to
    it. Purging runs in steps of bounded size, so that other commands wait for one step at most. After a crash the next
    start continues with `erased_sessions`, `erased_messages` and `orphaned_texts`.
    """

    def __init__(
        self,
        connection: sqlite3.Connection,
        path: Path,
        disk_guard: DiskSpaceGuard,
        checkpointer: Checkpointer,
        slack: SlackCleaner,
    ) -> None:
        self._connection = connection
        self._path = path
        self._disk_guard = disk_guard
        self._checkpointer = checkpointer
        self._slack = slack
        self._queue = deque(_unfinished(connection))
        self._waiting: list[tuple[PendingCommand, Any]] = []
        self._waiting_for_names: list[tuple[PendingCommand, Any]] = []
        self._waiting_since = 0.0
        self._rows_per_step = MAX_ROWS_PER_STEP
        # A crash may have come between the last purge and the truncation of the write-ahead log. The truncation also
        # syncs what was recovered from the log, so that a retried Add may be acknowledged as a duplicate.
        self._needs_truncation = True
        self._clean_at = 0.0
        self._cleaned: list[tuple[PendingCommand, Any]] | None = None
        "The commands that wait for the cleaning that has begun; None if none has."

    def add(self, pending: PendingCommand, purge: PendingPurge) -> None:
        now = time.monotonic()
        if not self._waiting and not self._waiting_for_names:
            self._waiting_since = now
        self._list_for(purge, now).append((pending, purge.result))
        self._queue.extend(purge.purges)
        self._needs_truncation = True
        self._clean_at = min(self._clean_at, now + purge.clean_within)

    def _list_for(self, purge: PendingPurge, now: float) -> list[tuple[PendingCommand, Any]]:
        """Return where the command waits. One that deletes nothing waits for what an earlier one has left."""
        if not purge.purges and purge.clean_within and self._cleaned is not None:
            return self._cleaned
        if not purge.clean_within or (not purge.purges and self._clean_at <= now):
            return self._waiting_for_names
        return self._waiting

    def step(self) -> float | None:
        """Do one step; return in how many seconds the next is due, None if there is nothing to do."""
        if delay := self._rest_seconds():
            self._disk_guard.restore_ballast()
            return delay if delay < NEVER else None
        try:
            self._advance()
        except DiskFull:
            delay = self._make_room()
            if delay:
                self._refuse_overdue(DiskFull("erased, but there is no space to overwrite it; that is done later"))
            return delay
        except Overloaded as obstacle:
            # Another process reads the file for long, such as a backup, or this one has no free descriptor.
            self._refuse_overdue(Overloaded(f"erased, but not yet overwritten: {obstacle}; call again"))
            return RETRY_SECONDS
        except DataCorrupted as damage:
            self._give_up(damage)
        return 0.0

    def _rest_seconds(self) -> float:
        if self._queue or self._needs_truncation or self._cleaned is not None:
            return 0.0
        return max(0.0, self._clean_at - time.monotonic())

    def _refuse_overdue(self, obstacle: SidecarError) -> None:
        """Refuse the commands that have waited for long; their bytes are purged later."""
        if time.monotonic() > self._waiting_since + MAX_WAIT_SECONDS:
            self.refuse_all(obstacle)

    def _make_room(self) -> float:
        """Truncate the write-ahead log, which the failed step has filled, and take smaller steps."""
        can_shrink = self._rows_per_step > 1
        self._rows_per_step = max(1, self._rows_per_step // 4)
        return 0.0 if self._disk_guard.make_room(spend_ballast=True) or can_shrink else RETRY_SECONDS

    def refuse_all(self, error: SidecarError) -> None:
        for pending, _ in (*self._waiting, *self._waiting_for_names, *(self._cleaned or ())):
            if not pending.done:
                pending.complete(error=error)
        self._waiting.clear()
        self._waiting_for_names.clear()

    def _give_up(self, damage: DataCorrupted) -> None:
        """Stop purging until the next start; the tables still have what is to be purged."""
        log.error("purging cannot continue: %s", damage)
        self._queue.clear()
        self.refuse_all(damage)
        self._needs_truncation, self._clean_at, self._cleaned = False, NEVER, None

    def _advance(self) -> None:
        if self._cleaned is None and self._clean_at <= time.monotonic():
            self._begin_to_clean()
        is_walked = self._cleaned is not None and not self._slack.step()
        if self._queue:
            for _ in range(self._purge_some()):
                self._queue.popleft()
            self._rows_per_step = min(MAX_ROWS_PER_STEP, 2 * self._rows_per_step)
        elif is_walked:
            self._finish_cleaning()
        elif self._needs_truncation:
            self._checkpointer.truncate()
            self._truncated()

    def _begin_to_clean(self) -> None:
        self._checkpointer.track()
        self._slack.begin(self._connection)
        self._clean_at = NEVER
        self._cleaned, self._waiting_for_names = self._waiting_for_names, []

    def _finish_cleaning(self) -> None:
        self._slack.finish(self._connection, self._checkpointer.truncate_tracked())
        cleaned, self._cleaned = self._cleaned or [], None
        _complete(cleaned)
        self._truncated()

    def _truncated(self) -> None:
        self._needs_truncation = False
        waiting, self._waiting = self._waiting, []
        _complete(waiting)

    def _purge_some(self) -> int:
        """Purge one step's rows in one transaction; return how many purges are done.

        A purge that a power cut undoes is still in the tables that the next start reads.
        """
        with translated(self._path), without_sync(self._connection), rolled_back(self._connection):
            self._connection.execute("BEGIN IMMEDIATE")
            done = self._purge_rows()
            self._connection.execute("COMMIT")
        with translated(self._path):
            self._checkpointer.run_when_due()
        return done

    def _purge_rows(self) -> int:
        left = self._rows_per_step
        for done, purge in enumerate(self._queue):
            count = self._purge(purge, left)
            if count == left:
                return done
            self._remove(purge)
            left -= max(count, 1)
            if not left:
                return done + 1
        return len(self._queue)

    def _purge(self, purge: Purge, limit: int) -> int:
        """Purge at most `limit` rows, and return how many; fewer than `limit` are the last."""
        if isinstance(purge, OrphanedTexts):
            return self._empty_texts(purge, limit)
        if isinstance(purge, ErasedVersions):
            return self._empty_versions(purge, limit)
        return self._delete_messages(purge, limit)

    def _remove(self, purge: Purge) -> None:
        if isinstance(purge, OrphanedTexts):
            self._connection.execute("DELETE FROM orphaned_texts WHERE first = ?", (purge.first,))
        elif isinstance(purge, int):
            self._connection.execute("DELETE FROM erased_sessions WHERE row_id = ?", (purge,))

    def _delete_messages(self, session: int, limit: int) -> int:
        found = self._connection.execute(_FIND_MESSAGES, (session, limit)).fetchall()
        if found:
            lsns = [lsn for _, original_lsn, displayed_lsn in found for lsn in (original_lsn, displayed_lsn)]
            last_sequence, _, _ = found[-1]
            self._connection.execute(_EMPTY_VERSIONS, (json.dumps(lsns),))
            self._connection.execute(
                "DELETE FROM messages WHERE session = ? AND sequence <= ?", (session, last_sequence)
            )
        self._checkpointer.wrote(estimate_pages(2 * len(found)))
        return len(found)

    def _empty_versions(self, versions: ErasedVersions, limit: int) -> int:
        """Empty the versions and those before them. Each step removes its own from `erased_messages`."""
        found = self._connection.execute(_FIND_VERSIONS, (json.dumps(versions.lsns), limit)).fetchall()
        lsns = json.dumps([lsn for (lsn,) in found])
        self._connection.execute(_EMPTY_VERSIONS, (lsns,))
        self._connection.execute("DELETE FROM erased_messages WHERE lsn IN (SELECT value FROM json_each(?))", (lsns,))
        self._checkpointer.wrote(estimate_pages(2 * len(found)))
        return len(found)

    def _empty_texts(self, orphans: OrphanedTexts, limit: int) -> int:
        found = self._connection.execute(_FIND_TEXTS, (*orphans, limit)).fetchall()
        if found:
            (first, _), (last, _) = found[0], found[-1]
            self._connection.execute(_EMPTY_TEXTS, (first, last))
        self._checkpointer.wrote(estimate_pages(len(found), sum(size for _, size in found)))
        return len(found)


def _complete(waiting: Sequence[tuple[PendingCommand, Any]]) -> None:
    for pending, result in waiting:
        if not pending.done:
            pending.complete(result)


def _unfinished(connection: sqlite3.Connection) -> list[Purge]:
    """Return what an earlier process left to purge."""
    sessions: list[Purge] = [row_id for (row_id,) in connection.execute("SELECT row_id FROM erased_sessions")]
    versions = [lsn for (lsn,) in connection.execute("SELECT lsn FROM erased_messages")]
    messages: list[Purge] = [ErasedVersions(versions)] if versions else []
    texts = connection.execute("SELECT first, last FROM orphaned_texts")
    return sessions + messages + [OrphanedTexts(first, last) for first, last in texts]
