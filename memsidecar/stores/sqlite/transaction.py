"""Transaction being built."""

import sqlite3
import time
import zlib
from collections.abc import Callable, Hashable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from memsidecar.domain.errors import SessionOwnerMismatch
from memsidecar.domain.quota import Usage
from memsidecar.domain.session import SessionHead, SessionKey
from memsidecar.stores.contract import (
    AddDeadLetter,
    AdvanceWatermark,
    Append,
    Calibrate,
    Command,
    CommitEvent,
    DeleteDocument,
    DeleteRecord,
    Erase,
    Owner,
    PendingCommand,
    PutDocument,
    UpdateWindowExclusive,
    UpsertRecords,
)
from memsidecar.stores.sqlite import rows
from memsidecar.stores.sqlite.data_dir import LogPosition
from memsidecar.stores.sqlite.schema import FIRST_NAMESPACED_KIND, LogKind
from memsidecar.stores.sqlite.writer_state import ExistingMessage, QuotaUsage

# A message's own vector moves on to its newest encoding.
_INSERT_LOG = """INSERT INTO log(lsn, session, kind, sequence, time_us, id, body, crc, prev, vector)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, (SELECT vector FROM log WHERE lsn = ?))"""
_EMPTY_LOG = "UPDATE log SET body = NULL, crc = NULL, vector = NULL WHERE lsn = ?"
_MOVE_TAIL = "INSERT INTO tails VALUES (?, ?) ON CONFLICT(namespace) DO UPDATE SET lsn = excluded.lsn"
# Each size of group is a statement of its own, which stays prepared: larger ones would add up to tens of megabytes.
ROWS_PER_STATEMENT = 32
BODY_COLUMN = 12  # of a row of `incoming`

Statement = tuple[str, Sequence[Any]]


class Entry(NamedTuple):
    """What a command adds to the log; `prev` is the encoding of the same message that it supersedes.

    `id` is the message's, or the namespace of an entry that must tell it by itself.
    """

    kind: LogKind
    body: bytes = b""
    sequence: int | None = None
    id: str | None = None
    prev: int | None = None


class NextIds(NamedTuple):
    """How far the journal has come, and the next numbers for a session, a document and a text."""

    extent: LogPosition
    session: int
    document: int
    text: int


