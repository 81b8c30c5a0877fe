"""The handler of ImportMessages."""

import zlib

from memsidecar.domain.errors import IdConflict
from memsidecar.domain.message import Draft, Flag, Role, StoredMessage
from memsidecar.domain.pruning import link_exchange
from memsidecar.domain.quota import Usage
from memsidecar.domain.session import SessionHead, SessionKey, claimed_copy, is_claim
from memsidecar.stores.append_batch import ExistingMessage
from memsidecar.stores.contract import CommitEvent, Imported, ImportMessages, MessageImport, Outcome
from memsidecar.stores.log_kinds import LogKind
from memsidecar.stores.message_encoding import message_bytes, with_sequence
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
    batch = _ImportBatch(transaction, namespace)
    wanted = [
        None if tombstones is not None and tombstones.is_forgotten(message.origin) else message
        for message in command.messages
    ]
    batch.find_existing([message for message in wanted if message is not None])
    outcomes = [Outcome.FORGOTTEN if message is None else batch.add(message) for message in wanted]
    batch.add_to_transaction()
    return Imported(outcomes)


class _ImportedSession:
    """A session and its changes: messages of the window, bytes, and whether the session is new."""

    def __init__(self, head: SessionHead, *, is_new: bool) -> None:
        self.head = head
        self.is_new = self.is_changed = is_new
        self.appended: list[StoredMessage] = []
        self.bytes = 0


class _ImportBatch:
    """The messages of one command. They are added to the transaction when all of them are checked."""

    def __init__(self, transaction: Transaction, namespace: str) -> None:
        self._transaction = transaction
        self._namespace = namespace
        self._lsn = transaction.lsn
        self._next_session = transaction.next_session
        self._sessions: dict[SessionKey, _ImportedSession] = {}
        self._existing: dict[tuple[int, str], ExistingMessage] = {}
        self._flags: dict[tuple[int, int], int] = {}
        self._statements: list[Statement] = []
        self._new_ids: list[tuple[int, int]] = []

    def find_existing(self, messages: list[MessageImport]) -> None:
        pairs: list[int] = []
        for message in messages:
            if (head := self._transaction.head(message.key)) is not None:
                pairs += (head.row_id, id_hash(message.draft.id))
        self._existing.update(find_existing(self._transaction.connection, pairs))

    def add(self, message: MessageImport) -> Outcome:
        session = self._session(message)
        name = (session.head.row_id, message.draft.id)
        existing = self._existing.get(name)
        if existing is None:
            self._add_new(session, message)
            return Outcome.STORED
        if existing.fingerprint != message.draft.fingerprint:
            raise IdConflict(message.draft.id)
        return Outcome.DUPLICATE

    def _session(self, message: MessageImport) -> _ImportedSession:
        session = self._sessions.get(message.key)
        before = self._transaction.head(message.key) if session is None else session.head
        if before is None:
            head = self._transaction.new_session(message.key, message.user_id)
            head.row_id, self._next_session = self._next_session, self._next_session + 1
            session = self._sessions[message.key] = _ImportedSession(head, is_new=True)
            return session
        head = claimed_copy(before, message.user_id)
        if session is None:
            session = self._sessions[message.key] = _ImportedSession(head, is_new=False)
        session.head = head
        if is_claim(before, head):
            head.version, session.is_changed = self._log(head.row_id, LogKind.CLAIM, None, b""), True
        return session

    def _add_new(self, session: _ImportedSession, message: MessageImport) -> None:
        draft, head = message.draft, session.head
        keeps_sequence = message.sequence > head.last_sequence
        sequence = message.sequence if keeps_sequence else head.last_sequence + 1
        exchange = 0
        if draft.calls or draft.answers:
            exchange, head.open_calls = link_exchange(head.open_calls, draft.calls, draft.answers, sequence)
        pruned = self._is_pruned(head.row_id, message, exchange, sequence)
        flags = draft.flags | (Flag.PRUNED if pruned else 0) | (Flag.SHORTENED if message.displayed else 0)
        stored = StoredMessage(
            sequence,
            draft.role,
            draft.tokens,
            exchange,
            int(flags),
            draft.score,
            draft.time_us,
            with_sequence(draft.body, sequence),
        )
        lsn = self._log(head.row_id, LogKind.MESSAGE, sequence, stored.body, draft)
        displayed_lsn, displayed = lsn, stored
        if message.displayed is not None:
            body, tokens = message.displayed
            displayed = stored._replace(body=with_sequence(body, sequence), tokens=tokens)
            displayed_lsn = self._log(head.row_id, LogKind.SHORTENING, sequence, displayed.body)
        columns = (draft.role, draft.tokens, displayed.tokens, stored.flags, draft.time_us, draft.score, exchange)
        place = (head.row_id, sequence, lsn, displayed_lsn, lsn)
        self._statements.append((_INSERT_MESSAGE, (*place, *columns, id_hash(draft.id), draft.fingerprint)))
        self._existing[head.row_id, draft.id] = ExistingMessage(sequence, draft.tokens, draft.fingerprint)
        self._new_ids.append((head.row_id, id_hash(draft.id)))
        self._flags[head.row_id, sequence] = stored.flags
        session.bytes += message_bytes(stored.body, draft.vector)
        session.is_changed = True
        add_to_head(head, displayed)
        head.version, head.last_sequence = displayed_lsn, sequence
        if not keeps_sequence:
            head.last_active_us = self._transaction.now_us
        if not pruned:
            session.appended.append(displayed)

    def _is_pruned(self, session: int, message: MessageImport, exchange: int, sequence: int) -> bool:
        if exchange in (0, sequence):
            return message.pruned
        flags = self._flags.get((session, exchange))
        if flags is None:
            row = self._transaction.connection.execute(_FLAGS, (session, exchange)).fetchone()
            flags = row[0] if row else 0
        return bool(flags & Flag.PRUNED)

    def _log(
        self,
        session: int,
        kind: LogKind,
        sequence: int | None,
        body: bytes,
        draft: Draft | None = None,
    ) -> int:
        self._lsn += 1
        message_id, vector = (draft.id, draft.vector) if draft else (None, None)
        columns = (self._lsn, session, kind, sequence, self._transaction.now_us, message_id)
        self._statements.append((_INSERT_LOG, (*columns, body, vector, zlib.crc32(body))))
        return self._lsn

    def add_to_transaction(self) -> None:
        transaction = self._transaction
        changed = [session for session in self._sessions.values() if session.is_changed]
        new = sum(session.is_new for session in changed)
        size = sum(session.bytes for session in changed)
        transaction.reserve_quota(self._namespace, Usage(new, len(self._new_ids), size))
        for session in changed:
            if session.is_new:
                transaction.save_session(session.head)
        transaction.statements += self._statements
        for session in changed:
            head = session.head
            transaction.save_session(head)
            transaction.add_statement(_ADD_BYTES, session.bytes, head.row_id)
            transaction.events.append(CommitEvent(head.key, head, session.appended))
        transaction.lsn = self._lsn
        transaction.new_ids += self._new_ids
        transaction.text_bytes += size


def add_to_head(head: SessionHead, displayed: StoredMessage) -> None:
    """Count a message that comes after all others of its session, in the window or as a pruned one."""
    is_first = not sum(head.counts[Role.USER - 1 :])
    in_window = not displayed.pruned
    if in_window:
        head.count(displayed.role, displayed.tokens)
    else:
        head.pruned_count += 1
    if is_first:
        starts_window = in_window and displayed.role != Role.SYSTEM
        head.window_start = displayed.sequence if starts_window else displayed.sequence + 1
