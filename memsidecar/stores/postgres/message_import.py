"""The handler of ImportMessages."""

from memsidecar.domain.session import SessionHead, SessionKey
from memsidecar.stores.contract import CommitEvent, Imported, ImportMessages, Outcome
from memsidecar.stores.log_kinds import LogKind
from memsidecar.stores.message_import import ImportedClaim, ImportedMessage, MessageBatch
from memsidecar.stores.postgres.tombstones import find_forgotten
from memsidecar.stores.postgres.transaction import PostgresTransaction

_FLAGS = "SELECT flags FROM messages WHERE session = %s AND sequence = %s"


def import_messages(transaction: PostgresTransaction, command: ImportMessages) -> Imported:
    """Store the messages. The transaction has no other command, so that the committed state is the current one."""
    namespace = command.messages[0].key.namespace
    forgotten = [False] * len(command.messages)
    if not command.override_erasures:
        forgotten = find_forgotten(transaction, namespace, [message.origin for message in command.messages])
    known = {name: existing.fingerprint for name, existing in transaction.existing.items()}
    batch = MessageBatch(_Reader(transaction), transaction.namespace(namespace).lsn, transaction.now_us, known)
    outcomes = [
        Outcome.FORGOTTEN if is_forgotten else batch.add(message)
        for message, is_forgotten in zip(command.messages, forgotten, strict=True)
    ]
    transaction.reserve_quota(namespace, batch.usage)
    _store(transaction, namespace, batch)
    return Imported(outcomes)


class _Reader:
    """Implements `ImportReader`."""

    def __init__(self, transaction: PostgresTransaction) -> None:
        self._transaction = transaction

    def head(self, key: SessionKey) -> SessionHead | None:
        return self._transaction.head(key)

    def new_session(self, key: SessionKey, user_id: str) -> SessionHead:
        return self._transaction.new_session(key, user_id)

    def find_flags(self, session: int, sequence: int) -> int:
        row = self._transaction.connection.execute(_FLAGS, (session, sequence)).fetchone()
        return row[0] if row else 0


def _store(transaction: PostgresTransaction, namespace: str, batch: MessageBatch) -> None:
    heads = {session.head.row_id: session.head for session in batch.changed_sessions}
    for entry in batch.entries:
        if isinstance(entry, ImportedClaim):
            transaction.write_entry(namespace, LogKind.CLAIM, entry.session)
        else:
            _store_message(transaction, heads[entry.session], entry)
    for session in batch.changed_sessions:
        transaction.add_bytes(session.head.row_id, session.bytes)
        transaction.save_session(session.head)
        transaction.events.append(CommitEvent(session.head.key, session.head, session.appended))


def _store_message(transaction: PostgresTransaction, head: SessionHead, entry: ImportedMessage) -> None:
    """Add the message and its log entries, whose lsns are those that the batch has counted."""
    lsn = transaction.namespace(head.key.namespace).next_lsn()
    transaction.add_message(head, lsn, entry.draft, entry.original, entry.displayed if entry.is_shortened else None)
    if entry.is_shortened:
        transaction.write_entry(head.key.namespace, LogKind.SHORTENING, head.row_id, entry.original.sequence)
