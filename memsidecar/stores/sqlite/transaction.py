"""A transaction in the making: the statements, heads, events and results of a group of commands."""

import sqlite3
import time
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from memsidecar.domain.quota import Usage
from memsidecar.domain.session import SessionHead, SessionKey, is_claim
from memsidecar.stores.append_batch import ExistingMessage
from memsidecar.stores.command_group import CommandGroup
from memsidecar.stores.contract import CommitEvent, ErasedNames, PendingCommand
from memsidecar.stores.log_kinds import LogKind
from memsidecar.stores.sqlite import rows
from memsidecar.stores.sqlite.data_dir import LogPosition
from memsidecar.stores.sqlite.schema import FIRST_NAMESPACED_KIND
from memsidecar.stores.sqlite.writer_state import QuotaUsage

# The vector of a message moves on to its newest version.
_INSERT_LOG = """INSERT INTO log(lsn, session, kind, sequence, time_us, id, body, crc, prev, vector)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, (SELECT vector FROM log WHERE lsn = ?))"""
_EMPTY_LOG = "UPDATE log SET body = NULL, crc = NULL, vector = NULL WHERE lsn = ?"
SAVE_LAST_LSN = "INSERT INTO last_lsns VALUES (?, ?) ON CONFLICT(namespace) DO UPDATE SET lsn = excluded.lsn"
# Each group size is a statement of its own, which stays prepared: larger groups would add up to tens of megabytes.
ROWS_PER_STATEMENT = 32
BODY_COLUMN = 12  # of a row of `new_messages`

Statement = tuple[str, Sequence[Any] | dict[str, Any]]


class Entry(NamedTuple):
    """A log entry of a command. `prev` is the lsn of the version of the same message that it supersedes.

    `id` is the message's, or the namespace for kinds from FIRST_NAMESPACED_KIND on.
    """

    kind: LogKind
    body: bytes = b""
    sequence: int | None = None
    id: str | None = None
    prev: int | None = None


class NextIds(NamedTuple):
    """The position of the journal, and the next row ids of a session, a document and a text."""

    position: LogPosition
    session: int
    document: int
    text: int


