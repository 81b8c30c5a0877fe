"""Read_changes, tails, lookups by lsn."""

import json
import sqlite3
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from memsidecar.domain.session import SessionHead, SessionKey
from memsidecar.stores.contract import (
    DocumentWritten,
    EndOfLog,
    LocatedMessage,
    LogEntry,
    LogFilter,
    MessageWritten,
    NoOp,
    RowsErased,
    SessionClaimed,
)
from memsidecar.stores.contract.change_feed import MAX_BATCH_BYTES, entry_bytes
from memsidecar.stores.sqlite import rows
from memsidecar.stores.sqlite.documents import read_version
from memsidecar.stores.sqlite.schema import FIRST_NAMESPACED_KIND, LogKind

# How much of the log is walked in one read transaction: other namespaces' entries are passed one by one, and there may
# be millions of them.
PAGE_ENTRIES = 16_384

# In the order of the log itself, from where the reader stands: no index, no sort, no walk through the namespace.
_ENTRIES = f"""SELECT l.lsn, l.kind, l.session, l.sequence, s.namespace, s.session_id, s.user_id
  FROM log l NOT INDEXED LEFT JOIN sessions s ON s.number = l.session
  WHERE l.lsn > :after AND l.lsn <= :end
    AND (s.namespace = :namespace OR (l.kind >= {FIRST_NAMESPACED_KIND} AND l.id = :namespace))"""
_IN_ORDER = "ORDER BY l.lsn LIMIT :limit"
_SAID = f"{int(LogKind.MESSAGE)}, {int(LogKind.ANNOTATION)}, {int(LogKind.CLAIM)}"
_ERASED = f"{int(LogKind.CLEAR)}, {int(LogKind.DELETE)}, {int(LogKind.DROP)}"
_HEARD = f"""AND (l.kind IN ({_ERASED}) OR (l.kind = {int(LogKind.DOCUMENT)} AND :documents)
  OR (l.kind IN ({_SAID}) AND (s.user_id = nullif(:user_id, '') OR s.number = :session)))"""
_OF_ALL, _OF_SOME = f"{_ENTRIES} {_IN_ORDER}", f"{_ENTRIES} {_HEARD} {_IN_ORDER}"
_COLUMNS = f"{rows.WRITTEN}, w.body, w.crc, w.vector, m.first_lsn, s.number, s.namespace, s.session_id, s.user_id"
_MESSAGES = f"""SELECT {_COLUMNS} FROM sessions s CROSS JOIN messages m ON m.session = s.number
  CROSS JOIN log w ON w.lsn = m.lsn WHERE s.number = ?"""
_FIRST_SAID = f"""SELECT {_COLUMNS} FROM json_each(?) asked CROSS JOIN log l ON l.lsn = asked.value
  CROSS JOIN sessions s ON s.number = l.session
  CROSS JOIN messages m ON m.session = l.session AND m.sequence = l.sequence AND m.first_lsn = l.lsn
  CROSS JOIN log w ON w.lsn = m.lsn"""
_NEWEST_TOLD = "SELECT first_lsn FROM messages WHERE session = ? AND sequence <= ? ORDER BY sequence DESC LIMIT 1"
_TAILS = """SELECT namespace, max(version) FROM sessions WHERE version > 0 GROUP BY namespace
  UNION ALL SELECT namespace, lsn FROM tails"""


class _Entry(NamedTuple):
    """An entry without what it says; `key` and `user_id` only where the session is still there."""

    lsn: int
    kind: int
    session: int
    sequence: int
    key: SessionKey
    user_id: str


class Asked(NamedTuple):
    """What of the log, and from where on."""

    namespace: str
    after_lsn: int
    limit: int
    log_filter: LogFilter | None


class Stretch(NamedTuple):
    """What a stretch of the log says, and where the next one begins; None when it was the last."""

    news: Sequence[LogEntry]
    next_lsn: int | None


def read_stretch(connection: sqlite3.Connection, path: Path, asked: Asked) -> Stretch:
    end, last = asked.after_lsn + PAGE_ENTRIES, rows.last_lsn(connection)
    where: dict[str, Any] = {"after": asked.after_lsn, "end": end, "namespace": asked.namespace, "limit": asked.limit}
    if asked.log_filter is not None:
        where |= asked.log_filter._asdict() | {"documents": asked.log_filter.documents}
    found = connection.execute(_OF_ALL if asked.log_filter is None else _OF_SOME, where).fetchall()
    news = list(_told(connection, path, found))
    if asked.log_filter is not None and end >= last > asked.after_lsn and len(news) == len(found) < asked.limit:
        news.append(EndOfLog(last))
    return Stretch(news, end if end < last else None)


