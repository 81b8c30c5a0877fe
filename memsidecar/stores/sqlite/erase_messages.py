"""The handlers of ForgetMessages and ExpireMessages, and their dry runs."""

import json
import sqlite3
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import NamedTuple

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
from memsidecar.stores.sqlite import record_rows
from memsidecar.stores.sqlite.record_rows import RecordLocation, RecordRow
from memsidecar.stores.sqlite.records import delete_records, replace_records
from memsidecar.stores.sqlite.rows import find_head
from memsidecar.stores.sqlite.schema import id_hash
from memsidecar.stores.sqlite.secure_delete import CLEAN_LATER_SECONDS, ErasedVersions, PendingPurge, Purge
from memsidecar.stores.sqlite.tombstones import add_tombstones
from memsidecar.stores.sqlite.transaction import Entry, Transaction
from memsidecar.stores.tombstones import message_tombstones

_LISTED = "(SELECT value FROM json_each(?))"
# In the order of _MessageRow.
_MESSAGES = f"""SELECT m.sequence, m.role, m.displayed_tokens, m.exchange, m.flags, m.time_us, m.lsn, m.displayed_lsn,
    coalesce(l.id, ''), coalesce(length(l.body), 0) + coalesce(length(l.vector), 0)
  FROM messages m LEFT JOIN log l ON l.lsn = m.lsn
  WHERE m.session = ? AND m.sequence IN {_LISTED} ORDER BY m.sequence"""
_SEQUENCE = """SELECT m.sequence FROM messages m INDEXED BY message_ids JOIN log l ON l.lsn = m.lsn
  WHERE m.session = ? AND m.id_hash = ? AND l.id = ?"""
# In the order of ExchangePart.
_EXCHANGE_PARTS = f"""SELECT sequence, role, displayed_tokens, exchange, flags FROM messages
  WHERE session = ? AND exchange IN {_LISTED} AND exchange > 0 ORDER BY sequence"""
_BODIES = f"""SELECT m.sequence, l.body FROM messages m JOIN log l ON l.lsn = m.lsn
  WHERE m.session = ? AND m.sequence IN {_LISTED}"""
_PRUNE = f"UPDATE messages SET flags = flags | {int(Flag.PRUNED)} WHERE session = ? AND sequence IN {_LISTED}"
_DELETE = f"DELETE FROM messages WHERE session = ? AND sequence IN {_LISTED}"
_FREE_BYTES = "UPDATE sessions SET bytes = bytes - ? WHERE row_id = ?"


class _MessageRow(NamedTuple):
    sequence: int
    role: int
    tokens: int
    exchange: int
    flags: int
    time_us: int
    lsn: int
    displayed_lsn: int
    id: str
    bytes: int


_Plan = MessageErasurePlan[_MessageRow, RecordLocation]


class _Reader:
    """Implements `MessageErasureReader`."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def head(self, key: SessionKey) -> SessionHead | None:
        return find_head(self._connection, key)

    def find_sequence(self, session: int, message_id: str) -> int | None:
        row = self._connection.execute(_SEQUENCE, (session, id_hash(message_id), message_id)).fetchone()
        return row[0] if row else None

    def find_messages(self, session: int, sequences: Collection[int]) -> Sequence[_MessageRow]:
        found = self._connection.execute(_MESSAGES, (session, json.dumps(list(sequences)))).fetchall()
        return list(map(_MessageRow._make, found))

    def find_bodies(self, session: int, sequences: Collection[int]) -> Iterable[tuple[int, bytes | None]]:
        return self._connection.execute(_BODIES, (session, json.dumps(list(sequences)))).fetchall()

    def find_exchange_parts(self, session: int, exchanges: Collection[int]) -> Sequence[ExchangePart]:
        found = self._connection.execute(_EXCHANGE_PARTS, (session, json.dumps(sorted(exchanges)))).fetchall()
        return list(map(ExchangePart._make, found))

    def find_by_source(
        self, key: SessionKey, kind: RecordKind, matches: Callable[[bytes, int], bool]
    ) -> Sequence[RecordRow]:
        return record_rows.find_by_source(self._connection, key, kind, matches)

    def find_artifacts_of_messages(self, key: SessionKey, conflict_keys: Sequence[int]) -> Sequence[RecordLocation]:
        return record_rows.find_artifacts_of_messages(self._connection, key, conflict_keys)

    def find_patterns(self, key: SessionKey, user_id: str) -> Sequence[RecordLocation]:
        return record_rows.find_patterns(self._connection, key, user_id)


def forget_messages(transaction: Transaction, command: ForgetMessages) -> PendingPurge:
    before = transaction.head(command.key)
    head = claimed_session(before, command)
    plan = plan_forgotten(_Reader(transaction.connection), command, head)
    active_us = head.last_active_us
    if before is not None:
        transaction.log_claim(before, head)
    forgotten = message_tombstones(head.key.session_id, [message.id for message in plan.messages])
    add_tombstones(transaction, head.key.namespace, forgotten, max(message.time_us for message in plan.messages))
    return _erase(transaction, head, plan, active_us)


def expire_messages(transaction: Transaction, command: ExpireMessages) -> PendingPurge | Erased:
    head = current_session(transaction.head(command.key), command)
    plan = plan_expired(_Reader(transaction.connection), command, head)
    if not plan.messages:
        return Erased(head, plan.counts)
    return _erase(transaction, head, plan, head.last_active_us)


def read_message_counts(connection: sqlite3.Connection, command: ForgetMessages | ExpireMessages) -> ErasureCounts:
    return count_erased_messages(_Reader(connection), command)


def _erase(transaction: Transaction, head: SessionHead, plan: _Plan, active_us: int) -> PendingPurge:
    """Remove the rows; the versions of the messages in the log are purged afterwards.

    An erasure is no activity of the session: `active_us` stays the time of its last one.
    """
    namespace = head.key.namespace
    transaction.reserve_quota(namespace, Usage(0, -len(plan.messages), -plan.bytes))
    if plan.pruned:
        _prune(transaction, head, plan)
    plan.erase(head)
    for message in plan.messages:
        transaction.log_entry(head, Entry(LogKind.MESSAGE_ERASURE, sequence=message.sequence, id=namespace))
    versions = ErasedVersions(tuple({lsn for each in plan.messages for lsn in (each.lsn, each.displayed_lsn)}))
    transaction.add_statement("INSERT INTO erased_messages SELECT value FROM json_each(?)", json.dumps(versions.lsns))
    sequences = json.dumps([message.sequence for message in plan.messages])
    transaction.add_statement(_DELETE, head.row_id, sequences)
    head.last_active_us = active_us
    transaction.save_session(head)
    transaction.add_statement(_FREE_BYTES, plan.bytes, head.row_id)
    transaction.events.append(CommitEvent(head.key, head, reload=True))
    purges: list[Purge] = [
        versions,
        *delete_records(transaction, namespace, plan.deleted),
        *replace_records(transaction, namespace, plan.replaced),
    ]
    return PendingPurge(purges, Erased(head, plan.counts), CLEAN_LATER_SECONDS)


def _prune(transaction: Transaction, head: SessionHead, plan: _Plan) -> None:
    plan.prune(head)
    sequences = json.dumps([part.sequence for part in plan.pruned])
    newest = max(part.sequence for part in plan.pruned)
    transaction.log_entry(head, Entry(LogKind.PRUNE, sequences.encode(), newest))
    transaction.add_statement(_PRUNE, head.row_id, sequences)
