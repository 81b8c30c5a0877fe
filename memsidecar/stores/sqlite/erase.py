"""The handlers of Erase and EraseUser, and their dry runs."""

import json
import sqlite3
from collections.abc import Container, Sequence

from memsidecar.domain.quota import Usage
from memsidecar.domain.session import SessionHead, SessionKey, claimed_copy
from memsidecar.stores.contract import (
    CommitEvent,
    Erase,
    Erased,
    ErasedNames,
    EraseUser,
    Erasure,
    ErasureCounts,
    ExpireMessages,
    ForgetMessages,
    Owner,
    Tombstone,
    TombstoneKind,
)
from memsidecar.stores.erasure_targets import ErasureTargets, UserSession, cleared_head, session_targets, user_targets
from memsidecar.stores.log_kinds import LogKind
from memsidecar.stores.sqlite.documents import (
    DocumentLocation,
    delete_documents,
    find_documents_of_session,
    find_documents_of_user,
)
from memsidecar.stores.sqlite.erase_messages import read_message_counts
from memsidecar.stores.sqlite.record_rows import RecordLocation, find_records_of_session, find_records_of_user
from memsidecar.stores.sqlite.records import delete_records
from memsidecar.stores.sqlite.rows import find_bytes, find_head
from memsidecar.stores.sqlite.secure_delete import CLEAN_LATER_SECONDS, OrphanedTexts, PendingPurge, Purge
from memsidecar.stores.sqlite.tombstones import add_tombstones, newest_time_us
from memsidecar.stores.sqlite.transaction import Entry, Transaction
from memsidecar.stores.tombstones import user_tombstones

# In the order of UserSession.
_SESSIONS_OF_USER = """SELECT row_id, session_id, bytes, pruned_count + count_1 + count_2 + count_3 + count_4
  FROM sessions WHERE namespace = ? AND user_id = ? AND user_id <> '' ORDER BY row_id"""
_LISTED = "(SELECT value FROM json_each(?))"
_DELETE_POLICIES = f"""DELETE FROM policies WHERE namespace = ?
  AND session_id IN (SELECT session_id FROM sessions WHERE row_id IN {_LISTED})"""
_DELETE_OWNER_SESSION = "DELETE FROM owners WHERE namespace = ? AND session_id = ? AND session_id <> ''"
_OF_USER = "namespace = ? AND user_id = ? AND user_id <> ''"
_DELETE_OWNERS = f"""DELETE FROM owners WHERE ({_OF_USER}) OR (namespace = ?
  AND session_id IN (SELECT session_id FROM sessions WHERE row_id IN {_LISTED}))"""


_Targets = ErasureTargets[DocumentLocation, RecordLocation]


def erase(transaction: Transaction, command: Erase) -> PendingPurge | Erased:
    head = transaction.head(command.key)
    # No claim is logged: all that could be claimed is erased by the same commit.
    head = claimed_copy(head, command.user_id) if head else None
    targets = _find_targets(transaction.connection, command, head, transaction.deleted_records)
    if command.delete_session:
        forgotten = [Tombstone(TombstoneKind.SESSION, (command.key.session_id,))]
        newest_us = _newest_us(transaction.connection, [head.row_id] if head else [], targets)
        add_tombstones(transaction, command.key.namespace, forgotten, newest_us)
    if head is None:
        return _erase_without_session(transaction, command, targets)
    size = find_bytes(transaction.connection, head.row_id)
    freed = Usage(-int(command.delete_session), -targets.counts.messages, -size)
    transaction.reserve_quota(head.key.namespace, freed)
    _log_erasure(transaction, head, command.delete_session)
    transaction.add_statement("INSERT INTO erased_sessions VALUES (?)", head.row_id)
    transaction.add_statement("DELETE FROM sessions WHERE row_id = ?", head.row_id)
    cleared = None if command.delete_session else cleared_head(head, transaction.new_session(head.key, head.user_id))
    if cleared is None:
        transaction.add_statement("DELETE FROM policies WHERE namespace = ? AND session_id = ?", *command.key)
        transaction.add_statement(_DELETE_OWNER_SESSION, *command.key)
        transaction.heads[command.key] = None
    else:
        transaction.save_session(cleared)
    transaction.events.append(CommitEvent(command.key, cleared, reload=True))
    purges: list[Purge] = [head.row_id, *_delete(transaction, command.key.namespace, targets)]
    return PendingPurge(purges, Erased(cleared, targets.counts), 0.0 if cleared is None else CLEAN_LATER_SECONDS)