def _told(connection: sqlite3.Connection, path: Path, found: Sequence[Sequence[Any]]) -> Iterator[LogEntry]:
    size = 0
    for lsn, kind, session, sequence, namespace, session_id, user_id in found:
        entry = _Entry(lsn, kind, session, sequence, SessionKey(namespace, session_id), user_id)
        told = _TELLERS.get(entry.kind, _passed)(connection, path, entry)
        yield told
        size += entry_bytes(told)
        if size > MAX_BATCH_BYTES:
            return


def _said(connection: sqlite3.Connection, path: Path, entry: _Entry) -> LogEntry:
    query = f"{_MESSAGES} AND m.sequence = ?"
    row = connection.execute(query, (entry.session, entry.sequence)).fetchone()
    return NoOp(entry.lsn) if row is None else _said_of(row, path, entry.lsn)


def _claimed(_: sqlite3.Connection, __: Path, entry: _Entry) -> LogEntry:
    return SessionClaimed(entry.lsn, entry.session, entry.key, entry.user_id)


def _gone(_: sqlite3.Connection, __: Path, entry: _Entry) -> LogEntry:
    return RowsErased(entry.lsn, entry.session)


def _shelved(connection: sqlite3.Connection, path: Path, entry: _Entry) -> LogEntry:
    document = read_version(connection, -entry.session, entry.lsn, path)
    return NoOp(entry.lsn) if document is None else DocumentWritten(entry.lsn, document)


def _passed(_: sqlite3.Connection, __: Path, entry: _Entry) -> LogEntry:
    return NoOp(entry.lsn)


_TELLERS: Mapping[int, Callable[[sqlite3.Connection, Path, _Entry], LogEntry]] = {
    LogKind.MESSAGE: _said,
    LogKind.ANNOTATION: _said,
    LogKind.CLAIM: _claimed,
    LogKind.CLEAR: _gone,
    LogKind.DELETE: _gone,
    LogKind.DOCUMENT: _shelved,
    LogKind.DROP: _gone,
}


def read_said(
    connection: sqlite3.Connection, path: Path, session: int, after_sequence: int, limit: int
) -> Sequence[MessageWritten]:
    query = f"{_MESSAGES} AND m.sequence > ? ORDER BY m.sequence LIMIT ?"
    return [_said_of(row, path) for row in connection.execute(query, (session, after_sequence, limit))]


def _said_of(row: Sequence[Any], path: Path, lsn: int | None = None) -> MessageWritten:
    vector, first_lsn, session, namespace, session_id, user_id = row[9:]
    message, key = rows.message_of(row, path), SessionKey(namespace, session_id)
    return MessageWritten(first_lsn if lsn is None else lsn, first_lsn, session, key, user_id, message, vector)


def find_first_said(connection: sqlite3.Connection, path: Path, lsns: Sequence[int]) -> Mapping[int, LocatedMessage]:
    said = (_said_of(row, path) for row in connection.execute(_FIRST_SAID, (json.dumps(list(lsns)),)))
    return {one.lsn: LocatedMessage(one.lsn, one.key, one.message, one.session, one.user_id) for one in said}


def find_sequences_at(connection: sqlite3.Connection, places: Sequence[tuple[SessionHead, int]]) -> Sequence[int]:
    return [_sequence_at(connection, head, lsn) for head, lsn in places]


def _sequence_at(connection: sqlite3.Connection, head: SessionHead, lsn: int) -> int:
    """Nearly always known without a read. Else by halves, because both numbers grow together: no index is needed."""

    def told(sequence: int) -> int:
        row = connection.execute(_NEWEST_TOLD, (head.row_id, sequence)).fetchone()
        return int(row[0]) if row else 0

    if lsn >= head.version:
        return head.last_sequence
    return bisect_right(range(1, head.last_sequence + 1), lsn, key=told)


def read_tails(connection: sqlite3.Connection) -> Mapping[str, int]:
    tails: dict[str, int] = {}
    for namespace, lsn in connection.execute(_TAILS):
        tails[namespace] = max(lsn, tails.get(namespace, 0))
    return tails
