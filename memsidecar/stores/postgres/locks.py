"""What the commands of a group change, and the locks on it.

Every transaction takes its locks in one order: leases, owners, sessions by row id, namespaces by number. Each set is
sorted, so that no two transactions wait for each other. Advisory locks are not used: a pooler would give one to two
clients at once.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from psycopg import Connection, Cursor, errors

from memsidecar.domain.errors import JournalUnavailable
from memsidecar.domain.session import SessionHead, SessionKey
from memsidecar.stores.append_batch import ExistingMessage
from memsidecar.stores.contract import (
    AddDeadLetter,
    AdvanceWatermark,
    Append,
    Calibrate,
    Command,
    DeleteDocument,
    DeleteRecord,
    Erase,
    EraseUser,
    ExpireMessages,
    ForgetMessages,
    ImportDocument,
    ImportMessages,
    ImportRecords,
    ImportSession,
    Owner,
    PutDocument,
    UpsertRecords,
)
from memsidecar.stores.postgres.leases import FENCE
from memsidecar.stores.postgres.namespaces import (
    LOCK_NAMESPACES,
    READ_NAMESPACES,
    NamespaceChanges,
    NamespaceNumbers,
)
from memsidecar.stores.postgres.rows import HEADS, head_of

_ADD_OWNERS = """INSERT INTO owners(namespace, user_id, session_id)
  SELECT * FROM unnest(%b::bigint[], %b::text[], %b::text[]) AS o(namespace, user_id, session_id)
  ORDER BY namespace, session_id COLLATE "C", user_id COLLATE "C" ON CONFLICT DO NOTHING"""
_LOCK_OWNERS = """SELECT o.row_id FROM owners o
  JOIN unnest(%b::bigint[], %b::text[], %b::text[]) AS k(namespace, user_id, session_id)
  USING(namespace, user_id, session_id) ORDER BY o.namespace, o.session_id, o.user_id FOR NO KEY UPDATE OF o"""
_OF_KEYS = """sessions s JOIN unnest(%b::bigint[], %b::text[]) AS k(namespace, session_id)
  ON s.namespace = k.namespace AND s.session_id = k.session_id"""
_LOCK_SESSIONS = f"SELECT s.row_id FROM {_OF_KEYS} ORDER BY s.row_id FOR NO KEY UPDATE OF s"
_READ_HEADS = f"""{HEADS} JOIN unnest(%b::bigint[], %b::text[]) AS k(namespace, session_id)
  ON s.namespace = k.namespace AND s.session_id = k.session_id"""
_NEW_ROW_IDS = """SELECT k.name, k.session_id, nextval('session_row_ids')
  FROM unnest(%b::text[], %b::bigint[], %b::text[]) AS k(name, namespace, session_id)
  WHERE NOT EXISTS (SELECT FROM sessions s WHERE s.namespace = k.namespace AND s.session_id = k.session_id)"""
_FIND_EXISTING = """SELECT m.session, m.id, m.sequence, m.tokens, m.fingerprint
  FROM unnest(%b::bigint[], %b::text[], %b::text[]) AS k(namespace, session_id, id)
  JOIN sessions s ON s.namespace = k.namespace AND s.session_id = k.session_id
  JOIN messages m ON m.session = s.row_id AND m.id = k.id"""
_TRANSACTION_ID = "SELECT pg_current_xact_id()::text"


# Erasures remove what others may be adding; imports must not add what an erasure is removing.
_EXCLUSIVE = (
    Erase,
    EraseUser,
    ForgetMessages,
    ExpireMessages,
    ImportSession,
    ImportMessages,
    ImportRecords,
    ImportDocument,
)


class TargetsChanged(errors.SerializationFailure):
    """What a transaction is to change was replaced before its locks were taken. The transaction begins again."""


@dataclass(slots=True)
class LockTargets:
    """What the commands of a group read and change. `exclusive` locks their namespaces from the beginning."""

    namespaces: set[str] = field(default_factory=set)
    owners: set[Owner] = field(default_factory=set)
    sessions: set[SessionKey] = field(default_factory=set)
    message_ids: set[tuple[SessionKey, str]] = field(default_factory=set)
    exclusive: bool = False

    def add_command(self, command: Command) -> None:
        self.exclusive = self.exclusive or isinstance(command, _EXCLUSIVE)
        _TARGETS.get(type(command), LockTargets._add_key)(self, command)

    def add_session(self, key: SessionKey) -> None:
        self.namespaces.add(key.namespace)
        if key.session_id:
            self.sessions.add(key)

    def add_owner(self, owner: Owner) -> None:
        self.owners.add(owner)
        self.add_session(SessionKey(owner.namespace, owner.session_id))

    def _add_key(self, command: Any) -> None:
        self.add_session(command.key)

    def _add_append(self, command: Append) -> None:
        self.add_session(command.key)
        self.message_ids.update((command.key, draft.id) for draft in command.drafts)

    def _add_namespace(self, command: Any) -> None:
        self.namespaces.add(command.namespace)

    def _add_owner(self, command: Any) -> None:
        self.add_owner(command.owner)

    def _add_document(self, command: PutDocument | ImportDocument) -> None:
        self.add_owner(command.document.owner)

    def _add_imported_session(self, command: ImportSession) -> None:
        self.add_session(command.session.key)

    def _add_imported_messages(self, command: ImportMessages) -> None:
        for message in command.messages:
            self.add_session(message.key)
            self.message_ids.add((message.key, message.draft.id))


_TARGETS: Mapping[type, Callable[[LockTargets, Any], None]] = {
    Append: LockTargets._add_append,
    Calibrate: LockTargets._add_namespace,
    AdvanceWatermark: LockTargets._add_namespace,
    AddDeadLetter: LockTargets._add_namespace,
    EraseUser: LockTargets._add_namespace,
    PutDocument: LockTargets._add_document,
    ImportDocument: LockTargets._add_document,
    DeleteDocument: LockTargets._add_owner,
    UpsertRecords: LockTargets._add_owner,
    DeleteRecord: LockTargets._add_owner,
    ImportRecords: LockTargets._add_owner,
    ImportSession: LockTargets._add_imported_session,
    ImportMessages: LockTargets._add_imported_messages,
}


@dataclass(slots=True)
class LockedRows:
    """What a transaction read after it took its locks. `transaction_id` names it after a lost answer; a single
    statement has none before it commits.
    """

    transaction_id: str | None
    targets: LockTargets
    namespaces: Mapping[str, NamespaceChanges]
    heads: dict[SessionKey, SessionHead | None]
    new_row_ids: Mapping[SessionKey, int]
    existing: dict[tuple[int, str], ExistingMessage]


def lock(
    connection: Connection, numbers: NamespaceNumbers, targets: LockTargets, fence: Sequence[Any] | None
) -> LockedRows:
    """Begin a transaction, lock what the commands change, and read it: one round trip.

    What is read comes by statements of their own. Each has a snapshot that is newer than the locks before it.
    """
    known = numbers.resolve(connection, targets.namespaces)
    with connection.pipeline():
        connection.execute("BEGIN")
        lease = connection.execute(FENCE, fence) if fence else None
        owners = _lock_owners(connection, known, targets.owners)
        keys = _key_columns(known, targets.sessions)
        sessions = connection.execute(_LOCK_SESSIONS, keys)
        if targets.exclusive:
            connection.execute(LOCK_NAMESPACES, (list(known.values()),))
        transaction_id = connection.execute(_TRANSACTION_ID)
        namespaces = connection.execute(READ_NAMESPACES, (list(known.values()),))
        heads = connection.execute(_READ_HEADS, keys)
        new_row_ids = connection.execute(_NEW_ROW_IDS, ([key.namespace for key in targets.sessions], *keys))
        existing = connection.execute(_FIND_EXISTING, _id_columns(known, targets.message_ids))
    if lease is not None and not lease.rowcount:
        raise JournalUnavailable("another sidecar has taken the database over; nothing was changed")
    found = [head_of(row) for row in heads]
    locked = {row_id for (row_id,) in sessions}
    if (owners is not None and owners.rowcount < len(targets.owners)) or not locked.issuperset(
        head.row_id for head in found
    ):
        raise TargetsChanged("an owner was erased, or a session created")
    return LockedRows(
        transaction_id=transaction_id.fetchall()[0][0],
        targets=targets,
        namespaces={row[0]: NamespaceChanges.of_row(row) for row in namespaces},
        heads=dict.fromkeys(targets.sessions) | {head.key: head for head in found},
        new_row_ids={SessionKey(name, session_id): row_id for name, session_id, row_id in new_row_ids},
        existing={(session, name): ExistingMessage(*columns) for session, name, *columns in existing},
    )


def _lock_owners(connection: Connection, numbers: Mapping[str, int], owners: Collection[Owner]) -> Cursor | None:
    """Lock the rows of owners; an owner without a row gets one."""
    if not owners:
        return None
    columns = [
        [numbers[owner.namespace] for owner in owners],
        [owner.user_id for owner in owners],
        [owner.session_id for owner in owners],
    ]
    connection.execute(_ADD_OWNERS, columns)
    return connection.execute(_LOCK_OWNERS, columns)


def _key_columns(numbers: Mapping[str, int], keys: Iterable[SessionKey]) -> Sequence[list[Any]]:
    keys = list(keys)
    return [numbers[key.namespace] for key in keys], [key.session_id for key in keys]


def _id_columns(numbers: Mapping[str, int], names: Iterable[tuple[SessionKey, str]]) -> Sequence[list[Any]]:
    names = list(names)
    return (*_key_columns(numbers, [key for key, _ in names]), [message_id for _, message_id in names])
