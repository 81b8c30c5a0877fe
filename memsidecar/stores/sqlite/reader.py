"""Read connections and queries."""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from queue import LifoQueue
from typing import Any, NamedTuple

from memsidecar.domain.errors import ShuttingDown
from memsidecar.domain.message import StoredMessage
from memsidecar.domain.session import Policy, SessionHead, SessionKey, Strategy
from memsidecar.stores.contract import (
    Calibration,
    LocatedMessage,
    MessagePage,
    MessageQuery,
    MessageVersions,
    Scope,
    SessionQuery,
)
from memsidecar.stores.sqlite import rows
from memsidecar.stores.sqlite.bookkeeping import find_calibration, find_watermark
from memsidecar.stores.sqlite.connection import READER_CACHE_KIB, connect, rolled_back, translated
from memsidecar.stores.sqlite.schema import LogKind
from memsidecar.stores.sqlite.session_commands import find_encodings

_CHUNK = 200
_SCANNED_BYTES = 4 << 20


_EVERY_MESSAGE = "{join} WHERE true"
_STILL_IN_WINDOW = f"{{join}} WHERE {rows.IN_WINDOW}"
_OLD_SYSTEM_MESSAGES = f"INDEXED BY system_messages {{join}} WHERE m.role = 1 AND {rows.IN_WINDOW}"


# A session's messages stand in the order of their sequences; across sessions the log itself is that order. Neither
# needs a sort, so that going through a scope page by page costs one walk and not one for each page.
_ONE_SESSION = """FROM sessions s CROSS JOIN messages m ON m.session = s.number
  WHERE s.namespace = ? AND s.user_id = coalesce(nullif(?, ''), s.user_id) AND s.session_id = ? AND m.first_lsn < ?
  ORDER BY m.sequence DESC"""
_IN_ORDER_OF_THE_LOG = f"""FROM log l CROSS JOIN sessions s ON s.number = l.session
  CROSS JOIN messages m ON m.session = l.session AND m.sequence = l.sequence
  WHERE {{narrowed}} AND l.kind = {int(LogKind.MESSAGE)} AND l.lsn < ? ORDER BY l.lsn DESC"""


class _Part(NamedTuple):
    """A stretch of a session, and which of its messages."""

    where: str
    after: int
    before: int


