"""The handler of ImportMessages."""

import sqlite3
import zlib
from collections.abc import Iterator

from memsidecar.domain.message import Draft
from memsidecar.domain.session import SessionHead, SessionKey
from memsidecar.stores.contract import CommitEvent, Imported, ImportMessages, MessageImport, Outcome
from memsidecar.stores.log_kinds import LogKind
from memsidecar.stores.message_import import ImportedClaim, ImportedMessage, MessageBatch
from memsidecar.stores.sqlite.schema import id_hash
from memsidecar.stores.sqlite.tombstones import TombstoneReader
from memsidecar.stores.sqlite.transaction import Statement, Transaction
from memsidecar.stores.sqlite.writer_state import find_existing

_INSERT_LOG = """INSERT INTO log(lsn, session, kind, sequence, time_us, id, body, vector, crc)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"""
_INSERT_MESSAGE = f"INSERT INTO messages VALUES ({', '.join('?' * 14)})"
_FLAGS = "SELECT flags FROM messages WHERE session = ? AND sequence = ?"
_ADD_BYTES = "UPDATE sessions SET bytes = bytes + ? WHERE row_id = ?"


def import_messages(transaction: Transaction, command: ImportMessages) -> Imported:
    """Store the messages. The transaction has no other command, so that the committed state is the current one."""
    namespace = command.messages[0].key.namespace
    tombstones = None if command.override_erasures else TombstoneReader(transaction.connection, namespace)
    wanted = [
        None if tombstones is not None and tombstones.is_forgotten(message.origin) else message
        for message in command.messages
    ]
    known = _find_fingerprints(transaction, [message for message in wanted if message is not None])
    batch = MessageBatch(_Reader(transaction), transaction.lsn, transaction.now_us, known)
    outcomes = [Outcome.FORGOTTEN if message is None else batch.add(message) for message in wanted]
    transaction.reserve_quota(namespace, batch.usage)
    _store(transaction, batch)
    return Imported(outcomes)


class _Reader:
    """Implements `ImportReader`."""

    def __init__(self, transaction: Transaction) -> None:
        self._connection: sqlite3.Connection = transaction.connection
        self._transaction = transaction
        self._next_session = transaction.next_session

    def head(self, key: SessionKey) -> SessionHead | None:
        return self._transaction.head(key)

    def new_session(self, key: SessionKey, user_id: str) -> SessionHead:
        head = self._transaction.new_session(key, user_id)
        head.row_id, self._next_session = self._next_session, self._next_session + 1
        return head

    def find_flags(self, session: int, sequence: int) -> int:
        row = self._connection.execute(_FLAGS, (session, sequence)).fetchone()
        return row[0] if row else 0


def _find_fingerprints(transaction: Transaction, messages: list[MessageImport]) -> dict[tuple[int, str], bytes]:
    pairs: list[int] = []
    for message in messages:
        if (head := transaction.head(message.key)) is not None:
            pairs += (head.row_id, id_hash(message.draft.id))
    return {name: existing.fingerprint for name, existing in find_existing(transaction.connection, pairs)}


def _store(transaction: Transaction, batch: MessageBatch) -> None:
    sessions = batch.changed_sessions
    for session in sessions:
        if session.is_new:
            transaction.save_session(session.head)
    transaction.statements += _insertions(batch, transaction.now_us)
    for session in sessions:
        head = session.head
        transaction.save_session(head)
        transaction.add_statement(_ADD_BYTES, session.bytes, head.row_id)
        transaction.events.append(CommitEvent(head.key, head, session.appended))
    transaction.lsn = batch.lsn
    transaction.new_ids += [(message.session, id_hash(message.draft.id)) for message in batch.messages]
    transaction.text_bytes += batch.usage.bytes


def _insertions(batch: MessageBatch, now_us: int) -> Iterator[Statement]:
    for entry in batch.entries:
        if isinstance(entry, ImportedClaim):
            yield _log_entry(entry.lsn, entry.session, LogKind.CLAIM, None, b"", now_us=now_us)
            continue
        sequence, draft = entry.original.sequence, entry.draft
        yield _log_entry(
            entry.lsn, entry.session, LogKind.MESSAGE, sequence, entry.original.body, draft=draft, now_us=now_us
        )
        if entry.is_shortened:
            yield _log_entry(
                entry.displayed_lsn, entry.session, LogKind.SHORTENING, sequence, entry.displayed.body, now_us=now_us
            )
        yield _INSERT_MESSAGE, _message_row(entry)


def _log_entry(
    lsn: int,
    session: int,
    kind: LogKind,
    sequence: int | None,
    body: bytes,
    *,
    now_us: int,
    draft: Draft | None = None,
) -> Statement:
    message_id, vector = (draft.id, draft.vector) if draft else (None, None)
    return _INSERT_LOG, (lsn, session, kind, sequence, now_us, message_id, body, vector, zlib.crc32(body))


def _message_row(entry: ImportedMessage) -> tuple[object, ...]:
    draft, original = entry.draft, entry.original
    place = (entry.session, original.sequence, entry.lsn, entry.displayed_lsn, entry.lsn)
    columns = (draft.role, draft.tokens, entry.displayed.tokens, original.flags, draft.time_us, draft.score)
    return (*place, *columns, original.exchange, id_hash(draft.id), draft.fingerprint)
