"""Read connections, and the queries of sessions and messages."""

import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from queue import LifoQueue
from typing import Any

from memsidecar.domain.errors import ShuttingDown
from memsidecar.domain.message import StoredMessage
from memsidecar.domain.session import Policy, SessionHead, SessionKey
from memsidecar.domain.statistics import Distribution
from memsidecar.stores.contract import (
    Calibration,
    LocatedMessage,
    MessagePage,
    MessageQuery,
    MessageVersions,
    Scope,
    SessionQuery,
)
from memsidecar.stores.log_kinds import LogKind
from memsidecar.stores.message_pages import RangeContent, SequenceRange, read_ranges
from memsidecar.stores.session_rows import head_of, policy_of
from memsidecar.stores.sqlite import rows
from memsidecar.stores.sqlite.connection import READER_CACHE_KIB, connect, rolled_back, translated
from memsidecar.stores.sqlite.session_commands import find_versions
from memsidecar.stores.sqlite.task_state import find_calibration, find_watermark

_FETCH_ROWS = 200
_BODY = "SELECT body, crc FROM log WHERE lsn = ? AND session = ? AND sequence = ?"
_MAX_SCAN_BYTES = 4 << 20
_MAX_INTEGER = (1 << 63) - 1
"The largest integer of SQLite: above every lsn and time."

_SELECTED = {
    RangeContent.ALL: "{join} WHERE true",
    RangeContent.WINDOW: f"{{join}} WHERE {rows.IN_WINDOW}",
    RangeContent.SYSTEM: f"INDEXED BY system_messages {{join}} WHERE m.role = 1 AND {rows.IN_WINDOW}",
}

# The messages of a session are stored in sequence order; across sessions the log is in that order. Neither needs a
# sort, so that all pages of a scan together cost one walk.
_ONE_SESSION = """FROM sessions s CROSS JOIN messages m ON m.session = s.row_id
  WHERE s.namespace = ? AND s.user_id = coalesce(nullif(?, ''), s.user_id) AND s.session_id = ? AND m.first_lsn < ?
  ORDER BY m.sequence DESC"""
_ALL_SESSIONS = f"""FROM log l CROSS JOIN sessions s ON s.row_id = l.session
  CROSS JOIN messages m ON m.session = l.session AND m.sequence = l.sequence
  WHERE {{conditions}} AND l.kind = {int(LogKind.MESSAGE)} AND l.lsn < ? ORDER BY l.lsn DESC"""


