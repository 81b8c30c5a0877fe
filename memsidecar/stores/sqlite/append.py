"""The handler of Append."""

import json
import zlib
from collections.abc import Sequence
from typing import Any

from memsidecar.domain.errors import IdConflict, SequenceMismatch
from memsidecar.domain.message import Draft, Flag, StoredMessage
from memsidecar.domain.pruning import link_exchange
from memsidecar.domain.quota import Usage
from memsidecar.domain.session import SessionHead, claimed_copy, is_claim
from memsidecar.stores.contract import Added, Append, Appended, CommitEvent
from memsidecar.stores.log_kinds import LogKind
from memsidecar.stores.message_encoding import message_bytes, with_sequence
from memsidecar.stores.session_rows import open_calls_column
from memsidecar.stores.sqlite.schema import id_hash
from memsidecar.stores.sqlite.transaction import Entry, Transaction
from memsidecar.stores.sqlite.writer_state import ExistingMessage

_PRUNED_OF_EXCHANGES = f"""session = ? AND exchange IN (SELECT value FROM json_each(?)) AND exchange > 0
  AND flags & {int(Flag.PRUNED)}"""
_FIND_PRUNED = f"SELECT sequence, role, displayed_tokens FROM messages WHERE {_PRUNED_OF_EXCHANGES}"
_UNPRUNE = f"UPDATE messages SET flags = flags & ~{int(Flag.PRUNED)} WHERE {_PRUNED_OF_EXCHANGES}"
_ADD_UNPRUNED = """UPDATE sessions SET window_start = ?, pruned_count = pruned_count - ?,
  count_1 = count_1 + ?, count_2 = count_2 + ?, count_3 = count_3 + ?, count_4 = count_4 + ?,
  tokens_1 = tokens_1 + ?, tokens_2 = tokens_2 + ?, tokens_3 = tokens_3 + ?, tokens_4 = tokens_4 + ? WHERE row_id = ?"""
_SAVE_CLAIM = "UPDATE sessions SET user_id = ?, version = ?, last_active_us = ? WHERE row_id = ?"
_SAVE_OPEN_CALLS = "UPDATE sessions SET open_calls = ? WHERE row_id = ?"


def append(transaction: Transaction, command: Append) -> Appended:
    command.check_predecessor()
    before = transaction.head(command.key)
    start = transaction.new_session(command.key, command.user_id) if before is None else before
    batch = _Batch(transaction, start, claimed_copy(start, command.user_id))
    results = [batch.add(draft) for draft in command.drafts]
    if batch.appended and command.expected_sequence not in (None, start.last_sequence):
        raise SequenceMismatch(command.expected_sequence or 0, start.last_sequence)
    if batch.appended or start.user_id != batch.head.user_id:
        batch.add_to_transaction(is_new=before is None)
    return Appended(batch.head, results)