def erase_user(transaction: Transaction, command: EraseUser) -> PendingPurge:
    """Erase a user. The transaction has no other command. An unknown user is forgotten, too: imports know no others."""
    sessions, targets = _find_user_targets(transaction.connection, command)
    erased = Erased(None, targets.counts)
    if command.user_id:
        forgotten = user_tombstones(command.user_id, [session.session_id for session in sessions])
        newest_us = _newest_us(transaction.connection, [session.row_id for session in sessions], targets)
        add_tombstones(transaction, command.namespace, forgotten, newest_us)
    if not any(targets.counts) and not _has_owner(transaction.connection, command):
        return PendingPurge([], erased)  # waits for what an earlier call left to purge
    namespace, row_ids = command.namespace, json.dumps([session.row_id for session in sessions])
    size = sum(session.bytes for session in sessions)
    transaction.reserve_quota(namespace, Usage(-targets.counts.sessions, -targets.counts.messages, -size))
    for session in sessions:
        key = SessionKey(namespace, session.session_id)
        _log_deletion(transaction, session.row_id, Owner(namespace, command.user_id, session.session_id))
        transaction.heads[key] = None
        transaction.events.append(CommitEvent(key, None, reload=True))
    transaction.add_statement("INSERT INTO erased_sessions SELECT value FROM json_each(?)", row_ids)
    transaction.add_statement(_DELETE_POLICIES, namespace, row_ids)
    transaction.add_statement(_DELETE_OWNERS, namespace, command.user_id, namespace, row_ids)
    transaction.add_statement(f"DELETE FROM sessions WHERE row_id IN {_LISTED}", row_ids)
    transaction.events.append(CommitEvent(SessionKey(namespace, ""), None, reload=True))
    purges: list[Purge] = [*(session.row_id for session in sessions), *_delete(transaction, namespace, targets)]
    _log_deletion(transaction, 0, Owner(namespace, command.user_id))
    return PendingPurge(purges, erased, clean_within=0.0)


def _newest_us(connection: sqlite3.Connection, sessions: Sequence[int], targets: _Targets) -> int:
    records = [location.row_id for location in targets.records]
    documents = [location.row_id for location in targets.documents]
    return newest_time_us(connection, sessions, records, documents)


def _has_owner(connection: sqlite3.Connection, command: EraseUser) -> bool:
    """Return whether the name of the user is stored although nothing else is: all facts were deleted."""
    query = f"SELECT 1 FROM owners WHERE {_OF_USER}"
    return connection.execute(query, (command.namespace, command.user_id)).fetchone() is not None


def _log_erasure(transaction: Transaction, head: SessionHead, delete_session: bool) -> None:
    """Log the erasure of a session. That of a cleared one refers to the row that the session has from now on."""
    owner = Owner(head.key.namespace, head.user_id, head.key.session_id)
    if delete_session:
        head.version = _log_deletion(transaction, head.row_id, owner)
    else:
        entry = Entry(LogKind.CLEAR, sequence=transaction.next_session, id=head.key.namespace)
        transaction.erasures.append(ErasedNames(transaction.log_entry(head, entry), owner))


def _log_deletion(transaction: Transaction, row_id: int, owner: Owner) -> int:
    lsn = transaction.write_entry(row_id, Entry(LogKind.DELETE, id=owner.namespace))
    transaction.erasures.append(ErasedNames(lsn, owner))
    return lsn


def _find_user_targets(connection: sqlite3.Connection, command: EraseUser) -> tuple[Sequence[UserSession], _Targets]:
    found = connection.execute(_SESSIONS_OF_USER, (command.namespace, command.user_id)).fetchall()
    sessions = list(map(UserSession._make, found))
    documents = find_documents_of_user(connection, command.namespace, command.user_id)
    records = find_records_of_user(connection, command.namespace, command.user_id)
    return sessions, user_targets(sessions, documents, records)


def read_erasure_counts(connection: sqlite3.Connection, command: Erasure) -> ErasureCounts:
    if isinstance(command, ForgetMessages | ExpireMessages):
        return read_message_counts(connection, command)
    if isinstance(command, EraseUser):
        return _find_user_targets(connection, command)[1].counts
    head = find_head(connection, command.key)
    return _find_targets(connection, command, claimed_copy(head, command.user_id) if head else None).counts


def _find_targets(
    connection: sqlite3.Connection, command: Erase, head: SessionHead | None, deleted_records: Container[int] = ()
) -> _Targets:
    """Find what an erasure of the session removes, except records deleted in the same transaction."""
    documents = find_documents_of_session(connection, command.key) if command.delete_session else []
    user_id = head.user_id if head else ""
    found = find_records_of_session(connection, command.key, user_id, command.delete_session)
    records = [location for location in found if location.row_id not in deleted_records]
    return session_targets(command, head, documents, records)


def _erase_without_session(transaction: Transaction, command: Erase, targets: _Targets) -> PendingPurge | Erased:
    orphans = _delete(transaction, command.key.namespace, targets)
    erased = Erased(None, targets.counts)
    if targets.records:
        transaction.events.append(CommitEvent(command.key, None, reload=True))
    if command.delete_session:
        transaction.logged_namespaces.add(command.key.namespace)
        transaction.add_statement(_DELETE_OWNER_SESSION, *command.key)
        _log_deletion(transaction, 0, Owner(command.key.namespace, "", command.key.session_id))
    return PendingPurge(orphans, erased, clean_within=0.0) if orphans else erased


def _delete(transaction: Transaction, namespace: str, targets: _Targets) -> list[OrphanedTexts]:
    return [
        *delete_documents(transaction, namespace, targets.documents),
        *delete_records(transaction, namespace, targets.records),
    ]
