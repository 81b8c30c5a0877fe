"""Reads of an export: sessions, records, messages and documents as of a position, in pages of bounded size."""

import sqlite3
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from memsidecar.domain.message import Flag, StoredMessage
from memsidecar.domain.session import SessionHead, SessionKey
from memsidecar.stores.archive_pages import MAX_PAGE_ITEMS, MAX_PAGE_ROWS, bounded_page, message_item, record_item
from memsidecar.stores.contract import (
    ArchivedMessage,
    ArchivedRecord,
    ArchivePage,
    ArchivePosition,
    Owner,
    RecordKind,
    Scope,
)
from memsidecar.stores.log_kinds import LogKind
from memsidecar.stores.session_rows import head_of
from memsidecar.stores.sqlite import rows
from memsidecar.stores.sqlite.documents import read_version
from memsidecar.stores.sqlite.record_rows import RecordLocation, RecordRow

_POSITION = """SELECT (SELECT coalesce(max(lsn), 0) FROM log),
  (SELECT coalesce(max(seq), 0) + 1 FROM sqlite_sequence WHERE name = 'sessions'),
  (SELECT coalesce(max(row_id), 0) + 1 FROM texts),
  (SELECT coalesce(max(seq), 0) + 1 FROM sqlite_sequence WHERE name = 'documents')"""
_OF_USER = "(SELECT session_id FROM sessions WHERE namespace = :namespace AND user_id = :user_id)"
# A session that was cleared since the position has a new row id.
_SESSIONS = f"""{rows.HEADS} WHERE s.namespace = :namespace AND s.session_id > :after
  AND (s.row_id < :session OR s.create_time_us <= :time_us)
  AND (:user_id = '' OR s.user_id = :user_id) AND (:session_id = '' OR s.session_id = :session_id)
  ORDER BY s.session_id LIMIT :limit"""
_SCOPED = f"""namespace = :namespace
  AND (:user_id = '' OR session_id = '' AND user_id = :user_id OR session_id IN {_OF_USER})"""
_KINDS = f"({int(RecordKind.FACT)}, {int(RecordKind.ARTIFACT)})"
# In the order of RecordLocation, RecordRow and Owner.
_RECORDS = f"""SELECT r.row_id, r.kind, r.body, r.bytes, r.id, r.conflict_key, r.source, r.time_us, r.until_us,
    t.text, t.crc, r.namespace, r.user_id, r.session_id
  FROM (SELECT * FROM records WHERE row_id > :after AND row_id < :end AND kind IN {_KINDS} AND {_SCOPED}
    AND (:session_id = '' OR session_id = :session_id OR source = :session_id)) r
  LEFT JOIN texts t ON t.row_id = r.body ORDER BY r.row_id LIMIT :limit"""
_MESSAGES = f"""SELECT e.lsn, s.namespace, s.session_id, s.user_id, m.displayed_lsn <> m.lsn, m.displayed_tokens,
    d.body, d.crc, w.vector, {rows.ORIGINAL}, w.body, w.crc
  FROM {{source}} LEFT {rows.JOIN_BODY}
  LEFT JOIN log d ON d.lsn = m.displayed_lsn AND d.session = m.session AND d.sequence = m.sequence
  WHERE {{conditions}} LIMIT :limit"""
_MESSAGES_OF_LOG = _MESSAGES.format(
    source="""log e CROSS JOIN sessions s ON s.row_id = e.session
      CROSS JOIN messages m ON m.session = e.session AND m.sequence = e.sequence AND m.first_lsn = e.lsn""",
    conditions=f"""e.lsn > :after AND e.lsn <= :end AND e.kind = {int(LogKind.MESSAGE)} AND s.namespace = :namespace
      AND (:user_id = '' OR s.user_id = :user_id) ORDER BY e.lsn""",
)
# The first message after an lsn is found by its sequence, so that all pages together are one walk.
_MESSAGES_OF_SESSION = _MESSAGES.format(
    source="sessions s CROSS JOIN messages m ON m.session = s.row_id CROSS JOIN log e ON e.lsn = m.first_lsn",
    conditions="""s.namespace = :namespace AND s.session_id = :session_id
      AND m.sequence > coalesce((SELECT l.sequence FROM log l WHERE l.lsn = :after AND l.session = s.row_id), 0)
      AND m.first_lsn > :after AND m.first_lsn <= :end
      AND (:user_id = '' OR s.user_id = :user_id) ORDER BY m.sequence""",
)
_DOCUMENT = f"""SELECT row_id, version, layout FROM documents
  WHERE row_id > :after AND row_id < :document AND {_SCOPED} AND (:session_id = '' OR session_id = :session_id)
  ORDER BY row_id LIMIT 1"""


