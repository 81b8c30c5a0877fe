"""The handlers of ForgetMessages and ExpireMessages, and their dry runs."""

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import NamedTuple

from psycopg import Connection

from memsidecar.domain.message import Flag
from memsidecar.domain.quota import Usage
from memsidecar.domain.session import SessionHead, SessionKey
from memsidecar.stores.contract import (
    CommitEvent,
    Erased,
    ErasureCounts,
    ExpireMessages,
    ForgetMessages,
    RecordKind,
)
from memsidecar.stores.log_kinds import LogKind
from memsidecar.stores.message_erasure import (
    ExchangePart,
    MessageErasurePlan,
    claimed_session,
    count_erased_messages,
    current_session,
    plan_expired,
    plan_forgotten,
)
from memsidecar.stores.postgres import record_rows
from memsidecar.stores.postgres.record_rows import RecordReference, StoredRecord
from memsidecar.stores.postgres.records import delete_records, replace_records
from memsidecar.stores.postgres.related_locks import require_locks
from memsidecar.stores.postgres.rows import find_head
from memsidecar.stores.postgres.tombstones import add_tombstones
from memsidecar.stores.postgres.transaction import PostgresTransaction
from memsidecar.stores.tombstones import message_tombstones

_OF_SESSION = "FROM messages WHERE session = %s AND sequence = ANY(%s)"
# In the order of _MessageRow.
_MESSAGES = f"""SELECT sequence, role, displayed_tokens, exchange, flags, time_us, id,
    octet_length(body) + coalesce(octet_length(vector), 0) {_OF_SESSION} ORDER BY sequence"""
_SEQUENCE = "SELECT sequence FROM messages WHERE session = %s AND id = %s"
# In the order of ExchangePart.
_EXCHANGE_PARTS = """SELECT sequence, role, displayed_tokens, exchange, flags FROM messages
  WHERE session = %s AND exchange = ANY(%s) AND exchange > 0 ORDER BY sequence"""
_PRUNE = f"UPDATE messages SET flags = flags | {int(Flag.PRUNED)} WHERE session = %s AND sequence = ANY(%s)"


class _MessageRow(NamedTuple):
    sequence: int
    role: int
    tokens: int
    exchange: int
    flags: int
    time_us: int
    id: str
    bytes: int


_Plan = MessageErasurePlan[_MessageRow, RecordReference]


class _Reader:
    """Implements `MessageErasureReader`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def head(self, key: SessionKey) -> SessionHead | None:
        return find_head(self._connection, key)

    def find_sequence(self, session: int, message_id: str) -> int | None:
        row = self._connection.execute(_SEQUENCE, (session, message_id)).fetchone()
        return row[0] if row else None

    def find_messages(self, session: int, sequences: Collection[int]) -> Sequence[_MessageRow]:
        found = self._connection.execute(_MESSAGES, (session, list(sequences))).fetchall()
        return list(map(_MessageRow._make, found))

    def find_bodies(self, session: int, sequences: Collection[int]) -> Iterable[tuple[int, bytes | None]]:
        return self._connection.execute(f"SELECT sequence, body {_OF_SESSION}", (session, list(sequences))).fetchall()

    def find_exchange_parts(self, session: int, exchanges: Collection[int]) -> Sequence[ExchangePart]:
        found = self._connection.execute(_EXCHANGE_PARTS, (session, list(exchanges))).fetchall()
        return list(map(ExchangePart._make, found))

    def find_by_source(
        self, key: SessionKey, kind: RecordKind, matches: Callable[[bytes, int], bool]
    ) -> Sequence[StoredRecord]:
        return record_rows.find_by_source(self._connection, key, kind, matches)

    def find_artifacts_of_messages(self, key: SessionKey, conflict_keys: Sequence[int]) -> Sequence[RecordReference]:
        return record_rows.find_artifacts_of_messages(self._connection, key, conflict_keys)

    def find_patterns(self, key: SessionKey, user_id: str) -> Sequence[RecordReference]:
        return record_rows.find_patterns(self._connection, key, user_id)


def forget_messages(transaction: PostgresTransaction, command: ForgetMessages) -> Erased:
    require_locks(transaction, command)
    before = transaction.head(command.key)
    head = claimed_session(before, command)
    plan = plan_forgotten(_Reader(transaction.connection), command, head)
    active_us = head.last_active_us
    if before is not None:
        transaction.log_claim(before, head)
    forgotten = message_tombstones(head.key.session_id, [message.id for message in plan.messages])
    add_tombstones(transaction, head.key.namespace, forgotten, max(message.time_us for message in plan.messages))
    return _erase(transaction, head, plan, active_us)


def expire_messages(transaction: PostgresTransaction, command: ExpireMessages) -> Erased:
    require_locks(transaction, command)
    head = current_session(transaction.head(command.key), command)
    plan = plan_expired(_Reader(transaction.connection), command, head)
    return _erase(transaction, head, plan, head.last_active_us) if plan.messages else Erased(head, plan.counts)


def read_message_counts(connection: Connection, command: ForgetMessages | ExpireMessages) -> ErasureCounts:
    return count_erased_messages(_Reader(connection), command)


def _erase(transaction: PostgresTransaction, head: SessionHead, plan: _Plan, active_us: int) -> Erased:
    """Remove the rows. An erasure is no activity of the session: `active_us` stays the time of its last one."""
    namespace = head.key.namespace
    transaction.reserve_quota(namespace, Usage(0, -len(plan.messages), -plan.bytes))
    if plan.pruned:
        plan.prune(head)
        sequences = [part.sequence for part in plan.pruned]
        transaction.log_entry(head, LogKind.PRUNE, max(sequences))
        transaction.add_statement(_PRUNE, head.row_id, sequences)
    plan.erase(head)
    for message in plan.messages:
        transaction.log_entry(head, LogKind.MESSAGE_ERASURE, message.sequence)
    transaction.add_statement(f"DELETE {_OF_SESSION}", head.row_id, [message.sequence for message in plan.messages])
    head.last_active_us = active_us
    transaction.add_bytes(head.row_id, -plan.bytes)
    transaction.save_session(head)
    transaction.events.append(CommitEvent(head.key, head, reload=True))
    delete_records(transaction, namespace, plan.deleted)
    replace_records(transaction, namespace, plan.replaced)
    return Erased(head, plan.counts)