class Transaction:
    """One transaction in the making. Command handlers add to it; the writer executes it."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        path: Path,
        published_heads: dict[SessionKey, SessionHead],
        next_ids: NextIds,
        quota_usage: QuotaUsage,
    ) -> None:
        self.connection = connection
        self.path = path
        self._before, self.next_session, self.next_document, self.next_text = next_ids
        self.lsn = self._before.lsn
        self.now_us = time.time_ns() // 1000
        self.existing: dict[tuple[int, str], ExistingMessage] = {}
        self.revived: set[tuple[int, int]] = set()
        self.heads: dict[SessionKey, SessionHead | None] = {}
        self.message_rows: list[Sequence[Any]] = []
        self.new_ids: list[tuple[int, int]] = []
        self.statements: list[Statement] = []
        self.events: list[CommitEvent] = []
        self.logged_namespaces: set[str] = set()
        self.erasures: list[ErasedNames] = []
        self.results: list[tuple[PendingCommand, Any]] = []
        self.deleted_records: set[int] = set()
        self.usage: dict[str, Usage] = {}
        self._quota_usage = quota_usage
        self._published_heads = published_heads
        self.can_include = CommandGroup().can_include
        self._rows_in_statements = 0
        self.text_bytes = 0

    @property
    def next_ids(self) -> NextIds:
        return NextIds(self.position, self.next_session, self.next_document, self.next_text)

    @property
    def position(self) -> LogPosition:
        """The position of the journal after this transaction."""
        return LogPosition(self.lsn, self._before.unlogged + (bool(self.statements) and self.lsn == self._before.lsn))

    def head(self, key: SessionKey) -> SessionHead | None:
        if key in self.heads:
            return self.heads[key]
        head = self._published_heads.get(key)
        if head is None:
            head = rows.find_head(self.connection, key)
            if head is not None:
                self._published_heads[key] = head
        return head

    def new_session(self, key: SessionKey, user_id: str) -> SessionHead:
        return SessionHead(key, self.next_session, user_id, create_time_us=self.now_us, last_active_us=self.now_us)

    def reserve_quota(self, namespace: str, change: Usage, *, refusable: bool = True) -> None:
        """Add a change to the namespace's usage; QuotaExceeded, and nothing is added, if it grows beyond the quota.

        A handler calls it after all other checks and before it adds anything.
        """
        after = (self.usage.get(namespace) or self._quota_usage.usage(namespace)).plus(change)
        if refusable:
            self._quota_usage.quotas(namespace).check(after, change)
        self.usage[namespace] = after

    @property
    def body_bytes(self) -> int:
        return sum([len(row[BODY_COLUMN]) for row in self.message_rows]) + self.text_bytes

    def add_statement(self, statement: str, *parameters: Any) -> None:
        self.statements.append((statement, parameters))

    def all_statements(self) -> Iterator[Statement]:
        """Yield all statements in order. A transaction without a log entry is counted, so that its loss is noticed."""
        yield from self.statements
        yield from self._remaining_insertions()
        if self.position.unlogged > self._before.unlogged:
            yield rows.SAVE_UNLOGGED, (self.position.unlogged,)

    def _remaining_insertions(self) -> Iterator[Statement]:
        """Yield the insertions of messages that come after all statements."""
        for start in range(self._rows_in_statements, len(self.message_rows), ROWS_PER_STATEMENT):
            yield insertion(self.message_rows[start : start + ROWS_PER_STATEMENT])

    def write_entry(self, row_id: int, entry: Entry) -> int:
        """Add a log entry after the messages that were added before it, and return its lsn.

        A superseded version of a message keeps its log entry and loses its body.
        """
        self.statements += self._remaining_insertions()
        self._rows_in_statements = len(self.message_rows)
        self.lsn += 1
        self.add_statement(
            _INSERT_LOG,
            self.lsn,
            row_id,
            entry.kind,
            entry.sequence,
            self.now_us,
            entry.id,
            entry.body,
            zlib.crc32(entry.body),
            entry.prev,
            entry.prev,
        )
        if entry.prev is not None:
            self.add_statement(_EMPTY_LOG, entry.prev)
        if entry.kind >= FIRST_NAMESPACED_KIND:
            self.add_statement(SAVE_LAST_LSN, entry.id, self.lsn)
        return self.lsn

    def log_entry(self, head: SessionHead, entry: Entry) -> int:
        """Add a log entry of the session; its lsn becomes the head's version."""
        head.version, head.last_active_us = self.write_entry(head.row_id, entry), self.now_us
        return head.version

    def log_claim(self, before: SessionHead, head: SessionHead) -> None:
        """Log that the session has a user now, for the consumers of the change feed."""
        if is_claim(before, head):
            self.log_entry(head, Entry(LogKind.CLAIM))

    def add_texts(self, texts: Sequence[tuple[bytes, int]]) -> int:
        """Add texts, with their tokens, at consecutive row ids, and return the first.

        Like messages, many are added with one statement: all writes wait for this transaction.
        """
        first, self.next_text = self.next_text, self.next_text + len(texts)
        text_rows = [(row_id, text, tokens, zlib.crc32(text)) for row_id, (text, tokens) in enumerate(texts, first)]
        for start in range(0, len(texts), ROWS_PER_STATEMENT):
            self.statements.append(_insertion("texts", text_rows[start : start + ROWS_PER_STATEMENT]))
        self.text_bytes += sum([len(text) for text, _ in texts])
        return first

    def save_session(self, head: SessionHead) -> None:
        """Write the whole row of the session."""
        if head.row_id == self.next_session:
            self.next_session += 1
            self.add_statement(rows.INSERT_SESSION, *rows.session_row(head))
        else:
            self.add_statement(rows.SAVE_SESSION, *rows.session_update(head))
        self.heads[head.key] = head


def insertion(message_rows: Sequence[Sequence[Any]]) -> Statement:
    return _insertion("new_messages", message_rows)


def _insertion(table: str, new_rows: Sequence[Sequence[Any]]) -> Statement:
    parameters: list[Any] = []
    for row in new_rows:
        parameters += row
    placeholders = f"({', '.join('?' * len(new_rows[0]))})"
    return f"INSERT INTO {table} VALUES {', '.join([placeholders] * len(new_rows))}", parameters
