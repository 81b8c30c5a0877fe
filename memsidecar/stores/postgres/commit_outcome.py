"""The outcome of a commit whose answer was lost.

The server tells that of a transaction by its id. The lsns that the commit took are those of the rows that carry this
id. A single statement has no id that is known before; its messages tell.
"""

import time
from collections.abc import Callable
from contextlib import closing

import psycopg
from psycopg import Connection, errors

from memsidecar.domain.errors import JournalUnavailable
from memsidecar.stores.postgres.connection import RETRY_SECONDS, ConnectionString, connect
from memsidecar.stores.postgres.known_heads import KnownRows
from memsidecar.stores.postgres.namespaces import NamespaceChanges
from memsidecar.stores.postgres.transaction import PostgresTransaction

POLL_SECONDS = 0.05
_COMMITTED, _ABORTED = "committed", "aborted"

_STATUS = "SELECT pg_xact_status(%s::xid8)"
# A crash may give the id of a transaction that was lost to a later one: the time tells them apart.
_LAST_LSN = """SELECT max(lsn) FROM (
    SELECT lsn FROM messages
      WHERE namespace = %(number)s AND lsn > %(lsn)s AND commit_us = %(now_us)s AND xmin = %(id)s::xid8::xid
    UNION ALL SELECT lsn FROM events
      WHERE namespace = %(number)s AND lsn > %(lsn)s AND time_us = %(now_us)s AND xmin = %(id)s::xid8::xid
  ) AS entries"""
_TOUCH = """UPDATE sessions SET last_active_us = last_active_us + 1
  WHERE row_id = %s AND version = %s AND last_active_us = %s"""
_FIND_MESSAGE = "SELECT lsn FROM messages WHERE session = %s AND sequence = %s AND id = %s AND commit_us = %s"


def resolve_commit(connection_string: ConnectionString, transaction: PostgresTransaction) -> bool:
    """Return whether the transaction was committed, with its lsns corrected; JournalUnavailable if nobody can tell.

    While it is in progress, the server has not yet noticed that its connection is lost.
    """

    def is_committed(connection: Connection) -> bool | None:
        status = _read_status(connection, transaction)
        if status == _COMMITTED:
            return _correct_lsns(connection, transaction)
        return False if status == _ABORTED else None

    return _resolve(connection_string, is_committed)


def resolve_appends(connection_string: ConnectionString, transaction: PostgresTransaction, known: KnownRows) -> bool:
    """Return whether the statement that committed the Appends took effect; if not, it never will.

    The statement writes only while each session is as known. So changing one of them, as it is known, decides: it
    waits for a statement in progress, and succeeds only if that has not taken effect.
    """
    first = known[transaction.saved_heads[0].key]

    def is_committed(connection: Connection) -> bool:
        connection.execute(_TOUCH, (first.row_id, first.version, first.last_active_us))
        found = {
            namespace: connection.execute(_FIND_MESSAGE, (*message, transaction.now_us)).fetchone()
            for namespace, message in transaction.last_messages.items()
        }
        stored = {namespace: int(row[0]) for namespace, row in found.items() if row is not None}
        if len(stored) < len(found):
            return False
        transaction.correct_lsns(stored)
        return True

    return _resolve(connection_string, is_committed)


def _resolve(connection_string: ConnectionString, is_committed: Callable[[Connection], bool | None]) -> bool:
    deadline = time.monotonic() + RETRY_SECONDS
    while time.monotonic() < deadline:
        try:
            with closing(connect(connection_string)) as connection:
                answer = is_committed(connection)
                if answer is not None:
                    return answer
        except psycopg.OperationalError:
            pass  # the database is still away
        time.sleep(POLL_SECONDS)
    raise JournalUnavailable("the journal's database does not answer; the call may have taken effect: try again")


def _read_status(connection: Connection, transaction: PostgresTransaction) -> str | None:
    try:
        ((status,),) = connection.execute(_STATUS, (transaction.id,)).fetchall()
        return None if status is None else str(status)
    except errors.InvalidParameterValue:
        return _ABORTED  # an id that the server has not given: the transaction was lost with the server


def _correct_lsns(connection: Connection, transaction: PostgresTransaction) -> bool:
    """Correct the lsns; return False if no entry of the transaction is stored: its id is another one's now."""
    changed = [changes for changes in transaction.namespaces if changes.lsn > changes.read_lsn]
    found = {changes.name: _last_lsn(connection, transaction, changes) for changes in changed}
    stored = {name: lsn for name, lsn in found.items() if lsn is not None}
    if len(stored) < len(found):
        return False
    transaction.correct_lsns(stored)
    return True


def _last_lsn(connection: Connection, transaction: PostgresTransaction, changes: NamespaceChanges) -> int | None:
    parameters = {
        "number": changes.number,
        "lsn": changes.read_lsn,
        "now_us": transaction.now_us,
        "id": transaction.id,
    }
    ((lsn,),) = connection.execute(_LAST_LSN, parameters).fetchall()
    return None if lsn is None else int(lsn)
