"""Reads of what exceeds the limits of a retention."""

from collections.abc import Sequence

from psycopg import Connection

from memsidecar.domain.session import SessionHead
from memsidecar.stores.contract import ExpiredMessages, ExpiryQuery, Owner, Record, RecordKind, StoredDocument
from memsidecar.stores.expiry import (
    BEGINNING,
    Place,
    expired_page,
    expiry_bound,
    find_age_boundary,
    message_boundary,
)
from memsidecar.stores.postgres.document_rows import list_documents_between
from memsidecar.stores.postgres.namespaces import NUMBER
from memsidecar.stores.postgres.record_rows import list_records_between
from memsidecar.stores.postgres.rows import HEADS, head_of

_SESSIONS = f"{HEADS} WHERE s.row_id > %s ORDER BY s.row_id LIMIT %s"
_LAST_SEQUENCE = "SELECT coalesce(max(sequence), 0) FROM messages WHERE session = %s"
_COMMIT_TIME_UP_TO = """SELECT commit_us FROM messages WHERE session = %s AND sequence <= %s
  ORDER BY sequence DESC LIMIT 1"""
_OLDEST_KEPT = "SELECT sequence FROM messages WHERE session = %s ORDER BY sequence DESC LIMIT 1 OFFSET %s"
_EXPIRED = """SELECT m.sequence, m.exchange FROM messages m
  WHERE m.session = %(session)s AND m.sequence > %(after)s AND m.sequence < %(boundary)s
    AND (m.exchange = 0 OR %(boundary)s > (SELECT max(e.sequence) FROM messages e
      WHERE e.session = m.session AND e.exchange = m.exchange AND e.exchange > 0))
  ORDER BY m.sequence LIMIT %(limit)s"""
_EXCHANGES = "SELECT sequence FROM messages WHERE session = %s AND exchange = ANY(%s) AND exchange > 0"
_OF_OWNER = f"namespace = {NUMBER} AND user_id = %s AND session_id = %s"
_OLDEST_KEPT_RECORD = f"""SELECT time_us, id FROM records WHERE {_OF_OWNER} AND kind = %s
  ORDER BY time_us DESC, id DESC LIMIT 1 OFFSET %s"""
_OLDEST_KEPT_DOCUMENT = f"""SELECT create_time_us, id FROM documents WHERE {_OF_OWNER}
  ORDER BY create_time_us DESC, id DESC LIMIT 1 OFFSET %s"""
# `owners` may have rows of owners that own nothing any more.
_OWNERS = """SELECT n.name, o.user_id, o.session_id FROM owners o JOIN namespaces n ON n.number = o.namespace
  WHERE (n.name, o.session_id, o.user_id) > (%s, %s, %s) AND EXISTS (SELECT FROM {table} r
    WHERE r.namespace = o.namespace AND r.session_id = o.session_id AND r.user_id = o.user_id)
  ORDER BY n.name, o.session_id, o.user_id LIMIT %s"""
_HAS_POLICIES = "SELECT EXISTS (SELECT FROM policies WHERE retention IS NOT NULL)"


def find_sessions_after(connection: Connection, row_id: int, limit: int) -> Sequence[SessionHead]:
    return [head_of(row) for row in connection.execute(_SESSIONS, (row_id, limit)).fetchall()]


def find_boundary(connection: Connection, session: int, query: ExpiryQuery) -> int:
    kept = connection.execute(_OLDEST_KEPT, (session, query.keep - 1)).fetchone() if query.keep else None
    return message_boundary(
        query, kept[0] if kept else 0, lambda cutoff_us: _age_boundary(connection, session, cutoff_us)
    )


def _age_boundary(connection: Connection, session: int, cutoff_us: int) -> int:
    def commit_time_up_to(sequence: int) -> int:
        row = connection.execute(_COMMIT_TIME_UP_TO, (session, sequence)).fetchone()
        return int(row[0]) if row else 0

    (last,) = connection.execute(_LAST_SEQUENCE, (session,)).fetchall()[0]
    return find_age_boundary(last, cutoff_us, commit_time_up_to)


def find_expired_messages(
    connection: Connection, session: int, boundary: int, after: int, limit: int
) -> ExpiredMessages:
    def find_exchanges(exchanges: Sequence[int]) -> Sequence[int]:
        return [sequence for (sequence,) in connection.execute(_EXCHANGES, (session, list(exchanges)))]

    parameters = {"session": session, "after": after, "boundary": boundary, "limit": limit}
    return expired_page(connection.execute(_EXPIRED, parameters).fetchall(), find_exchanges, limit)


def find_record_owners(connection: Connection, after: Owner | None, limit: int) -> Sequence[Owner]:
    return _find_owners(connection, _OWNERS.format(table="records"), after, limit)


def find_document_owners(connection: Connection, after: Owner | None, limit: int) -> Sequence[Owner]:
    return _find_owners(connection, _OWNERS.format(table="documents"), after, limit)


def _find_owners(connection: Connection, query: str, after: Owner | None, limit: int) -> Sequence[Owner]:
    place = (after.namespace, after.session_id, after.user_id) if after else ("", "", "")
    return [Owner._make(row) for row in connection.execute(query, (*place, limit)).fetchall()]


def find_expired_records(
    connection: Connection, owner: Owner, kind: RecordKind, query: ExpiryQuery
) -> Sequence[Record]:
    bound = _bound(connection, query, _OLDEST_KEPT_RECORD, *owner, kind)
    if bound is None:
        return []
    return list_records_between(connection, owner, kind, (query.after or BEGINNING, bound), query.limit)


def find_expired_documents(connection: Connection, owner: Owner, query: ExpiryQuery) -> Sequence[StoredDocument]:
    bound = _bound(connection, query, _OLDEST_KEPT_DOCUMENT, *owner)
    return list_documents_between(connection, owner, (query.after or BEGINNING, bound), query.limit) if bound else []


def _bound(connection: Connection, query: ExpiryQuery, oldest_kept: str, *parameters: object) -> Place | None:
    kept = connection.execute(oldest_kept, (*parameters, query.keep - 1)).fetchone() if query.keep else None
    return expiry_bound(query, (kept[0], kept[1]) if kept else None)


def has_retention_policies(connection: Connection) -> bool:
    return connection.execute(_HAS_POLICIES).fetchall() == [(True,)]
