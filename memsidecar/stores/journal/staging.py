"""What one transaction will do, decided before anything is written.

Commands are checked and given their sequences on the committer's thread, against what is published and what the same
transaction has staged before. Because the committer is the only writer, what a command reads here cannot change
before the transaction that follows. A command reads and refuses first and stages last: refused, it leaves no trace.
"""

import sqlite3
import time
import zlib
from collections.abc import Hashable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from memsidecar.domain.errors import NotYourSession
from memsidecar.domain.session import Head, SessionKey
from memsidecar.stores.contract import Advance, Append, Calibrate, Change, Command, Ticket, TrimNow
from memsidecar.stores.journal import rows
from memsidecar.stores.journal.identity import Known
from memsidecar.stores.journal.schema import Kind

# A message's own vector moves on to its newest encoding.
_INSERT_LOG = """INSERT INTO log(lsn, session, kind, sequence, time_us, id, body, crc, prev, vector)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, (SELECT vector FROM log WHERE lsn = ?))"""
_EMPTY_LOG = "UPDATE log SET body = NULL, crc = NULL, vector = NULL WHERE lsn = ?"


BODY_COLUMN = 12  # of a row of `incoming`


class Entry(NamedTuple):
    """What a command adds to the log; `prev` is the encoding of the same message that it supersedes."""

    kind: Kind
    body: bytes = b""
    sequence: int | None = None
    message_id: str | None = None
    prev: int | None = None


class Numbers(NamedTuple):
    """The last lsn that was given out, and the next session's number."""

    lsn: int
    session: int


class Stage:
    """One transaction in the making."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        path: Path,
        published: dict[SessionKey, Head],
        numbers: Numbers,
    ) -> None:
        self.connection = connection
        self.path = path
        self.lsn, self.next_number = numbers
        self.now_us = time.time_ns() // 1000
        self.known: dict[tuple[int, str], Known] = {}
        self.revived: set[tuple[int, int]] = set()
        self.heads: dict[SessionKey, Head | None] = {}
        self.message_rows: list[Sequence[Any]] = []
        self.statements: list[tuple[str, Sequence[Any]]] = []
        self.changes: list[Change] = []
        self.outcomes: list[tuple[Ticket, Any]] = []
        self._published = published
        self._appended_to: set[Hashable] = set()
        self._closed: set[Hashable] = set()

    def admits(self, command: Command) -> bool:
        """Whether the command would see the effects of all before it; if so, its place is taken.

        Lookups read the last committed state, so a session is either only appended to in one transaction, or
        changed by one other command. A trim that decides by itself reads as everybody does: it comes first, or waits.
        """
        touched = _touched(command)
        if touched in self._closed or (isinstance(command, TrimNow) and not self._is_empty):
            return False
        if isinstance(command, Append):
            self._appended_to.add(touched)
            return True
        self._closed.add(touched)
        return touched not in self._appended_to

    @property
    def _is_empty(self) -> bool:
        return not self._appended_to and not self._closed

    def head(self, key: SessionKey) -> Head | None:
        if key in self.heads:
            return self.heads[key]
        head = self._published.get(key)
        if head is None:
            head = rows.find_head(self.connection, key)
            if head is not None:
                self._published[key] = head
        return head

    def new(self, key: SessionKey, user_id: str) -> Head:
        return Head(key, self.next_number, user_id, create_time_us=self.now_us, last_active_us=self.now_us)

    @property
    def body_bytes(self) -> int:
        return sum([len(row[BODY_COLUMN]) for row in self.message_rows])

    def do(self, statement: str, *parameters: Any) -> None:
        self.statements.append((statement, parameters))

    def log(self, head: Head, entry: Entry) -> int:
        """Write an entry of the session, which is then the head's version.

        An encoding that it supersedes keeps its place in the log and loses its body.
        """
        self.lsn += 1
        place = (self.lsn, head.number, entry.kind, entry.sequence, self.now_us)
        self.do(_INSERT_LOG, *place, entry.message_id, entry.body, zlib.crc32(entry.body), entry.prev, entry.prev)
        if entry.prev is not None:
            self.do(_EMPTY_LOG, entry.prev)
        head.version, head.last_active_us = self.lsn, self.now_us
        return self.lsn

    def keep(self, head: Head) -> None:
        """Write the session's row as a whole."""
        if head.number == self.next_number:
            self.next_number += 1
            self.do(rows.INSERT_SESSION, *rows.session_row(head))
        else:
            self.do(rows.SAVE_SESSION, *rows.saved_columns(head))
        self.heads[head.key] = head


def owned(head: Head, user_id: str) -> Head:
    """A copy that may be changed; the first request that names a user makes the session theirs."""
    if user_id and head.user_id and user_id != head.user_id:
        raise NotYourSession()
    head = head.copy()
    head.user_id = head.user_id or user_id
    return head


def _touched(command: Command) -> Hashable:
    if isinstance(command, Calibrate):
        return (command.namespace, command.model, "calibration")
    if isinstance(command, Advance):
        return (command.task, command.namespace, "watermark")
    return command.key
