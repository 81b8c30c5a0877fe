"""The handler of Append."""

import json
import zlib
from collections.abc import Sequence
from typing import Any

from memsidecar.domain.message import Flag
from memsidecar.domain.quota import Usage
from memsidecar.domain.session import SessionHead
from memsidecar.stores.append_batch import AppendBatch, PrunedPart
from memsidecar.stores.contract import Append, Appended, CommitEvent
from memsidecar.stores.log_kinds import LogKind
from memsidecar.stores.session_rows import open_calls_column
from memsidecar.stores.sqlite.schema import id_hash
from memsidecar.stores.sqlite.transaction import Entry, Transaction

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
    batch = AppendBatch(
        start, command.user_id, lsn=transaction.lsn, now_us=transaction.now_us, existing=transaction.existing
    )
    results = batch.add_all(command)
    if batch.changes:
        _add_to_transaction(transaction, batch, start, is_new=before is None)
    return Appended(batch.head, results)


def _add_to_transaction(transaction: Transaction, batch: AppendBatch, start: SessionHead, *, is_new: bool) -> None:
    """Add the messages to the transaction, after all of them are checked."""
    head = batch.head
    answered = batch.answered_exchanges(transaction.revived)
    pruned = _find_pruned(transaction, head, answered) if answered else []
    transaction.reserve_quota(head.key.namespace, Usage(int(is_new), len(batch.appended), batch.bytes))
    if pruned:
        _unprune(transaction, batch, answered, pruned)
    if is_new:
        # As it was before its first message: each message then adds itself to the row.
        transaction.save_session(start)
    elif batch.claims:
        # The entry of the claim comes before the messages; as with a new session, they add themselves to the row.
        version = transaction.write_entry(head.row_id, Entry(LogKind.CLAIM))
        transaction.add_statement(_SAVE_CLAIM, head.user_id, version, transaction.now_us, head.row_id)
    if head.open_calls is not start.open_calls:
        transaction.add_statement(_SAVE_OPEN_CALLS, open_calls_column(head), head.row_id)
    transaction.lsn = batch.last_lsn
    transaction.message_rows += _rows(batch, transaction.now_us)
    transaction.existing.update(batch.added)
    transaction.heads[head.key] = head
    transaction.events.append(CommitEvent(head.key, head, batch.appended, reload=bool(pruned)))


def _rows(batch: AppendBatch, now_us: int) -> list[Sequence[Any]]:
    session = batch.head.row_id
    return [  # in the order of the view `new_messages`
        (
            lsn,
            session,
            message.sequence,
            draft.role,
            draft.tokens,
            draft.flags,
            draft.time_us,
            draft.score,
            message.exchange,
            id_hash(draft.id),
            draft.fingerprint,
            draft.id,
            message.body,
            draft.vector,
            zlib.crc32(message.body),
            now_us,
        )
        for lsn, (draft, message) in enumerate(zip(batch.drafts, batch.appended, strict=True), batch.first_lsn)
    ]


def _find_pruned(transaction: Transaction, head: SessionHead, exchanges: Sequence[int]) -> list[PrunedPart]:
    parameters = (head.row_id, json.dumps(exchanges))
    return [PrunedPart._make(row) for row in transaction.connection.execute(_FIND_PRUNED, parameters)]


def _unprune(
    transaction: Transaction, batch: AppendBatch, answered: Sequence[int], parts: Sequence[PrunedPart]
) -> None:
    head = batch.head
    before = head.counts + head.tokens
    batch.return_to_window(parts)
    growth = [now - then for now, then in zip(head.counts + head.tokens, before, strict=True)]
    transaction.add_statement(_UNPRUNE, head.row_id, json.dumps(answered))
    transaction.add_statement(_ADD_UNPRUNED, head.window_start, len(parts), *growth, head.row_id)
    transaction.revived.update((head.row_id, exchange) for exchange in answered)