class _Batch:
    """The messages of one command. They are added to the transaction when all of them are checked."""

    def __init__(self, transaction: Transaction, start: SessionHead, head: SessionHead) -> None:
        self.head = head
        self.appended: list[StoredMessage] = []
        self._start = start
        self._transaction = transaction
        self._lsn = transaction.lsn
        self._rows: list[Sequence[Any]] = []
        self._existing: dict[tuple[int, str], ExistingMessage] = {}
        self._bytes = 0
        self._is_claim = is_claim(start, head)
        if self._is_claim:
            # The entry of the claim comes before the messages.
            self._lsn += 1
            head.version, head.last_active_us = self._lsn, transaction.now_us

    def add(self, draft: Draft) -> Added:
        name = (self.head.row_id, draft.id)
        existing = self._transaction.existing.get(name) or self._existing.get(name)
        if existing is None:
            return self._add_new(draft)
        if existing.fingerprint != draft.fingerprint:
            raise IdConflict(draft.id)
        return Added(draft.id, existing.sequence, existing.tokens, True)

    def _add_new(self, draft: Draft) -> Added:
        head, now_us = self.head, self._transaction.now_us
        self._lsn += 1
        sequence = head.last_sequence + 1
        exchange = 0
        if draft.calls or draft.answers:
            exchange, head.open_calls = link_exchange(head.open_calls, draft.calls, draft.answers, sequence)
        body = with_sequence(draft.body, sequence)
        self._rows.append(  # in the order of the view `new_messages`
            (
                self._lsn,
                head.row_id,
                sequence,
                draft.role,
                draft.tokens,
                draft.flags,
                draft.time_us,
                draft.score,
                exchange,
                id_hash(draft.id),
                draft.fingerprint,
                draft.id,
                body,
                draft.vector,
                zlib.crc32(body),
                now_us,
            )
        )
        self._bytes += message_bytes(body, draft.vector)
        self._existing[head.row_id, draft.id] = ExistingMessage(sequence, draft.tokens, draft.fingerprint)
        self.appended.append(  # in the order of StoredMessage
            StoredMessage(sequence, draft.role, draft.tokens, exchange, draft.flags, draft.score, draft.time_us, body)
        )
        head.version, head.last_sequence, head.last_active_us = self._lsn, sequence, now_us
        head.count(draft.role, draft.tokens)
        return Added(draft.id, sequence, draft.tokens, False)

    def add_to_transaction(self, is_new: bool) -> None:
        transaction, start, head = self._transaction, self._start, self.head
        answered = self._newly_answered() if head.pruned_count else []
        pruned = self._find_pruned(answered) if answered else []
        transaction.reserve_quota(head.key.namespace, Usage(int(is_new), len(self.appended), self._bytes))
        if pruned:
            self._unprune(answered, pruned)
        if is_new:
            # As it was before its first message: each message then adds itself to the row.
            transaction.save_session(start)
        elif start.user_id != head.user_id:
            self._save_claim()
        if head.open_calls is not start.open_calls:
            transaction.add_statement(_SAVE_OPEN_CALLS, open_calls_column(head), head.row_id)
        transaction.lsn = self._lsn
        transaction.message_rows += self._rows
        transaction.existing.update(self._existing)
        transaction.heads[head.key] = head
        transaction.events.append(CommitEvent(head.key, head, self.appended, reload=bool(pruned)))

    def _save_claim(self) -> None:
        """Save the user; as with a new session, each message then adds itself to the row."""
        transaction, start, head = self._transaction, self._start, self.head
        version, active_us = start.version, start.last_active_us
        if self._is_claim:
            version, active_us = transaction.write_entry(head.row_id, Entry(LogKind.CLAIM)), transaction.now_us
        transaction.add_statement(_SAVE_CLAIM, head.user_id, version, active_us, head.row_id)

    def _unprune(self, answered: Sequence[int], parts: Sequence[tuple[int, int, int]]) -> None:
        """Return the pruned messages of the answered exchanges to the window: an exchange is never split."""
        growth = self._add_to_sums(parts)
        self._transaction.add_statement(_UNPRUNE, self.head.row_id, json.dumps(answered))
        self._transaction.add_statement(_ADD_UNPRUNED, self.head.window_start, len(parts), *growth, self.head.row_id)
        self._transaction.revived.update((self.head.row_id, exchange) for exchange in answered)

    def _newly_answered(self) -> list[int]:
        """Return the exchanges answered here, except those that the same transaction has unpruned already."""
        answered = {message.exchange for message in self.appended if message.exchange not in (0, message.sequence)}
        return [exchange for exchange in answered if (self.head.row_id, exchange) not in self._transaction.revived]

    def _find_pruned(self, exchanges: Sequence[int]) -> list[tuple[int, int, int]]:
        parameters = (self.head.row_id, json.dumps(exchanges))
        return self._transaction.connection.execute(_FIND_PRUNED, parameters).fetchall()

    def _add_to_sums(self, parts: Sequence[tuple[int, int, int]]) -> list[int]:
        """Add the messages to the window's sums, and return the growth of each sum."""
        head = self.head
        before = head.counts + head.tokens
        for sequence, role, tokens in parts:
            head.count(role, tokens)
            head.window_start = min(head.window_start, sequence)
        head.pruned_count -= len(parts)
        return [now - then for now, then in zip(head.counts + head.tokens, before, strict=True)]
