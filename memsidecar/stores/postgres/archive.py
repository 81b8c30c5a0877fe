"""Reads of an export: sessions, records, messages and documents as of a position, in pages of bounded size."""

from collections.abc import Sequence
from typing import Any

from psycopg import Connection

from memsidecar.domain.message import Flag, StoredMessage
from memsidecar.domain.session import SessionHead, SessionKey
from memsidecar.stores.archive_pages import (
    MAX_PAGE_BYTES,
    MAX_PAGE_ITEMS,
    MAX_PAGE_ROWS,
    bounded_page,
    message_item,
    record_item,
)
from memsidecar.stores.contract import (
    ArchivedMessage,
    ArchivedRecord,
    ArchivePage,
    ArchivePosition,
    Owner,
    RecordKind,
    Scope,
)
from memsidecar.stores.postgres.document_rows import read_version
from memsidecar.stores.postgres.record_rows import stored_record
from memsidecar.stores.postgres.rows import HEADS, ORIGINAL, head_of

# Row ids are drawn before the commit: what is being committed at this time may be exported, too.
_POSITION = """SELECT coalesce((SELECT lsn FROM namespaces WHERE name = %s), 0), s.last_value + s.is_called::int,
    r.last_value + r.is_called::int, d.last_value + d.is_called::int
  FROM session_row_ids s, record_row_ids r, document_row_ids d"""
_IN_NAMESPACE = "namespace = (SELECT number FROM namespaces WHERE name = %(namespace)s)"
# A session that was cleared since the position has a new row id.
_SESSIONS = f"""{HEADS} WHERE n.name = %(namespace)s AND s.session_id > %(after)s
  AND (s.row_id < %(session)s OR s.create_time_us <= %(time_us)s)
  AND (%(user_id)s = '' OR s.user_id = %(user_id)s) AND (%(session_id)s = '' OR s.session_id = %(session_id)s)
  ORDER BY s.session_id LIMIT %(limit)s"""
_SCOPED = f"""{_IN_NAMESPACE} AND (%(user_id)s = '' OR session_id = '' AND user_id = %(user_id)s
  OR session_id IN (SELECT session_id FROM sessions WHERE {_IN_NAMESPACE} AND user_id = %(user_id)s))"""
_KINDS = f"({int(RecordKind.FACT)}, {int(RecordKind.ARTIFACT)})"
# The sizes of bodies are known without reading them: a page reads no more of them than it returns.
_BOUNDED = f"""SELECT {{columns}} FROM (
    SELECT *, sum(size) OVER (ORDER BY {{place}}) - size AS size_before
    FROM ({{found}} ORDER BY {{place}} LIMIT %(limit)s) AS found
  ) AS page WHERE size_before <= {MAX_PAGE_BYTES} ORDER BY {{place}}"""
# In the order of `stored_record` and Owner.
_RECORDS = _BOUNDED.format(
    columns="row_id, kind, id, conflict_key, source, time_us, body, until_us, %(namespace)s::text, user_id, session_id",
    place="row_id",
    found=f"""SELECT *, octet_length(body) AS size FROM records
      WHERE row_id > %(after)s AND row_id < %(end)s AND kind IN {_KINDS} AND {_SCOPED}
        AND (%(session_id)s = '' OR session_id = %(session_id)s OR source = %(session_id)s)""",
)
# In the order of `_archived_message`.
_MESSAGE_COLUMNS = "m.lsn, s.session_id, s.user_id, m.displayed_body, m.displayed_tokens, m.vector"
_MESSAGE_SIZE = "octet_length(m.body) + coalesce(octet_length(m.displayed_body), 0) AS size"
_MESSAGES = f"""SELECT {_MESSAGE_COLUMNS}, {ORIGINAL}, {_MESSAGE_SIZE}
  FROM messages m JOIN sessions s ON s.row_id = m.session WHERE %(user_id)s IN ('', s.user_id)"""
