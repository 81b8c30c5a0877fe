"""The handler of Append."""

from collections.abc import Sequence

from memsidecar.domain.message import Flag
from memsidecar.domain.quota import Usage
from memsidecar.domain.session import SessionHead
from memsidecar.stores.append_batch import AppendBatch, PrunedPart
from memsidecar.stores.contract import Append, Appended, CommitEvent
from memsidecar.stores.log_kinds import LogKind
from memsidecar.stores.postgres.transaction import PostgresTransaction

_PRUNED_OF_EXCHANGES = f"""session = %s AND exchange = ANY(%s) AND exchange > 0
  AND flags & {int(Flag.PRUNED)} <> 0"""
_FIND_PRUNED = f"SELECT sequence, role, displayed_tokens FROM messages WHERE {_PRUNED_OF_EXCHANGES}"
_UNPRUNE = f"UPDATE messages SET flags = flags & ~{int(Flag.PRUNED)} WHERE {_PRUNED_OF_EXCHANGES}"


def append(transaction: PostgresTransaction, command: Append) -> Appended:
    command.check_predecessor()
    before = transaction.head(command.key)
    start = transaction.new_session(command.key, command.user_id) if before is None else before
    batch = AppendBatch(
        start,
        command.user_id,
        lsn=transaction.namespace(command.key.namespace).lsn,
        now_us=transaction.now_us,
        existing=transaction.existing,
    )
    results = batch.add_all(command)
    if batch.changes:
        _add_to_transaction(transaction, batch, is_new=before is None)
    return Appended(batch.head, results)


def _add_to_transaction(transaction: PostgresTransaction, batch: AppendBatch, *, is_new: bool) -> None:
    """Add the messages to the transaction, after all of them are checked."""
    head = batch.head
    answered = batch.answered_exchanges(transaction.revived)
    pruned = _find_pruned(transaction, head, answered) if answered else []
    transaction.reserve_quota(head.key.namespace, Usage(int(is_new), len(batch.appended), batch.bytes))
    if pruned:
        batch.return_to_window(pruned)
        transaction.add_statement(_UNPRUNE, head.row_id, answered)
        transaction.revived.update((head.row_id, exchange) for exchange in answered)
    if batch.claims:
        transaction.write_entry(head.key.namespace, LogKind.CLAIM, head.row_id)
    for draft, message in zip(batch.drafts, batch.appended, strict=True):
        transaction.add_message(head, transaction.namespace(head.key.namespace).next_lsn(), draft, message)
    transaction.add_bytes(head.row_id, batch.bytes)
    transaction.existing.update(batch.added)
    transaction.save_session(head)
    transaction.events.append(CommitEvent(head.key, head, batch.appended, reload=bool(pruned)))


def _find_pruned(transaction: PostgresTransaction, head: SessionHead, exchanges: Sequence[int]) -> list[PrunedPart]:
    found = transaction.connection.execute(_FIND_PRUNED, (head.row_id, list(exchanges)))
    return [PrunedPart._make(row) for row in found]