class Reader:
    """A few connections for many threads. A held read transaction would keep the write-ahead log from shrinking."""

    def __init__(self, path: Path, connections: int) -> None:
        self._path = path
        self._connections: LifoQueue[sqlite3.Connection | None] = LifoQueue()
        for _ in range(connections):
            self._connections.put(connect(path, READER_CACHE_KIB))
        self._count = connections

    @contextmanager
    def moment(self) -> Iterator[sqlite3.Connection]:
        """A connection inside one read transaction."""
        connection = self._connections.get()
        try:
            if connection is None:
                raise ShuttingDown()
            with translated(self._path), rolled_back(connection):
                connection.execute("BEGIN")
                yield connection
        finally:
            self._connections.put(connection)

    def close(self) -> None:
        """Wait for the readers that are under way; whoever comes later is refused."""
        for _ in range(self._count):
            if (connection := self._connections.get()) is not None:
                connection.close()
        self._connections.put(None)

    def head(self, key: SessionKey) -> SessionHead | None:
        with self.moment() as connection:
            return rows.find_head(connection, key)

    def message(self, key: SessionKey, message_id: str) -> MessageVersions | None:
        with self.moment() as connection:
            head = rows.find_head(connection, key)
            found = find_encodings(connection, self._path, head.row_id, message_id) if head else None
        return MessageVersions(head, found.original, found.displayed) if head and found else None

    def messages(self, key: SessionKey, selection: MessageQuery) -> MessagePage:
        with self.moment() as connection:
            head = rows.find_head(connection, key)
            if head is None:
                return MessagePage(None)
            found, cut = self._select(connection, head, selection)
        return MessagePage(head, found, cut)

    def _select(
        self, connection: sqlite3.Connection, head: SessionHead, selection: MessageQuery
    ) -> tuple[list[StoredMessage], bool]:
        """Walk the parts of the session in the asked order until the page is full."""
        found: list[StoredMessage] = []
        size = 0
        for part in self._parts(head, selection):
            for message in self._walk(connection, head, selection, part):
                size += len(message.body)
                if found and size > selection.max_bytes:
                    return found, True
                found.append(message)
                if len(found) == selection.limit:
                    return found, False
        return found, False

    def _parts(self, head: SessionHead, selection: MessageQuery) -> Sequence[_Part]:
        """The window is its system messages, wherever they stand, and what follows `window_start`.

        So that a session with a long pruned past is not walked through for the few messages that are left of it.
        """
        before = head.last_sequence + 1 if selection.before is None else selection.before
        if selection.include_pruned or not head.pruned_count:
            return (_Part(_EVERY_MESSAGE, selection.after, before),)
        start = head.window_start
        old = _Part(_OLD_SYSTEM_MESSAGES, selection.after, min(before, start))
        recent = _Part(_STILL_IN_WINDOW, max(selection.after, start - 1), before)
        return (recent, old) if selection.newest_first else (old, recent)

    def _walk(
        self, connection: sqlite3.Connection, head: SessionHead, selection: MessageQuery, part: _Part
    ) -> Iterator[StoredMessage]:
        columns, join = f"{rows.SHOWN}, x'', 0", ""
        if selection.bodies:
            columns, join = f"{rows.SHOWN}, l.body, l.crc", "JOIN log l ON l.lsn = m.shown_lsn"
        role = f"AND m.role = {int(selection.role)}" if selection.role else ""
        order = "DESC" if selection.newest_first else "ASC"
        found = connection.execute(
            f"""SELECT {columns} FROM messages m {part.where.format(join=join)} {role}
            AND m.session = ? AND m.sequence > ? AND m.sequence < ? ORDER BY m.sequence {order} LIMIT ?""",
            (head.row_id, part.after, part.before, selection.limit),
        )
        while chunk := found.fetchmany(_CHUNK):
            for row in chunk:
                yield rows.message_of(row, self._path)

    def exchange_end(self, key: SessionKey, exchange: int) -> int:
        with self.moment() as connection:
            head = rows.find_head(connection, key)
            (last,) = connection.execute(
                f"""SELECT coalesce(max(m.sequence), 0) FROM messages m
                WHERE m.session = ? AND m.exchange = ? AND m.exchange > 0 AND {rows.IN_WINDOW}""",
                (head.row_id if head else 0, exchange),
            ).fetchone()
        return int(last)

    def scan(self, scope: Scope, before_lsn: int | None, limit: int) -> list[LocatedMessage]:
        narrowed, parameters = _narrowed(scope)
        with self.moment() as connection:
            # Figures first, bodies after: a sort or a join that carried bodies would read every one of the scope.
            chosen = connection.execute(
                f"""SELECT {rows.WRITTEN}, m.lsn, m.first_lsn, s.namespace, s.session_id, s.number, s.user_id
                {_ONE_SESSION if scope.session_id else _IN_ORDER_OF_THE_LOG.format(narrowed=narrowed)} LIMIT ?""",
                (*parameters, 1 << 62 if before_lsn is None else before_lsn, limit),
            ).fetchall()
            return list(self._with_bodies(connection, chosen))

    def _with_bodies(self, connection: sqlite3.Connection, chosen: Sequence[Sequence[Any]]) -> Iterator[LocatedMessage]:
        size = 0
        for *figures, lsn, first_lsn, namespace, session_id, number, user_id in chosen:
            body = connection.execute("SELECT body, crc FROM log WHERE lsn = ?", (lsn,)).fetchone()
            message = rows.message_of((*figures, *body), self._path)
            yield LocatedMessage(first_lsn, SessionKey(namespace, session_id), message, number, user_id)
            size += len(message.body)
            if size > _SCANNED_BYTES:
                return

    def sessions(self, page: SessionQuery) -> list[SessionHead]:
        conditions, parameters = ["s.namespace = ?"], [page.namespace]
        if page.user_id:
            conditions.append("s.user_id = ?")
            parameters.append(page.user_id)
        after = page.after or (1 << 62, "")
        with self.moment() as connection:
            found = connection.execute(
                f"""{rows.HEADS} WHERE {" AND ".join(conditions)} AND (s.last_active_us, s.session_id) < (?, ?)
                ORDER BY s.last_active_us DESC, s.session_id DESC LIMIT ?""",
                (*parameters, *after, page.limit),
            ).fetchall()
        return [rows.head_of(row) for row in found]

    def default_policies(self) -> dict[str, Policy]:
        with self.moment() as connection:
            found = connection.execute(
                "SELECT namespace, auto_prune_tokens, strategy, model, summarize FROM policies WHERE session_id = ''"
            ).fetchall()
        return {row[0]: Policy(row[1], Strategy(row[2]), row[3], bool(row[4])) for row in found}

    def calibration(self, namespace: str, model: str) -> Calibration:
        with self.moment() as connection:
            return find_calibration(connection, namespace, model)

    def watermark(self, task: str, namespace: str) -> int:
        with self.moment() as connection:
            return find_watermark(connection, task, namespace)


def _narrowed(scope: Scope) -> tuple[str, list[str]]:
    if scope.session_id:
        return "", [scope.namespace, scope.user_id, scope.session_id]
    if scope.user_id:
        return "s.namespace = ? AND s.user_id = ?", [scope.namespace, scope.user_id]
    return "s.namespace = ?", [scope.namespace]
