"""The handlers of ForgetMessages and ExpireMessages, and their dry runs."""

import json
import sqlite3
from collections import Counter
from collections.abc import Collection, Sequence
from typing import NamedTuple

from memsidecar.domain.errors import NotFound
from memsidecar.domain.message import Flag
from memsidecar.domain.pruning import without_exchanges
from memsidecar.domain.quota import Usage
from memsidecar.domain.session import SessionHead, SessionKey, claimed_copy
from memsidecar.stores.contract import (
    CommitEvent,
    Derivations,
    Erased,
    ErasedSources,
    ErasureCounts,
    ExpireMessages,
    ForgetMessages,
    Record,
    RecordKind,
)
from memsidecar.stores.sqlite.record_rows import (
    RecordLocation,
    RecordRow,
    find_artifacts_of_messages,
    find_by_source,
    find_patterns,
)
from memsidecar.stores.sqlite.records import delete_records, replace_records
from memsidecar.stores.sqlite.rows import find_head
from memsidecar.stores.sqlite.schema import LogKind, id_hash
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
# In the order of _ExchangePart.
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


class _ExchangePart(NamedTuple):
    sequence: int
    role: int
    tokens: int
    exchange: int
    flags: int


class _MessagePlan(NamedTuple):
    """The messages to erase, the other messages of their exchanges in the window, and the records that go or change."""

    messages: Sequence[_MessageRow]
    pruned: Sequence[_ExchangePart]
    deleted: Sequence[RecordLocation]
    replaced: Sequence[tuple[RecordRow, Record]]

    @property
    def exchanges(self) -> set[int]:
        return {message.exchange for message in self.messages if message.exchange}

    @property
    def counts(self) -> ErasureCounts:
        kinds = Counter(location.kind for location in self.deleted)
        return ErasureCounts(
            messages=len(self.messages),
            facts=kinds[RecordKind.FACT],
            summaries=kinds[RecordKind.SUMMARY],
            artifacts=kinds[RecordKind.ARTIFACT],
            patterns=kinds[RecordKind.PATTERNS],
        )


def forget_messages(transaction: Transaction, command: ForgetMessages) -> PendingPurge:
    before = transaction.head(command.key)
    head = _claimed(before, command)
    plan = _plan_forgotten(transaction.connection, command, head)
    active_us = head.last_active_us
    if before is not None:
        transaction.log_claim(before, head)
    forgotten = message_tombstones(head.key.session_id, [message.id for message in plan.messages])
    add_tombstones(transaction, head.key.namespace, forgotten, max(message.time_us for message in plan.messages))
    return _erase(transaction, head, plan, active_us)


def expire_messages(transaction: Transaction, command: ExpireMessages) -> PendingPurge | Erased:
    head = _current(transaction.head(command.key), command)
    plan = _plan_expired(transaction.connection, command, head)
    if not plan.messages:
        return Erased(head, plan.counts)
    return _erase(transaction, head, plan, head.last_active_us)


def read_message_counts(connection: sqlite3.Connection, command: ForgetMessages | ExpireMessages) -> ErasureCounts:
    head = find_head(connection, command.key)
    if isinstance(command, ForgetMessages):
        return _plan_forgotten(connection, command, _claimed(head, command)).counts
    return _plan_expired(connection, command, _current(head, command)).counts


def _claimed(head: SessionHead | None, command: ForgetMessages) -> SessionHead:
    if head is None:
        raise _missing(command.message_ids[0])
    return claimed_copy(head, command.user_id)


def _current(head: SessionHead | None, command: ExpireMessages) -> SessionHead:
    if head is None or head.row_id != command.session:
        raise NotFound("the session was erased")
    return head.copy()


def _missing(message_id: str) -> NotFound:
    return NotFound(f"there is no message {message_id!r} in this session")


def _plan_forgotten(connection: sqlite3.Connection, command: ForgetMessages, head: SessionHead) -> _MessagePlan:
    sequences = [_find_sequence(connection, head.row_id, message_id) for message_id in command.message_ids]
    for message_id, sequence in zip(command.message_ids, sequences, strict=True):
        if sequence is None:
            raise _missing(message_id)
    return _plan(connection, head, _find_messages(connection, head, sequences), command.derivations)


def _plan_expired(connection: sqlite3.Connection, command: ExpireMessages, head: SessionHead) -> _MessagePlan:
    messages = _find_messages(connection, head, command.sequences)
    named = {message.sequence for message in messages}
    kept = _held(connection, command, head)
    exchanges = {message.exchange for message in messages if message.exchange}
    parts = _find_parts(connection, head, exchanges)
    split = {part.exchange for part in parts if part.sequence not in named or part.sequence in kept}
    expired = [each for each in messages if each.sequence not in kept and each.exchange not in split]
    return _plan(connection, head, expired, command.derivations)


def _held(connection: sqlite3.Connection, command: ExpireMessages, head: SessionHead) -> set[int]:
    """Return the sequences that are held. A message without a body is damaged, and cannot be asked for a hold."""
    if command.is_held is None:
        return set()
    found = connection.execute(_BODIES, (head.row_id, json.dumps(list(command.sequences)))).fetchall()
    return {sequence for sequence, body in found if body is None or command.is_held(body)}


def _find_sequence(connection: sqlite3.Connection, session: int, message_id: str) -> int | None:
    row = connection.execute(_SEQUENCE, (session, id_hash(message_id), message_id)).fetchone()
    return row[0] if row else None


