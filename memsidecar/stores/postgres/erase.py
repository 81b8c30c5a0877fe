"""The handlers of Erase and EraseUser, and their dry runs."""

from collections.abc import Container, Sequence

from psycopg import Connection

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
from memsidecar.stores.postgres.deletion_queue import Deletion, ErasedRows, PendingDeletion, add_erased
from memsidecar.stores.postgres.document_rows import (
    DocumentReference,
    find_documents_of_session,
    find_documents_of_user,
)
from memsidecar.stores.postgres.documents import delete_documents
from memsidecar.stores.postgres.erase_messages import read_message_counts
from memsidecar.stores.postgres.namespaces import NUMBER
from memsidecar.stores.postgres.record_rows import RecordReference, find_records_of_session, find_records_of_user
from memsidecar.stores.postgres.records import delete_records
from memsidecar.stores.postgres.related_locks import require_locks
from memsidecar.stores.postgres.rows import find_head
from memsidecar.stores.postgres.tombstones import add_tombstones, newest_time_us
from memsidecar.stores.postgres.transaction import PostgresTransaction
from memsidecar.stores.tombstones import user_tombstones

# In the order of UserSession.
_SESSIONS_OF_USER = f"""SELECT row_id, session_id, bytes, pruned_count + count_1 + count_2 + count_3 + count_4
  FROM sessions WHERE namespace = {NUMBER} AND user_id = %s AND user_id <> '' ORDER BY row_id"""
_BYTES = "SELECT bytes FROM sessions WHERE row_id = %s"
_CLEAR = "UPDATE sessions SET row_id = %s, bytes = 0 WHERE row_id = %s"
_DELETE_SESSIONS = "DELETE FROM sessions WHERE row_id = ANY(%s)"
_DELETE_POLICIES = "DELETE FROM policies WHERE namespace = %s AND session_id = ANY(%s)"
_DELETE_OWNERS = """DELETE FROM owners WHERE namespace = %s AND
  (user_id = %s AND user_id <> '' OR session_id = ANY(%s) AND session_id <> '')"""
_ERASE_VERSION = "UPDATE namespaces SET erased_version = nextval('owner_versions') WHERE number = %s"
_HAS_OWNER = f"SELECT FROM owners WHERE namespace = {NUMBER} AND user_id = %s AND user_id <> ''"

_Targets = ErasureTargets[DocumentReference, RecordReference]


def erase(transaction: PostgresTransaction, command: Erase) -> PendingDeletion | Erased:
    require_locks(transaction, command)
    head = transaction.head(command.key)
    # No claim is logged: all that could be claimed is erased by the same commit.
    head = claimed_copy(head, command.user_id) if head else None
    targets = _find_targets(transaction.connection, command, head, transaction.deleted_records)
    if command.delete_session:
        forgotten = [Tombstone(TombstoneKind.SESSION, (command.key.session_id,))]
        newest_us = _newest_us(transaction, [head.row_id] if head else [], targets)
        add_tombstones(transaction, command.key.namespace, forgotten, newest_us)
    if head is None:
        return _erase_without_session(transaction, command, targets)
    ((size,),) = transaction.connection.execute(_BYTES, (head.row_id,)).fetchall()
    freed = Usage(-int(command.delete_session), -targets.counts.messages, -size)
    transaction.reserve_quota(command.key.namespace, freed)
    transaction.add_statement(*add_erased([head.row_id], ErasedRows.MESSAGES))
    if command.delete_session:
        cleared = None
        _delete(transaction, head)
    else:
        cleared = _clear(transaction, head)
    transaction.events.append(CommitEvent(command.key, cleared, reload=True))
    deletions = [
        Deletion(ErasedRows.MESSAGES, head.row_id),
        *_delete_owned(transaction, command.key.namespace, targets),
    ]
    return PendingDeletion(deletions, Erased(cleared, targets.counts))


def _delete(transaction: PostgresTransaction, head: SessionHead) -> None:
    _log_deletion(transaction, head.row_id, Owner(head.key.namespace, head.user_id, head.key.session_id))
    _delete_sessions(transaction, head.key.namespace, [head.row_id], [head.key.session_id])


def _clear(transaction: PostgresTransaction, head: SessionHead) -> SessionHead:
    """Give the session a new row id. Its row stays, so that transactions that wait for its lock find it."""
    namespace, session_id = head.key
    empty = SessionHead(head.key, transaction.next_row_id("session_row_ids"), head.user_id)
    cleared = cleared_head(head, empty)
    cleared.version = transaction.write_entry(namespace, LogKind.CLEAR, head.row_id, cleared.row_id)
    cleared.last_active_us = transaction.now_us
    transaction.erasures.append(ErasedNames(cleared.version, Owner(namespace, head.user_id, session_id)))
    transaction.add_statement(_CLEAR, cleared.row_id, head.row_id)
    transaction.save_session(cleared)
    return cleared


