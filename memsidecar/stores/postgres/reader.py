"""Reads of sessions and messages."""

from collections.abc import Iterator
from functools import partial

from psycopg import Connection

from memsidecar.domain.message import StoredMessage
from memsidecar.domain.session import Policy, SessionHead, SessionKey
from memsidecar.stores.contract import (
    LocatedMessage,
    MessagePage,
    MessageQuery,
    MessageVersions,
    Scope,
    SessionQuery,
)
from memsidecar.stores.message_pages import RangeContent, SequenceRange, read_ranges
from memsidecar.stores.postgres import rows
from memsidecar.stores.session_rows import policy_of

_FETCH_ROWS = 200
_MAX_SCAN_BYTES = 4 << 20
_MAX_INTEGER = (1 << 63) - 1
"The largest bigint: above every lsn and time."

_EXCHANGE_END = f"""SELECT coalesce(max(m.sequence), 0) FROM messages m JOIN sessions s ON s.row_id = m.session
  JOIN namespaces n ON n.number = s.namespace
  WHERE n.name = %s AND s.session_id = %s AND m.exchange = %s AND m.exchange > 0 AND {rows.IN_WINDOW}"""
_SESSIONS = f"""{rows.HEADS} WHERE n.name = %s AND (%s = '' OR s.user_id = %s)
  AND (s.last_active_us, s.session_id) < (%s, %s)
  ORDER BY s.last_active_us DESC, s.session_id DESC LIMIT %s"""
_DEFAULT_POLICIES = """SELECT n.name, p.auto_prune_tokens, p.strategy, p.model, p.summarize, p.retention
  FROM policies p JOIN namespaces n ON n.number = p.namespace WHERE p.session_id = ''"""
_LOCATION = "n.name, s.session_id, s.row_id, s.user_id"
_OF_SESSION = "m.session = (SELECT row_id FROM sessions WHERE namespace = n.number AND session_id = %(session_id)s)"
# Columns first, bodies after: a sort with bodies would read every body of the scope.
_SCAN = f"""SELECT {rows.ORIGINAL}, m.lsn, {_LOCATION} FROM (
    SELECT m.session, m.sequence FROM messages m JOIN sessions s ON s.row_id = m.session
    WHERE m.namespace = (SELECT number FROM namespaces WHERE name = %(namespace)s) AND m.lsn < %(before_lsn)s
      AND %(user_id)s IN ('', s.user_id) AND %(session_id)s IN ('', s.session_id)
    ORDER BY m.lsn DESC LIMIT %(limit)s
  ) AS found
  JOIN messages m USING(session, sequence)
  JOIN sessions s ON s.row_id = m.session JOIN namespaces n ON n.number = s.namespace ORDER BY m.lsn DESC"""
_CONDITIONS = {
    RangeContent.ALL: "true",
    RangeContent.WINDOW: rows.IN_WINDOW,
    RangeContent.SYSTEM: f"m.role = 1 AND {rows.IN_WINDOW}",
}


def read_page(connection: Connection, key: SessionKey, query: MessageQuery) -> MessagePage:
    head = rows.find_head(connection, key)
    return (
        MessagePage(None)
        if head is None
        else MessagePage(head, *read_ranges(head, query, partial(_read_range, connection, head, query)))
    )


def _read_range(
    connection: Connection, head: SessionHead, query: MessageQuery, sequences: SequenceRange
) -> Iterator[StoredMessage]:
    """Read a range in pages, so that a limit on bytes does not read what follows it."""
    body = rows.DISPLAYED_BODY if query.bodies else "''::bytea"
    role = f"AND m.role = {int(query.role)}" if query.role else ""
    order = "DESC" if query.newest_first else "ASC"
    statement = f"""SELECT {rows.DISPLAYED}, {body} FROM messages m WHERE {_CONDITIONS[sequences.content]} {role}
      AND m.session = %s AND m.sequence > %s AND m.sequence < %s ORDER BY m.sequence {order} LIMIT %s"""
    after, before, left = sequences.after, sequences.before, query.limit
    while left > 0:
        page = connection.execute(statement, (head.row_id, after, before, min(left, _FETCH_ROWS))).fetchall()
        for row in page:
            yield rows.message_of(row)
        left -= len(page)
        if len(page) < _FETCH_ROWS:
            return
        last = page[-1][0]
        after, before = (after, last) if query.newest_first else (last, before)


def read_message(connection: Connection, key: SessionKey, message_id: str) -> MessageVersions | None:
    head = rows.find_head(connection, key)
    found = rows.find_versions(connection, head.row_id, message_id) if head else None
    return MessageVersions(head, *found) if head and found else None


def read_exchange_end(connection: Connection, key: SessionKey, exchange: int) -> int:
    ((last,),) = connection.execute(_EXCHANGE_END, (*key, exchange)).fetchall()
    return int(last)


def scan(connection: Connection, scope: Scope, before_lsn: int | None, limit: int) -> list[LocatedMessage]:
    parameters = {
        "namespace": scope.namespace,
        "user_id": scope.user_id,
        "session_id": scope.session_id,
        "before_lsn": _MAX_INTEGER if before_lsn is None else before_lsn,
        "limit": limit,
    }
    found: list[LocatedMessage] = []
    size = 0
    for *message, lsn, namespace, session_id, session, user_id in connection.execute(_SCAN, parameters):
        found.append(LocatedMessage(lsn, SessionKey(namespace, session_id), rows.message_of(message), session, user_id))
        size += len(found[-1].message.body)
        if size > _MAX_SCAN_BYTES:
            break
    return found


def read_sessions(connection: Connection, query: SessionQuery) -> list[SessionHead]:
    after = query.after or (_MAX_INTEGER, "")
    parameters = (query.namespace, query.user_id, query.user_id, *after, query.limit)
    return [rows.head_of(row) for row in connection.execute(_SESSIONS, parameters)]


def read_default_policies(connection: Connection) -> dict[str, Policy]:
    policies = {namespace: policy_of(*columns) for namespace, *columns in connection.execute(_DEFAULT_POLICIES)}
    return {namespace: policy for namespace, policy in policies.items() if policy is not None}
