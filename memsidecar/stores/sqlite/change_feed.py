"""Reads of the log: the change feed, last lsns, messages by lsn."""

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
    MessageErased,
    MessageWritten,
    NoOp,
    RowsErased,
    SessionClaimed,
)
from memsidecar.stores.contract.change_feed import MAX_BATCH_BYTES, entry_bytes
from memsidecar.stores.log_kinds import LogKind
from memsidecar.stores.sqlite import rows
from memsidecar.stores.sqlite.documents import read_version
from memsidecar.stores.sqlite.schema import FIRST_NAMESPACED_KIND

PAGE_ENTRIES = 16_384
"""Entries of the log that one read transaction passes. It passes other namespaces' entries one by one, and there may be
millions of them."""

# In the order of the log, from the reader's position on: without an index, a sort, or a walk through the namespace.
_ENTRIES = f"""SELECT l.lsn, l.kind, l.session, l.sequence, s.namespace, s.session_id, s.user_id
  FROM log l NOT INDEXED LEFT JOIN sessions s
    ON s.row_id = l.session AND (l.kind < {FIRST_NAMESPACED_KIND} OR l.kind = {int(LogKind.MESSAGE_ERASURE)})
  WHERE l.lsn > :after AND l.lsn <= :end
    AND (s.namespace = :namespace OR (l.kind >= {FIRST_NAMESPACED_KIND} AND l.id = :namespace))"""
_IN_ORDER = "ORDER BY l.lsn LIMIT :limit"
_MESSAGE_KINDS = f"{int(LogKind.MESSAGE)}, {int(LogKind.ANNOTATION)}, {int(LogKind.CLAIM)}"
_ERASURES = (LogKind.CLEAR, LogKind.DELETE, LogKind.DOCUMENT_DELETE, LogKind.MESSAGE_ERASURE)
_ERASURE_KINDS = ", ".join(str(int(kind)) for kind in _ERASURES)
_MATCHING = f"""AND (l.kind IN ({_ERASURE_KINDS}) OR (l.kind = {int(LogKind.DOCUMENT)} AND :documents)
  OR (l.kind IN ({_MESSAGE_KINDS}) AND (s.user_id = nullif(:user_id, '') OR s.row_id = :session)))"""
_ALL_ENTRIES, _FILTERED_ENTRIES = f"{_ENTRIES} {_IN_ORDER}", f"{_ENTRIES} {_MATCHING} {_IN_ORDER}"
# In the order of `_message_written`.
_COLUMNS = f"{rows.ORIGINAL}, w.body, w.crc, w.vector, m.first_lsn, s.row_id, s.namespace, s.session_id, s.user_id"
# In the order of `_located`.
_LOCATED = f"{rows.ORIGINAL}, w.body, w.crc, m.first_lsn, s.row_id, s.namespace, s.session_id, s.user_id"
_MESSAGES = f"""SELECT {_COLUMNS} FROM sessions s CROSS JOIN messages m ON m.session = s.row_id
  LEFT {rows.JOIN_BODY} WHERE s.row_id = ?"""
_BY_FIRST_LSN = f"""SELECT {_LOCATED} FROM json_each(?) wanted CROSS JOIN log l ON l.lsn = wanted.value
  CROSS JOIN sessions s ON s.row_id = l.session AND s.namespace = ?
  CROSS JOIN messages m ON m.session = l.session AND m.sequence = l.sequence AND m.first_lsn = l.lsn
  LEFT {rows.JOIN_BODY}"""
_FIRST_LSN_UP_TO = "SELECT first_lsn FROM messages WHERE session = ? AND sequence <= ? ORDER BY sequence DESC LIMIT 1"
_LAST_LSNS = """SELECT namespace, max(version) FROM sessions WHERE version > 0 GROUP BY namespace
  UNION ALL SELECT namespace, lsn FROM last_lsns"""


class FeedRequest(NamedTuple):
    namespace: str
    after_lsn: int
    limit: int
    log_filter: LogFilter | None
    max_message_bytes: int


class FeedPage(NamedTuple):
    """The entries of one read transaction, and the lsn after which the next page begins; None after the last."""

    entries: Sequence[LogEntry]
    next_lsn: int | None


class _Snapshot(NamedTuple):
    connection: sqlite3.Connection
    path: Path
    max_message_bytes: int


class _EntryRow(NamedTuple):
    """An entry without its content. `key` and `user_id` are empty if the session was erased."""

    lsn: int
    kind: int
    session: int
    sequence: int
    key: SessionKey
    user_id: str


def read_page(connection: sqlite3.Connection, path: Path, request: FeedRequest) -> FeedPage:
    end, last = request.after_lsn + PAGE_ENTRIES, rows.last_lsn(connection)
    log_filter = request.log_filter
    parameters: dict[str, Any] = {
        "after": request.after_lsn,
        "end": end,
        "namespace": request.namespace,
        "limit": request.limit,
    }
    if log_filter is not None:
        parameters |= log_filter._asdict() | {"documents": log_filter.documents}
    found = connection.execute(_ALL_ENTRIES if log_filter is None else _FILTERED_ENTRIES, parameters).fetchall()
    entries = list(_decode(_Snapshot(connection, path, request.max_message_bytes), found))
    if log_filter is not None and end >= last > request.after_lsn and len(entries) == len(found) < request.limit:
        entries.append(EndOfLog(last))
    return FeedPage(entries, end if end < last else None)