def _find_messages(
    connection: sqlite3.Connection, head: SessionHead, sequences: Collection[int | None]
) -> list[_MessageRow]:
    found = connection.execute(_MESSAGES, (head.row_id, json.dumps(list(sequences)))).fetchall()
    return list(map(_MessageRow._make, found))


def _find_parts(connection: sqlite3.Connection, head: SessionHead, exchanges: Collection[int]) -> list[_ExchangePart]:
    if not exchanges:
        return []
    found = connection.execute(_EXCHANGE_PARTS, (head.row_id, json.dumps(sorted(exchanges)))).fetchall()
    return list(map(_ExchangePart._make, found))


def _plan(
    connection: sqlite3.Connection, head: SessionHead, messages: Sequence[_MessageRow], derivations: Derivations
) -> _MessagePlan:
    erased = {message.sequence for message in messages}
    parts = _find_parts(connection, head, {message.exchange for message in messages if message.exchange})
    pruned = [part for part in parts if part.sequence not in erased and not part.flags & Flag.PRUNED]
    if not messages:
        return _MessagePlan((), (), (), ())
    changes = _revise_records(connection, head, messages, derivations)
    keys = [derivations.artifact_key(message.id) for message in messages]
    deleted = [
        *(row.location for row, revised in changes if revised is None),
        *find_artifacts_of_messages(connection, head.key, keys),
        *find_patterns(connection, head.key, head.user_id),
    ]
    return _MessagePlan(messages, pruned, deleted, [(row, revised) for row, revised in changes if revised is not None])


def _revise_records(
    connection: sqlite3.Connection, head: SessionHead, messages: Sequence[_MessageRow], derivations: Derivations
) -> list[tuple[RecordRow, Record | None]]:
    """Return the facts and summaries that change, each with its new content; None if it is erased.

    A damaged one cannot be judged. It is erased.
    """
    erased = _sources(connection, head.key, messages)
    facts = find_by_source(
        connection, head.key, RecordKind.FACT, lambda body, time_us: derivations.concerns(body, time_us, erased)
    )
    changes: list[tuple[RecordRow, Record | None]] = []
    for row in facts:
        record = row.intact_part()
        revised = derivations.revise_fact(record, erased) if row.is_intact else None
        if revised != record:
            changes.append((row, revised))
    for row in find_by_source(connection, head.key, RecordKind.SUMMARY, lambda *_: True):
        record = row.intact_part()
        if not row.is_intact or any(derivations.covers(record, message.sequence) for message in messages):
            changes.append((row, None))
    return changes


def _sources(connection: sqlite3.Connection, key: SessionKey, messages: Sequence[_MessageRow]) -> ErasedSources:
    ids = frozenset(message.id for message in messages)

    def exists(session_id: str, message_id: str) -> bool:
        if session_id == key.session_id and message_id in ids:
            return False
        head = find_head(connection, SessionKey(key.namespace, session_id))
        return head is not None and _find_sequence(connection, head.row_id, message_id) is not None

    return ErasedSources(key.session_id, ids, frozenset(message.time_us for message in messages), exists)


def _erase(transaction: Transaction, head: SessionHead, plan: _MessagePlan, active_us: int) -> PendingPurge:
    """Remove the rows; the versions of the messages in the log are purged afterwards.

    An erasure is no activity of the session: `active_us` stays the time of its last one.
    """
    namespace, size = head.key.namespace, sum(message.bytes for message in plan.messages)
    transaction.reserve_quota(namespace, Usage(0, -len(plan.messages), -size))
    if plan.pruned:
        _prune(transaction, head, plan.pruned)
    for message in plan.messages:
        if message.flags & Flag.PRUNED:
            head.pruned_count -= 1
        else:
            head.count(message.role, message.tokens, sign=-1)
        transaction.log_entry(head, Entry(LogKind.MESSAGE_ERASURE, sequence=message.sequence, id=namespace))
    if plan.exchanges:
        head.open_calls = without_exchanges(head.open_calls, plan.exchanges)
    versions = ErasedVersions(tuple({lsn for each in plan.messages for lsn in (each.lsn, each.displayed_lsn)}))
    transaction.add_statement("INSERT INTO erased_messages SELECT value FROM json_each(?)", json.dumps(versions.lsns))
    sequences = json.dumps([message.sequence for message in plan.messages])
    transaction.add_statement(_DELETE, head.row_id, sequences)
    head.last_active_us = active_us
    transaction.save_session(head)
    transaction.add_statement(_FREE_BYTES, size, head.row_id)
    transaction.events.append(CommitEvent(head.key, head, reload=True))
    purges: list[Purge] = [
        versions,
        *delete_records(transaction, namespace, plan.deleted),
        *replace_records(transaction, namespace, plan.replaced),
    ]
    return PendingPurge(purges, Erased(head, plan.counts), CLEAN_LATER_SECONDS)


def _prune(transaction: Transaction, head: SessionHead, pruned: Sequence[_ExchangePart]) -> None:
    """Prune the rest of the exchanges: an exchange is never split."""
    for part in pruned:
        head.count(part.role, part.tokens, sign=-1)
    head.pruned_count += len(pruned)
    sequences = json.dumps([part.sequence for part in pruned])
    newest = max(part.sequence for part in pruned)
    transaction.log_entry(head, Entry(LogKind.PRUNE, sequences.encode(), newest))
    transaction.add_statement(_PRUNE, head.row_id, sequences)