def erase_user(transaction: PostgresTransaction, command: EraseUser) -> PendingDeletion:
    """Erase a user. The transaction has no other command. An unknown user is forgotten, too: imports know no others."""
    require_locks(transaction, command)
    sessions, targets = _find_user_targets(transaction.connection, command)
    erased = Erased(None, targets.counts)
    row_ids, session_ids = [each.row_id for each in sessions], [each.session_id for each in sessions]
    if command.user_id:
        forgotten = user_tombstones(command.user_id, session_ids)
        add_tombstones(transaction, command.namespace, forgotten, _newest_us(transaction, row_ids, targets))
    if not any(targets.counts) and not _has_owner(transaction.connection, command):
        return PendingDeletion([], erased)  # waits for what an earlier call left to delete
    namespace, size = command.namespace, sum(session.bytes for session in sessions)
    transaction.reserve_quota(namespace, Usage(-targets.counts.sessions, -targets.counts.messages, -size))
    for session in sessions:
        _log_deletion(transaction, session.row_id, Owner(namespace, command.user_id, session.session_id))
        transaction.events.append(CommitEvent(SessionKey(namespace, session.session_id), None, reload=True))
    transaction.add_statement(*add_erased(row_ids, ErasedRows.MESSAGES))
    _delete_sessions(transaction, namespace, row_ids, session_ids, command.user_id)
    transaction.events.append(CommitEvent(SessionKey(namespace, ""), None, reload=True))
    deletions = [Deletion(ErasedRows.MESSAGES, row_id) for row_id in row_ids]
    deletions += _delete_owned(transaction, namespace, targets)
    _log_deletion(transaction, 0, Owner(namespace, command.user_id))
    return PendingDeletion(deletions, erased)


def _newest_us(transaction: PostgresTransaction, sessions: Sequence[int], targets: _Targets) -> int:
    records = [record.row_id for record in targets.records]
    documents = [document.row_id for document in targets.documents]
    return newest_time_us(transaction, sessions, records, documents)


def _has_owner(connection: Connection, command: EraseUser) -> bool:
    """Return whether the name of the user is stored although nothing else is: all facts were deleted."""
    return connection.execute(_HAS_OWNER, (command.namespace, command.user_id)).fetchone() is not None


def _log_deletion(transaction: PostgresTransaction, row_id: int, owner: Owner) -> None:
    lsn = transaction.write_entry(owner.namespace, LogKind.DELETE, row_id)
    transaction.erasures.append(ErasedNames(lsn, owner))


def _delete_sessions(
    transaction: PostgresTransaction,
    namespace: str,
    row_ids: Sequence[int],
    session_ids: Sequence[str],
    user_id: str = "",
) -> None:
    """Delete the rows of sessions, their policies and the owners of their records, and those of a user."""
    number, names = transaction.number(namespace), list(session_ids)
    transaction.add_statement(_DELETE_SESSIONS, list(row_ids))
    transaction.add_statement(_DELETE_POLICIES, number, names)
    transaction.add_statement(_DELETE_OWNERS, number, user_id, names)
    transaction.add_statement(_ERASE_VERSION, number)
    for session_id in names:
        transaction.remove_session(SessionKey(namespace, session_id))


def _find_user_targets(connection: Connection, command: EraseUser) -> tuple[Sequence[UserSession], _Targets]:
    found = connection.execute(_SESSIONS_OF_USER, (command.namespace, command.user_id)).fetchall()
    sessions = list(map(UserSession._make, found))
    documents = find_documents_of_user(connection, command.namespace, command.user_id)
    records = find_records_of_user(connection, command.namespace, command.user_id)
    return sessions, user_targets(sessions, documents, records)


def read_erasure_counts(connection: Connection, command: Erasure) -> ErasureCounts:
    if isinstance(command, ForgetMessages | ExpireMessages):
        return read_message_counts(connection, command)
    if isinstance(command, EraseUser):
        return _find_user_targets(connection, command)[1].counts
    head = find_head(connection, command.key)
    return _find_targets(connection, command, claimed_copy(head, command.user_id) if head else None).counts


def _find_targets(
    connection: Connection, command: Erase, head: SessionHead | None, deleted_records: Container[int] = ()
) -> _Targets:
    """Find what an erasure of the session removes, except records deleted in the same transaction."""
    documents = find_documents_of_session(connection, command.key) if command.delete_session else []
    user_id = head.user_id if head else ""
    found = find_records_of_session(connection, command.key, user_id, command.delete_session)
    records = [record for record in found if record.row_id not in deleted_records]
    return session_targets(command, head, documents, records)


def _erase_without_session(
    transaction: PostgresTransaction, command: Erase, targets: _Targets
) -> PendingDeletion | Erased:
    namespace, session_id = command.key
    deletions = _delete_owned(transaction, namespace, targets)
    erased = Erased(None, targets.counts)
    if targets.records:
        transaction.events.append(CommitEvent(command.key, None, reload=True))
    if command.delete_session:
        _delete_sessions(transaction, namespace, [], [session_id])
        _log_deletion(transaction, 0, Owner(namespace, "", session_id))
    return PendingDeletion(deletions, erased) if deletions else erased


def _delete_owned(transaction: PostgresTransaction, namespace: str, targets: _Targets) -> Sequence[Deletion]:
    delete_records(transaction, namespace, targets.records)
    return delete_documents(transaction, namespace, targets.documents)
