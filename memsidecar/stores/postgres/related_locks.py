"""Locks on what a command changes besides the session or owner that it names.

An erasure removes records and documents of other owners, and a user's sessions; a record is derived from a session.
They are known by their rows only. So they are read before the locks are taken, and those of an erasure again under
them. An erasure locks its namespace, too: nothing is added meanwhile. If there is something new, the transaction begins
again.
"""

from typing import NamedTuple, get_args

from psycopg import Connection

from memsidecar.domain.session import SessionKey
from memsidecar.stores.contract import Command, EraseUser, Erasure, ExpireMessages, Owner, RecordKind, UpsertRecords
from memsidecar.stores.postgres.locks import LockTargets, TargetsChanged
from memsidecar.stores.postgres.transaction import PostgresTransaction

_NAMESPACE = "(SELECT number FROM namespaces WHERE name = %(namespace)s)"
# Of a session: the owners of what was derived from it, of what it owns, and of its user's patterns.
_OWNERS_OF_SESSION = f"""SELECT user_id, session_id FROM records
    WHERE namespace = {_NAMESPACE} AND source = %(session_id)s AND source <> ''
  UNION SELECT user_id, session_id FROM owners
    WHERE namespace = {_NAMESPACE} AND session_id = %(session_id)s AND session_id <> ''
  UNION SELECT r.user_id, r.session_id FROM sessions s JOIN records r ON r.namespace = s.namespace
    AND r.session_id = '' AND r.user_id = coalesce(nullif(s.user_id, ''), %(user_id)s)
    AND r.kind = {int(RecordKind.PATTERNS)}
    WHERE s.namespace = {_NAMESPACE} AND s.session_id = %(session_id)s AND r.user_id <> ''"""
_SESSIONS_OF_USER = f"""SELECT session_id FROM sessions
  WHERE namespace = {_NAMESPACE} AND user_id = %(user_id)s AND user_id <> ''"""
_OWNERS_OF_USER = f"""SELECT user_id, session_id FROM records
    WHERE namespace = {_NAMESPACE} AND source <> '' AND source IN ({_SESSIONS_OF_USER})
  UNION SELECT user_id, session_id FROM owners
    WHERE namespace = {_NAMESPACE} AND user_id = %(user_id)s AND user_id <> ''
  UNION SELECT user_id, session_id FROM owners
    WHERE namespace = {_NAMESPACE} AND session_id <> '' AND session_id IN ({_SESSIONS_OF_USER})"""
_SESSION = "SELECT n.name, s.session_id FROM sessions s JOIN namespaces n ON n.number = s.namespace WHERE s.row_id = %s"


class _Related(NamedTuple):
    owners: set[Owner]
    sessions: set[SessionKey]


def add_related(connection: Connection, targets: LockTargets, command: Command) -> None:
    """Add what the command has to lock besides what it names."""
    if isinstance(command, get_args(Erasure)):
        owners, sessions = _find_erased(connection, command)
        targets.owners.update(owners)
        targets.sessions.update(sessions)
    elif isinstance(command, UpsertRecords) and command.derived_from is not None:
        row = connection.execute(_SESSION, (command.derived_from,)).fetchone()
        if row is not None:
            targets.add_session(SessionKey(*row))


def require_locks(transaction: PostgresTransaction, command: Erasure) -> None:
    """Raise TargetsChanged if the transaction has not locked all that the erasure removes."""
    owners, sessions = _find_erased(transaction.connection, command)
    if not (owners <= transaction.locked.owners and sessions <= transaction.locked.sessions):
        raise TargetsChanged("the targets of an erasure have changed")


def _find_erased(connection: Connection, command: Erasure) -> _Related:
    if isinstance(command, EraseUser):
        return _find_of_user(connection, command)
    user_id = "" if isinstance(command, ExpireMessages) else command.user_id
    parameters = command.key._asdict() | {"user_id": user_id}
    found = connection.execute(_OWNERS_OF_SESSION, parameters).fetchall()
    return _Related({Owner(command.key.namespace, *row) for row in found}, {command.key})


def _find_of_user(connection: Connection, command: EraseUser) -> _Related:
    parameters = {"namespace": command.namespace, "user_id": command.user_id}
    owners = connection.execute(_OWNERS_OF_USER, parameters).fetchall()
    sessions = connection.execute(_SESSIONS_OF_USER, parameters).fetchall()
    return _Related(
        {Owner(command.namespace, *row) for row in owners},
        {SessionKey(command.namespace, session_id) for (session_id,) in sessions},
    )