def _decode(snapshot: _Snapshot, found: Sequence[Sequence[Any]]) -> Iterator[LogEntry]:
    size = 0
    for lsn, kind, session, sequence, namespace, session_id, user_id in found:
        row = _EntryRow(lsn, kind, session, sequence, SessionKey(namespace, session_id), user_id)
        entry = _DECODERS.get(row.kind, _no_op)(snapshot, row)
        yield entry
        size += entry_bytes(entry)
        if size > MAX_BATCH_BYTES:
            return


def _read_message(snapshot: _Snapshot, row: _EntryRow) -> LogEntry:
    # SQLite knows the length of a body without reading it.
    query = f"{_MESSAGES} AND m.sequence = ? AND coalesce(length(w.body), 0) <= ?"
    found = snapshot.connection.execute(query, (row.session, row.sequence, snapshot.max_message_bytes)).fetchone()
    return NoOp(row.lsn) if found is None else _message_written(found, snapshot.path, row.lsn)


def _session_claimed(_: _Snapshot, row: _EntryRow) -> LogEntry:
    return SessionClaimed(row.lsn, row.session, row.key, row.user_id)


def _rows_erased(_: _Snapshot, row: _EntryRow) -> LogEntry:
    return RowsErased(row.lsn, row.session) if row.session else NoOp(row.lsn)


def _message_erased(_: _Snapshot, row: _EntryRow) -> LogEntry:
    return MessageErased(row.lsn, row.session, row.sequence, row.key if row.key.session_id else None)


def _document_written(snapshot: _Snapshot, row: _EntryRow) -> LogEntry:
    document = read_version(snapshot.connection, -row.session, row.lsn, snapshot.path)
    return NoOp(row.lsn) if document is None else DocumentWritten(row.lsn, document)


def _no_op(_: _Snapshot, row: _EntryRow) -> LogEntry:
    return NoOp(row.lsn)


_DECODERS: Mapping[int, Callable[[_Snapshot, _EntryRow], LogEntry]] = {
    LogKind.MESSAGE: _read_message,
    LogKind.ANNOTATION: _read_message,
    LogKind.CLAIM: _session_claimed,
    LogKind.CLEAR: _rows_erased,
    LogKind.DELETE: _rows_erased,
    LogKind.DOCUMENT: _document_written,
    LogKind.DOCUMENT_DELETE: _rows_erased,
    LogKind.MESSAGE_ERASURE: _message_erased,
}


def read_session(
    connection: sqlite3.Connection, path: Path, session: int, after_sequence: int, limit: int
) -> Sequence[MessageWritten]:
    query = f"{_MESSAGES} AND m.sequence > ? ORDER BY m.sequence LIMIT ?"
    return [_message_written(row, path) for row in connection.execute(query, (session, after_sequence, limit))]


def _message_written(row: Sequence[Any], path: Path, lsn: int | None = None) -> MessageWritten:
    *message, vector, first_lsn, session, namespace, session_id, user_id = row
    return MessageWritten(
        lsn=first_lsn if lsn is None else lsn,
        first_lsn=first_lsn,
        session=session,
        key=SessionKey(namespace, session_id),
        user_id=user_id,
        message=rows.message_of(message, path),
        vector=vector,
    )


def get_by_lsn(
    connection: sqlite3.Connection, path: Path, namespace: str, lsns: Sequence[int]
) -> Mapping[int, LocatedMessage]:
    rows_found = connection.execute(_BY_FIRST_LSN, (json.dumps(list(lsns)), namespace))
    return {found.lsn: found for found in (_located(row, path) for row in rows_found)}


def _located(row: Sequence[Any], path: Path) -> LocatedMessage:
    first_lsn, session, namespace, session_id, user_id = row[-5:]
    message = rows.message_of(row[:-5], path)
    return LocatedMessage(first_lsn, SessionKey(namespace, session_id), message, session, user_id)


def find_sequences_at(connection: sqlite3.Connection, places: Sequence[tuple[SessionHead, int]]) -> Sequence[int]:
    return [_sequence_at(connection, head, lsn) for head, lsn in places]


def _sequence_at(connection: sqlite3.Connection, head: SessionHead, lsn: int) -> int:
    """Find the sequence, nearly always without a read; else by bisection, since sequences and lsns grow together."""

    def first_lsn_up_to(sequence: int) -> int:
        row = connection.execute(_FIRST_LSN_UP_TO, (head.row_id, sequence)).fetchone()
        return int(row[0]) if row else 0

    if lsn >= head.version:
        return head.last_sequence
    return bisect_right(range(1, head.last_sequence + 1), lsn, key=first_lsn_up_to)


def read_last_lsns(connection: sqlite3.Connection) -> Mapping[str, int]:
    last_lsns: dict[str, int] = {}
    for namespace, lsn in connection.execute(_LAST_LSNS):
        last_lsns[namespace] = max(lsn, last_lsns.get(namespace, 0))
    return last_lsns