class Transaction:
    """One transaction in the making."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        path: Path,
        published: dict[SessionKey, SessionHead],
        numbers: NextIds,
        meter: QuotaUsage,
    ) -> None:
        self.connection = connection
        self.path = path
        self._before, self.next_number, self.next_document, self.next_text = numbers
        self.lsn = self._before.lsn
        self.now_us = time.time_ns() // 1000
        self.known: dict[tuple[int, str], ExistingMessage] = {}
        self.revived: set[tuple[int, int]] = set()
        self.heads: dict[SessionKey, SessionHead | None] = {}
        self.message_rows: list[Sequence[Any]] = []
        self.statements: list[Statement] = []
        self.changes: list[CommitEvent] = []
        self.outcomes: list[tuple[PendingCommand, Any]] = []
        self.dropped_notes: set[int] = set()
        self.used: dict[str, Usage] = {}
        self._meter = meter
        self._published = published
        self._appended_to: set[Hashable] = set()
        self._closed: set[Hashable] = set()
        self._erases: bool | None = None
        self._rows_in_statements = 0
        self._text_bytes = 0

    @property
    def numbers(self) -> NextIds:
        return NextIds(self.extent, self.next_number, self.next_document, self.next_text)

    @property
    def extent(self) -> LogPosition:
        """How far the journal has come with this transaction."""
        return LogPosition(self.lsn, self._before.unlogged + (bool(self.statements) and self.lsn == self._before.lsn))

    def admits(self, command: Command) -> bool:
        """Whether the command would see the effects of all before it; if so, its place is taken.

        Lookups read the last committed state, so a session is either only appended to in one transaction, or
        changed by one other command. A trim that decides by itself reads as everybody does: it comes first, or waits.
        """
        touched = _touched(command)
        if touched in self._closed or (isinstance(command, UpdateWindowExclusive) and not self._is_empty):
            return False
        if isinstance(command, Append):
            self._appended_to.add(touched)
            return True
        self._closed.add(touched)
        return touched not in self._appended_to and self._keeps_apart(command)

    def _keeps_apart(self, command: Command) -> bool:
        """Whether this transaction has notes or erasures, and not both.

        Of which session a note is made is known when it is staged, and not before. An erasure would miss a note that
        was staged before it, and a note could be made of what an erasure before it takes.
        """
        if not isinstance(command, Erase | UpsertRecords | DeleteRecord):
            return True
        erases = isinstance(command, Erase)
        if self._erases is None:
            self._erases = erases
        return self._erases == erases

    @property
    def _is_empty(self) -> bool:
        return not self._appended_to and not self._closed

    def head(self, key: SessionKey) -> SessionHead | None:
        if key in self.heads:
            return self.heads[key]
        head = self._published.get(key)
        if head is None:
            head = rows.find_head(self.connection, key)
            if head is not None:
                self._published[key] = head
        return head

    def new(self, key: SessionKey, user_id: str) -> SessionHead:
        return SessionHead(key, self.next_number, user_id, create_time_us=self.now_us, last_active_us=self.now_us)

    def book(self, namespace: str, change: Usage, *, refusable: bool = True) -> None:
        """Take a change into what the namespace keeps; QuotaExceeded, and nothing is taken, if it grows too much.

        The last thing that may refuse a command, and so the first that it stages.
        """
        after = (self.used.get(namespace) or self._meter.usage(namespace)).plus(change)
        if refusable:
            self._meter.quotas(namespace).check(after, change)
        self.used[namespace] = after

    @property
    def body_bytes(self) -> int:
        return sum([len(row[BODY_COLUMN]) for row in self.message_rows]) + self._text_bytes

    def do(self, statement: str, *parameters: Any) -> None:
        self.statements.append((statement, parameters))

    def in_order(self) -> Iterator[Statement]:
        """All that it does; if it leaves no entry in the log, it is counted, so that its loss is noticed, too."""
        yield from self.statements
        yield from self._rest()
        if self.extent.unlogged > self._before.unlogged:
            yield rows.COUNT_UNLOGGED, (self.extent.unlogged,)

    def _rest(self) -> Iterator[Statement]:
        """What inserts the messages that come after all statements."""
        for start in range(self._rows_in_statements, len(self.message_rows), ROWS_PER_STATEMENT):
            yield insertion(self.message_rows[start : start + ROWS_PER_STATEMENT])

    def write(self, number: int, entry: Entry) -> int:
        """Write an entry of the log, behind the messages that were staged before it: the log grows at its end only.

        An encoding that it supersedes keeps its place in the log and loses its body.
        """
        self.statements += self._rest()
        self._rows_in_statements = len(self.message_rows)
        self.lsn += 1
        place = (self.lsn, number, entry.kind, entry.sequence, self.now_us)
        self.do(_INSERT_LOG, *place, entry.id, entry.body, zlib.crc32(entry.body), entry.prev, entry.prev)
        if entry.prev is not None:
            self.do(_EMPTY_LOG, entry.prev)
        if entry.kind >= FIRST_NAMESPACED_KIND:
            self.do(_MOVE_TAIL, entry.id, self.lsn)
        return self.lsn

    def log(self, head: SessionHead, entry: Entry) -> int:
        """Write an entry of the session, which is then the head's version."""
        head.version, head.last_active_us = self.write(head.row_id, entry), self.now_us
        return head.version

    def claim(self, before: SessionHead, head: SessionHead) -> None:
        """Tell those who follow the log that a session has a user now."""
        if is_claim(before, head):
            self.log(head, Entry(LogKind.CLAIM))

    def add_texts(self, texts: Sequence[tuple[bytes, int]]) -> int:
        """Write texts, with their tokens, one behind the other; the number of the first.

        Many with one statement, as it is done with messages: everybody's writes wait for this transaction.
        """
        first, self.next_text = self.next_text, self.next_text + len(texts)
        text_rows = [(at, text, tokens, zlib.crc32(text)) for at, (text, tokens) in enumerate(texts, first)]
        for start in range(0, len(texts), ROWS_PER_STATEMENT):
            self.statements.append(_insertion("texts", text_rows[start : start + ROWS_PER_STATEMENT]))
        self._text_bytes += sum([len(text) for text, _ in texts])
        return first

    def keep(self, head: SessionHead) -> None:
        """Write the session's row as a whole."""
        if head.row_id == self.next_number:
            self.next_number += 1
            self.do(rows.INSERT_SESSION, *rows.session_row(head))
        else:
            self.do(rows.SAVE_SESSION, *rows.saved_columns(head))
        self.heads[head.key] = head


def owned(head: SessionHead, user_id: str) -> SessionHead:
    """A copy that may be changed; the first request that names a user makes the session theirs."""
    if user_id and head.user_id and user_id != head.user_id:
        raise SessionOwnerMismatch()
    head = head.copy()
    head.user_id = head.user_id or user_id
    return head


def is_claim(before: SessionHead, after: SessionHead) -> bool:
    """Whether what was nobody's became somebody's: its messages, and what is known of it without any."""
    return after.user_id != before.user_id


def insertion(message_rows: Sequence[Sequence[Any]]) -> Statement:
    return _insertion("incoming", message_rows)


def _insertion(table: str, new_rows: Sequence[Sequence[Any]]) -> Statement:
    parameters: list[Any] = []
    for row in new_rows:
        parameters += row
    places = f"({', '.join('?' * len(new_rows[0]))})"
    return f"INSERT INTO {table} VALUES {', '.join([places] * len(new_rows))}", parameters


def _owned_place(owner: Owner, name: Hashable) -> Hashable:
    """A session's documents and notes go with the session, so they take its place."""
    return SessionKey(owner.namespace, owner.session_id) if owner.session_id else (*owner, name)


_TOUCHED: dict[type, Callable[[Any], Hashable]] = {
    Calibrate: lambda command: (command.namespace, command.model, "calibration"),
    AdvanceWatermark: lambda command: (command.task, command.namespace, "watermark"),
    AddDeadLetter: lambda command: (command.task, command.namespace, command.lsn),
    PutDocument: lambda command: _owned_place(command.document.owner, command.document.id),
    DeleteDocument: lambda command: _owned_place(command.owner, command.document_id),
    UpsertRecords: lambda command: _owned_place(command.owner, command.kind),
    DeleteRecord: lambda command: _owned_place(command.owner, command.kind),
}


def _touched(command: Any) -> Hashable:
    """What no two commands of one transaction may both change, unless they append to it."""
    touched = _TOUCHED.get(type(command))
    return command.key if touched is None else touched(command)