_MESSAGES_OF_LOG = _BOUNDED.format(
    columns="*", place="lsn", found=f"{_MESSAGES} AND m.{_IN_NAMESPACE} AND m.lsn > %(after)s AND m.lsn <= %(end)s"
)
# Sequences and lsns grow together. A page begins at a sequence, so that all pages together are one walk. The additions
# keep PostgreSQL from a walk through the lsns instead, before it has statistics.
_MESSAGES_OF_SESSION = _BOUNDED.format(
    columns="*",
    place="sequence",
    found=f"""{_MESSAGES} AND m.lsn + 0 > %(after)s AND m.lsn + 0 <= %(end)s
      AND m.session = (SELECT row_id FROM sessions WHERE {_IN_NAMESPACE} AND session_id = %(session_id)s)
      AND m.sequence > coalesce((SELECT sequence FROM messages WHERE {_IN_NAMESPACE} AND lsn = %(after)s), 0)""",
)
_DOCUMENT = f"""SELECT row_id, version FROM documents
  WHERE row_id > %(after)s AND row_id < %(document)s AND {_SCOPED}
    AND (%(session_id)s = '' OR session_id = %(session_id)s)
  ORDER BY row_id LIMIT 1"""


def read_position(connection: Connection, namespace: str, time_us: int) -> ArchivePosition:
    ((lsn, session, record, document),) = connection.execute(_POSITION, (namespace,)).fetchall()
    return ArchivePosition(lsn, session, record, document, time_us)


def read_sessions(
    connection: Connection, scope: Scope, position: ArchivePosition, after_id: str, limit: int
) -> Sequence[SessionHead]:
    parameters = _parameters(scope, position, after_id) | {"limit": limit}
    return [head_of(row) for row in connection.execute(_SESSIONS, parameters).fetchall()]


def read_records(connection: Connection, scope: Scope, position: ArchivePosition, after: int) -> ArchivePage:
    end = min(position.record, after + MAX_PAGE_ROWS + 1)
    found = connection.execute(_RECORDS, _parameters(scope, position, after) | {"end": end}).fetchall()
    records = (record_item(_archived_record(row)) for row in found)
    return bounded_page(records, end - 1 if end < position.record else None)


def _archived_record(row: Sequence[Any]) -> ArchivedRecord:
    (row_id, kind, _), record = stored_record(row[:8])
    return ArchivedRecord(row_id, Owner._make(row[8:]), RecordKind(kind), record)


def read_messages(connection: Connection, scope: Scope, position: ArchivePosition, after_lsn: int) -> ArchivePage:
    one_session = bool(scope.session_id)
    end = position.lsn if one_session else min(position.lsn, after_lsn + MAX_PAGE_ROWS)
    query = _MESSAGES_OF_SESSION if one_session else _MESSAGES_OF_LOG
    found = connection.execute(query, _parameters(scope, position, after_lsn) | {"end": end}).fetchall()
    messages = (message_item(_archived_message(scope.namespace, row)) for row in found)
    return bounded_page(messages, end if end < position.lsn else None)


def _archived_message(namespace: str, row: Sequence[Any]) -> ArchivedMessage:
    lsn, session_id, user_id, displayed_body, tokens, vector, *original, _, _ = row
    message = StoredMessage._make(original)
    displayed: StoredMessage | None = None
    if displayed_body is not None:
        displayed = message._replace(body=displayed_body, tokens=tokens, flags=message.flags | Flag.SHORTENED)
    return ArchivedMessage(lsn, SessionKey(namespace, session_id), user_id, message, displayed, vector)


def read_document(connection: Connection, scope: Scope, position: ArchivePosition, after: int) -> ArchivePage:
    row = connection.execute(_DOCUMENT, _parameters(scope, position, after)).fetchone()
    if row is None:
        return ArchivePage((), None)
    row_id, version = row
    document = read_version(connection, row_id, version)
    return ArchivePage([document] if document else (), row_id)


def _parameters(scope: Scope, position: ArchivePosition, after: int | str) -> dict[str, Any]:
    return {
        "namespace": scope.namespace,
        "user_id": scope.user_id,
        "session_id": scope.session_id,
        "limit": MAX_PAGE_ITEMS,
        "after": after,
        **position._asdict(),
    }
