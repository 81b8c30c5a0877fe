"""Reads of what exceeds the limits of a retention."""

import json
import sqlite3
from collections.abc import Sequence
from pathlib import Path

from memsidecar.domain.session import SessionHead
from memsidecar.stores.contract import ExpiredMessages, ExpiryQuery, Owner, Record, RecordKind, StoredDocument
from memsidecar.stores.expiry import BEGINNING, expired_page, expiry_bound, find_age_boundary, message_boundary
from memsidecar.stores.session_rows import head_of
from memsidecar.stores.sqlite import rows
from memsidecar.stores.sqlite.documents import list_documents_between
from memsidecar.stores.sqlite.record_rows import list_records_between

_LAST_SEQUENCE = "SELECT max(sequence) FROM messages WHERE session = ?"
_COMMIT_TIME_UP_TO = """SELECT l.time_us FROM messages m JOIN log l ON l.lsn = m.first_lsn
  WHERE m.session = ? AND m.sequence <= ? ORDER BY m.sequence DESC LIMIT 1"""
_OLDEST_KEPT = "SELECT sequence FROM messages WHERE session = ? ORDER BY sequence DESC LIMIT 1 OFFSET ?"
_EXPIRED = """SELECT m.sequence, m.exchange FROM messages m
  WHERE m.session = :session AND m.sequence > :after AND m.sequence < :boundary
    AND (m.exchange = 0 OR :boundary > (SELECT max(e.sequence) FROM messages e
      WHERE e.session = m.session AND e.exchange = m.exchange AND e.exchange > 0))
  ORDER BY m.sequence LIMIT :limit"""
_EXCHANGES = """SELECT sequence FROM messages
  WHERE session = ? AND exchange IN (SELECT value FROM json_each(?)) AND exchange > 0"""
_OLDEST_KEPT_RECORD = """SELECT time_us, id FROM records
  WHERE namespace = ? AND user_id = ? AND session_id = ? AND kind = ? ORDER BY time_us DESC, id DESC LIMIT 1 OFFSET ?"""
_OLDEST_KEPT_DOCUMENT = """SELECT create_time_us, id FROM documents
  WHERE namespace = ? AND user_id = ? AND session_id = ? ORDER BY create_time_us DESC, id DESC LIMIT 1 OFFSET ?"""
# One owner for each query: a DISTINCT would read all their rows.
_NEXT_OWNER = """SELECT namespace, user_id, session_id FROM {table}
  WHERE (namespace, session_id, user_id) > (?, ?, ?) ORDER BY namespace, session_id, user_id LIMIT 1"""


def find_sessions_after(connection: sqlite3.Connection, row_id: int, limit: int) -> Sequence[SessionHead]:
    query = f"{rows.HEADS} WHERE s.row_id > ? ORDER BY s.row_id LIMIT ?"
    return [head_of(row) for row in connection.execute(query, (row_id, limit)).fetchall()]


def find_boundary(connection: sqlite3.Connection, session: int, query: ExpiryQuery) -> int:
    kept = connection.execute(_OLDEST_KEPT, (session, query.keep - 1)).fetchone() if query.keep else None
    return message_boundary(
        query, kept[0] if kept else 0, lambda cutoff_us: _age_boundary(connection, session, cutoff_us)
    )


def _age_boundary(connection: sqlite3.Connection, session: int, cutoff_us: int) -> int:
    def commit_time_up_to(sequence: int) -> int:
        row = connection.execute(_COMMIT_TIME_UP_TO, (session, sequence)).fetchone()
        return int(row[0]) if row else 0

    (last,) = connection.execute(_LAST_SEQUENCE, (session,)).fetchone()
    return find_age_boundary(last or 0, cutoff_us, commit_time_up_to)


def find_expired_messages(
    connection: sqlite3.Connection, session: int, boundary: int, after: int, limit: int
) -> ExpiredMessages:
    def find_exchanges(exchanges: Sequence[int]) -> Sequence[int]:
        return [sequence for (sequence,) in connection.execute(_EXCHANGES, (session, json.dumps(exchanges)))]

    parameters = {"session": session, "after": after, "boundary": boundary, "limit": limit}
    return expired_page(connection.execute(_EXPIRED, parameters).fetchall(), find_exchanges, limit)


def find_owners(connection: sqlite3.Connection, table: str, after: Owner | None, limit: int) -> Sequence[Owner]:
    owners: list[Owner] = []
    place = (after.namespace, after.session_id, after.user_id) if after else ("", "", "")
    query = _NEXT_OWNER.format(table=table)
    while len(owners) < limit and (row := connection.execute(query, place).fetchone()):
        owners.append(Owner._make(row))
        place = (owners[-1].namespace, owners[-1].session_id, owners[-1].user_id)
    return owners


def find_expired_records(
    connection: sqlite3.Connection, owner: Owner, kind: RecordKind, query: ExpiryQuery, path: Path
) -> Sequence[Record]:
    kept = connection.execute(_OLDEST_KEPT_RECORD, (*owner, kind, query.keep - 1)).fetchone() if query.keep else None
    if (bound := expiry_bound(query, kept)) is None:
        return []
    return list_records_between(connection, owner, kind, (query.after or BEGINNING, bound), query.limit, path=path)


def find_expired_documents(
    connection: sqlite3.Connection, owner: Owner, query: ExpiryQuery, path: Path
) -> Sequence[StoredDocument]:
    kept = connection.execute(_OLDEST_KEPT_DOCUMENT, (*owner, query.keep - 1)).fetchone() if query.keep else None
    if (bound := expiry_bound(query, kept)) is None:
        return []
    return list_documents_between(connection, owner, (query.after or BEGINNING, bound), query.limit, path)


def has_retention_policies(connection: sqlite3.Connection) -> bool:
    return connection.execute("SELECT 1 FROM policies WHERE retention IS NOT NULL LIMIT 1").fetchone() is not None
