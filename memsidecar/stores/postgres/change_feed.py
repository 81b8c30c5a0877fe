"""Reads of the log: the change feed, messages by lsn."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from psycopg import Connection

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
from memsidecar.stores.contract.change_feed import MAX_BATCH_BYTES
from memsidecar.stores.log_kinds import LogKind
from memsidecar.stores.postgres import rows
from memsidecar.stores.postgres.document_rows import read_version
from memsidecar.stores.postgres.namespaces import find_row

_MESSAGE_KINDS = (LogKind.MESSAGE, LogKind.ANNOTATION)
_MATCHING_SESSION = "(s.user_id = nullif(%(user_id)s, '') OR s.row_id = %(session)s)"
_ERASURES = (LogKind.CLEAR, LogKind.DELETE, LogKind.DOCUMENT_DELETE, LogKind.MESSAGE_ERASURE)
_ERASURE_KINDS = ", ".join(str(int(kind)) for kind in _ERASURES)
_SIZE = "octet_length({0}.body) + coalesce(octet_length({0}.vector), 0)"
# Both parts are in the order of an index on lsns. Of a session that was erased only the erasure is read.
_ENTRIES = f"""(
    SELECT m.lsn, {int(LogKind.MESSAGE)} AS kind, m.session, m.sequence, s.session_id, s.user_id,
      {_SIZE.format("m")} AS size
    FROM messages m JOIN sessions s ON s.row_id = m.session
    WHERE m.namespace = %(namespace)s AND m.lsn > %(after)s AND {{of_messages}} ORDER BY m.lsn LIMIT %(limit)s
  ) UNION ALL (
    SELECT e.lsn, e.kind, e.session, e.sequence, s.session_id, s.user_id, coalesce({_SIZE.format("a")}, d.bytes)
    FROM events e LEFT JOIN sessions s ON s.row_id = e.session
    LEFT JOIN messages a ON e.kind = {int(LogKind.ANNOTATION)} AND a.session = e.session AND a.sequence = e.sequence
    LEFT JOIN documents d ON e.kind = {int(LogKind.DOCUMENT)} AND d.row_id = -e.session AND d.version = e.lsn
    WHERE e.namespace = %(namespace)s AND e.lsn > %(after)s
      AND (s.row_id IS NOT NULL OR e.kind >= {int(LogKind.CLEAR)}) AND {{of_events}} ORDER BY e.lsn LIMIT %(limit)s
  ) ORDER BY lsn LIMIT %(limit)s"""
_ALL_ENTRIES = _ENTRIES.format(of_messages="true", of_events="true")
_FILTERED_ENTRIES = _ENTRIES.format(
    of_messages=_MATCHING_SESSION,
    of_events=f"""(e.kind IN ({_ERASURE_KINDS}) OR (e.kind = {int(LogKind.DOCUMENT)} AND %(documents)s)
      OR (e.kind IN ({int(LogKind.ANNOTATION)}, {int(LogKind.CLAIM)}) AND {_MATCHING_SESSION}))""",
)
# In the order of `_message_written`.
_COLUMNS = f"{rows.ORIGINAL}, m.vector, m.lsn, s.row_id, n.name, s.session_id, s.user_id"
_JOINED = "JOIN sessions s ON s.row_id = m.session JOIN namespaces n ON n.number = s.namespace"
_MESSAGES_AT = f"""SELECT {_COLUMNS} FROM unnest(%s::bigint[], %s::bigint[]) AS k(session, sequence)
  JOIN messages m USING(session, sequence) {_JOINED}"""
_MESSAGES_AFTER = f"""SELECT {_COLUMNS} FROM messages m {_JOINED}
  WHERE m.session = %s AND m.sequence > %s ORDER BY m.sequence LIMIT %s"""
_BY_LSN = f"""SELECT {_COLUMNS} FROM messages m {_JOINED}
  WHERE n.name = %s AND m.namespace = n.number AND m.lsn = ANY(%s)"""
# Sequences and lsns grow together, so the walk ends at the first message that is old enough.
_SEQUENCE_AT = """SELECT coalesce((SELECT min(sequence) - 1 FROM messages WHERE session = %(session)s AND sequence > (
    SELECT coalesce((SELECT sequence FROM messages WHERE session = %(session)s AND lsn <= %(lsn)s
      ORDER BY sequence DESC LIMIT 1), 0)
  )), %(last_sequence)s)"""


class _EntryRow(NamedTuple):
    """An entry without its content. The names are None if the session was erased."""

    lsn: int
    kind: int
    session: int
    sequence: int
    session_id: str | None
    user_id: str | None
    size: int | None

    def key(self, namespace: str) -> SessionKey:
        return SessionKey(namespace, self.session_id or "")


class _Contents(NamedTuple):
    """What a page has besides its rows: the messages by session and sequence."""

    connection: Connection
    namespace: str
    messages: Mapping[tuple[int, int], MessageWritten]


def read_page(
    connection: Connection,
    namespace_name: str,
    after_lsn: int,
    limit: int,
    *,
    log_filter: LogFilter | None,
    max_message_bytes: int,
) -> Sequence[LogEntry]:
    namespace = find_row(connection, namespace_name)
    if namespace is None:
        return []
    parameters: dict[str, Any] = {"namespace": namespace.number, "after": after_lsn, "limit": limit}
    if log_filter is not None:
        parameters |= log_filter._asdict() | {"documents": log_filter.documents}
    query = _ALL_ENTRIES if log_filter is None else _FILTERED_ENTRIES
    found = [_EntryRow._make(row) for row in connection.execute(query, parameters)]
    page = _first_bytes(found)
    contents = _Contents(connection, namespace_name, _read_messages(connection, page, max_message_bytes))
    entries = [_DECODERS.get(row.kind, _no_op)(contents, row) for row in page]
    if log_filter is not None and namespace.lsn > after_lsn and len(page) == len(found) < limit:
        entries.append(EndOfLog(namespace.lsn))
    return entries


def _first_bytes(found: Sequence[_EntryRow]) -> Sequence[_EntryRow]:
    """Return the rows up to the one that exceeds the limit on content."""
    size = 0
    for count, row in enumerate(found, 1):
        size += row.size or 0
        if size > MAX_BATCH_BYTES:
            return found[:count]
    return found


def _read_messages(
    connection: Connection, page: Sequence[_EntryRow], max_bytes: int
) -> Mapping[tuple[int, int], MessageWritten]:
    places = [(row.session, row.sequence) for row in page if row.kind in _MESSAGE_KINDS and row.size is not None]
    if not places:
        return {}
    messages = map(_message_written, connection.execute(_MESSAGES_AT, rows.columns(places)))
    return {(each.session, each.message.sequence): each for each in messages if len(each.message.body) <= max_bytes}


def _message(contents: _Contents, row: _EntryRow) -> LogEntry:
    message = contents.messages.get((row.session, row.sequence))
    return NoOp(row.lsn) if message is None else message._replace(lsn=row.lsn)


def _session_claimed(contents: _Contents, row: _EntryRow) -> LogEntry:
    return SessionClaimed(row.lsn, row.session, row.key(contents.namespace), row.user_id or "")


def _rows_erased(_: _Contents, row: _EntryRow) -> LogEntry:
    return RowsErased(row.lsn, row.session) if row.session else NoOp(row.lsn)


def _message_erased(contents: _Contents, row: _EntryRow) -> LogEntry:
    return MessageErased(
        row.lsn, row.session, row.sequence, row.key(contents.namespace) if row.session_id is not None else None
    )


def _document_written(contents: _Contents, row: _EntryRow) -> LogEntry:
    document = read_version(contents.connection, -row.session, row.lsn) if row.size is not None else None
    return NoOp(row.lsn) if document is None else DocumentWritten(row.lsn, document)


def _no_op(_: _Contents, row: _EntryRow) -> LogEntry:
    return NoOp(row.lsn)


_DECODERS: Mapping[int, Callable[[_Contents, _EntryRow], LogEntry]] = {
    LogKind.MESSAGE: _message,
    LogKind.ANNOTATION: _message,
    LogKind.CLAIM: _session_claimed,
    LogKind.CLEAR: _rows_erased,
    LogKind.DELETE: _rows_erased,
    LogKind.DOCUMENT: _document_written,
    LogKind.DOCUMENT_DELETE: _rows_erased,
    LogKind.MESSAGE_ERASURE: _message_erased,
}


def _message_written(row: Sequence[Any]) -> MessageWritten:
    *message, vector, lsn, session, namespace, session_id, user_id = row
    return MessageWritten(
        lsn=lsn,
        first_lsn=lsn,
        session=session,
        key=SessionKey(namespace, session_id),
        user_id=user_id,
        message=rows.message_of(message),
        vector=vector,
    )


def read_session(connection: Connection, session: int, after_sequence: int, limit: int) -> Sequence[MessageWritten]:
    return [_message_written(row) for row in connection.execute(_MESSAGES_AFTER, (session, after_sequence, limit))]


def get_by_lsn(connection: Connection, namespace: str, lsns: Sequence[int]) -> Mapping[int, LocatedMessage]:
    found = map(_message_written, connection.execute(_BY_LSN, (namespace, list(lsns))))
    return {each.lsn: LocatedMessage(each.lsn, each.key, each.message, each.session, each.user_id) for each in found}


def find_sequences_at(connection: Connection, places: Sequence[tuple[SessionHead, int]]) -> Sequence[int]:
    return [_sequence_at(connection, head, lsn) for head, lsn in places]


def _sequence_at(connection: Connection, head: SessionHead, lsn: int) -> int:
    """Find the sequence, nearly always without a read."""
    if lsn >= head.version:
        return head.last_sequence
    parameters = {"session": head.row_id, "lsn": lsn, "last_sequence": head.last_sequence}
    ((sequence,),) = connection.execute(_SEQUENCE_AT, parameters).fetchall()
    return int(sequence)
