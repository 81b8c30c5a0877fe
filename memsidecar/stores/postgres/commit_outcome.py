"""The outcome of a commit whose answer was lost.

The server tells it by the transaction's id. The lsns that the commit took are those of the rows that carry this id.
"""

import time
from contextlib import closing

import psycopg
from psycopg import Connection, errors

from memsidecar.domain.errors import JournalUnavailable
from memsidecar.stores.postgres.connection import RETRY_SECONDS, ConnectionString, connect
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


def resolve_commit(connection_string: ConnectionString, transaction: PostgresTransaction) -> bool:
    """Return whether the transaction was committed, with its lsns corrected; JournalUnavailable if nobody can tell.

    While it is in progress, the server has not yet noticed that its connection is lost.
    """
    deadline = time.monotonic() + RETRY_SECONDS
    while time.monotonic() < deadline:
        try:
            with closing(connect(connection_string)) as connection:
                status = _read_status(connection, transaction.id)
                if status == _COMMITTED:
                    return _correct_lsns(connection, transaction)
                if status == _ABORTED:
                    return False
        except psycopg.OperationalError:
            pass  # the database is still away
        time.sleep(POLL_SECONDS)
    raise JournalUnavailable("the journal's database does not answer; the call may have taken effect: try again")


def _read_status(connection: Connection, transaction_id: str) -> str | None:
    try:
        ((status,),) = connection.execute(_STATUS, (transaction_id,)).fetchall()
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