class _Request(NamedTuple):
    """The parameters of a query."""

    scope: Scope
    position: ArchivePosition

    def parameters(self, **rest: Any) -> dict[str, Any]:
        scope, position = self.scope, self.position
        return {
            "namespace": scope.namespace,
            "user_id": scope.user_id,
            "session_id": scope.session_id,
            "limit": MAX_PAGE_ITEMS,
            **position._asdict(),
            **rest,
        }


def read_position(connection: sqlite3.Connection, time_us: int) -> ArchivePosition:
    lsn, session, record, document = connection.execute(_POSITION).fetchone()
    return ArchivePosition(lsn, session, record, document, time_us)


def read_sessions(
    connection: sqlite3.Connection, scope: Scope, position: ArchivePosition, after_id: str, limit: int
) -> list[SessionHead]:
    parameters = _Request(scope, position).parameters(after=after_id, limit=limit)
    return [head_of(row) for row in connection.execute(_SESSIONS, parameters).fetchall()]


def read_records(
    connection: sqlite3.Connection, path: Path, scope: Scope, position: ArchivePosition, after: int
) -> ArchivePage:
    end = min(position.record, after + MAX_PAGE_ROWS + 1)
    found = connection.execute(_RECORDS, _Request(scope, position).parameters(after=after, end=end))
    records = (record_item(_archived_record(row, path)) for row in found)
    return bounded_page(records, end - 1 if end < position.record else None)


def _archived_record(row: Sequence[Any], path: Path) -> ArchivedRecord:
    location, columns, owner = RecordLocation._make(row[:4]), row[4:11], Owner._make(row[11:])
    record = RecordRow(location, *columns).record(path)
    return ArchivedRecord(location.row_id, owner, RecordKind(location.kind), record)


def read_messages(
    connection: sqlite3.Connection, path: Path, scope: Scope, position: ArchivePosition, after_lsn: int
) -> ArchivePage:
    one_session = bool(scope.session_id)
    end = position.lsn if one_session else min(position.lsn, after_lsn + MAX_PAGE_ROWS)
    query = _MESSAGES_OF_SESSION if one_session else _MESSAGES_OF_LOG
    found = connection.execute(query, _Request(scope, position).parameters(after=after_lsn, end=end))
    messages = (message_item(_archived_message(row, path)) for row in found)
    return bounded_page(messages, end if end < position.lsn else None)


def _archived_message(row: Any, path: Path) -> ArchivedMessage:
    lsn, namespace, session_id, user_id, is_shortened, tokens, body, crc, vector, *original = row
    message = rows.message_of(original, path)
    displayed: StoredMessage | None = None
    if is_shortened:
        displayed = rows.message_of((*message[:-1], body, crc), path)
        displayed = displayed._replace(tokens=tokens, flags=message.flags | Flag.SHORTENED)
    return ArchivedMessage(lsn, SessionKey(namespace, session_id), user_id, message, displayed, vector)


def read_document(
    connection: sqlite3.Connection, path: Path, scope: Scope, position: ArchivePosition, after: int
) -> ArchivePage:
    row = connection.execute(_DOCUMENT, _Request(scope, position).parameters(after=after)).fetchone()
    if row is None:
        return ArchivePage((), None)
    row_id, version, layout = row
    document = read_version(connection, row_id, version, path)
    return ArchivePage([replace(document, layout=layout or b"")] if document else (), row_id)