class Reader:
    """A few connections for many threads. A read transaction that is held keeps the log from shrinking."""

    def __init__(self, path: Path, connections: int, seconds: Distribution) -> None:
        self._path = path
        self._seconds = seconds
        self._connections: LifoQueue[sqlite3.Connection | None] = LifoQueue()
        for _ in range(connections):
            self._connections.put(connect(path, READER_CACHE_KIB))
        self._count = connections

    @contextmanager
    def snapshot(self) -> Iterator[sqlite3.Connection]:
        """Yield a connection inside one read transaction."""
        connection = self._connections.get()
        try:
            if connection is None:
                raise ShuttingDown()
            start = time.perf_counter()
            with translated(self._path), rolled_back(connection):
                connection.execute("BEGIN")
                yield connection
            self._seconds.observe(time.perf_counter() - start)
        finally:
            self._connections.put(connection)

    def close(self) -> None:
        """Wait for the current reads; later ones are refused with ShuttingDown."""
        for _ in range(self._count):
            if (connection := self._connections.get()) is not None:
                connection.close()
        self._connections.put(None)

    def head(self, key: SessionKey) -> SessionHead | None:
        with self.snapshot() as connection:
            return rows.find_head(connection, key)

    def message(self, key: SessionKey, message_id: str) -> MessageVersions | None:
        with self.snapshot() as connection:
            head = rows.find_head(connection, key)
            found = find_versions(connection, self._path, head.row_id, message_id) if head else None
        return MessageVersions(head, found.original, found.displayed) if head and found else None

    def messages(self, key: SessionKey, query: MessageQuery) -> MessagePage:
        with self.snapshot() as connection:
            head = rows.find_head(connection, key)
            if head is None:
                return MessagePage(None)
            found, truncated = read_ranges(head, query, partial(self._read_range, connection, head, query))
        return MessagePage(head, found, truncated)

    def _read_range(
        self, connection: sqlite3.Connection, head: SessionHead, query: MessageQuery, sequences: SequenceRange
    ) -> Iterator[StoredMessage]:
        columns, join = f"{rows.DISPLAYED}, x'', 0", ""
        if query.bodies:
            columns, join = f"{rows.DISPLAYED}, l.body, l.crc", f"LEFT {rows.JOIN_DISPLAYED_BODY}"
        role = f"AND m.role = {int(query.role)}" if query.role else ""
        order = "DESC" if query.newest_first else "ASC"
        found = connection.execute(
            f"""SELECT {columns} FROM messages m {_SELECTED[sequences.content].format(join=join)} {role}
            AND m.session = ? AND m.sequence > ? AND m.sequence < ? ORDER BY m.sequence {order} LIMIT ?""",
            (head.row_id, sequences.after, sequences.before, query.limit),
        )
        while batch := found.fetchmany(_FETCH_ROWS):
            for row in batch:
                yield rows.message_of(row, self._path)

    def exchange_end(self, key: SessionKey, exchange: int) -> int:
        with self.snapshot() as connection:
            head = rows.find_head(connection, key)
            (last,) = connection.execute(
                f"""SELECT coalesce(max(m.sequence), 0) FROM messages m
                WHERE m.session = ? AND m.exchange = ? AND m.exchange > 0 AND {rows.IN_WINDOW}""",
                (head.row_id if head else 0, exchange),
            ).fetchone()
        return int(last)

    def scan(self, scope: Scope, before_lsn: int | None, limit: int) -> list[LocatedMessage]:
        conditions, parameters = _scope_conditions(scope)
        with self.snapshot() as connection:
            # Columns first, bodies after: a sort or a join with bodies would read every body of the scope.
            selected = connection.execute(
                f"""SELECT {rows.ORIGINAL}, m.lsn, m.first_lsn, s.namespace, s.session_id, s.row_id, s.user_id
                {_ONE_SESSION if scope.session_id else _ALL_SESSIONS.format(conditions=conditions)} LIMIT ?""",
                (*parameters, _MAX_INTEGER if before_lsn is None else before_lsn, limit),
            ).fetchall()
            return list(self._with_bodies(connection, selected))

    def _with_bodies(
        self, connection: sqlite3.Connection, selected: Sequence[Sequence[Any]]
    ) -> Iterator[LocatedMessage]:
        size = 0
        for sequence, *columns, lsn, first_lsn, namespace, session_id, session, user_id in selected:
            found = connection.execute(_BODY, (lsn, session, sequence)).fetchone()
            message = rows.message_of((sequence, *columns, *(found or (None, None))), self._path)
            yield LocatedMessage(first_lsn, SessionKey(namespace, session_id), message, session, user_id)
            size += len(message.body)
            if size > _MAX_SCAN_BYTES:
                return

    def sessions(self, query: SessionQuery) -> list[SessionHead]:
        conditions, parameters = ["s.namespace = ?"], [query.namespace]
        if query.user_id:
            conditions.append("s.user_id = ? AND s.user_id <> ''")
            parameters.append(query.user_id)
        after = query.after or (_MAX_INTEGER, "")
        with self.snapshot() as connection:
            found = connection.execute(
                f"""{rows.HEADS} WHERE {" AND ".join(conditions)} AND (s.last_active_us, s.session_id) < (?, ?)
                ORDER BY s.last_active_us DESC, s.session_id DESC LIMIT ?""",
                (*parameters, *after, query.limit),
            ).fetchall()
        return [head_of(row) for row in found]

    def default_policies(self) -> dict[str, Policy]:
        with self.snapshot() as connection:
            found = connection.execute(
                """SELECT namespace, auto_prune_tokens, strategy, model, summarize, retention FROM policies
                WHERE session_id = ''"""
            ).fetchall()
        policies = {namespace: policy_of(*columns) for namespace, *columns in found}
        return {namespace: policy for namespace, policy in policies.items() if policy is not None}

    def calibration(self, namespace: str, model: str) -> Calibration:
        with self.snapshot() as connection:
            return find_calibration(connection, namespace, model)

    def watermark(self, task: str, namespace: str) -> int:
        with self.snapshot() as connection:
            return find_watermark(connection, task, namespace)


def _scope_conditions(scope: Scope) -> tuple[str, list[str]]:
    if scope.session_id:
        return "", [scope.namespace, scope.user_id, scope.session_id]
    if scope.user_id:
        return "s.namespace = ? AND s.user_id = ?", [scope.namespace, scope.user_id]
    return "s.namespace = ?", [scope.namespace]
