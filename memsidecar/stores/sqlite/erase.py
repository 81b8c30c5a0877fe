"""The handler of Erase, and its dry run."""

import sqlite3
from collections import Counter
from collections.abc import Container, Sequence
from typing import NamedTuple

from memsidecar.domain.errors import NotFound
from memsidecar.domain.quota import Usage
from memsidecar.domain.session import SessionHead
from memsidecar.stores.contract import CommitEvent, Erase, Erased, ErasureCounts, RecordKind
from memsidecar.stores.sqlite.documents import DocumentLocation, delete_documents, find_documents_of_session
from memsidecar.stores.sqlite.records import RecordLocation, delete_records, find_records_of_session
from memsidecar.stores.sqlite.rows import find_bytes, find_head
from memsidecar.stores.sqlite.schema import LogKind
from memsidecar.stores.sqlite.secure_delete import OrphanedTexts, PendingPurge
from memsidecar.stores.sqlite.transaction import Entry, Transaction, claimed_copy


class _ErasurePlan(NamedTuple):
    """The rows that an erasure removes besides messages, and the counts of all that it removes."""

    documents: Sequence[DocumentLocation]
    records: Sequence[RecordLocation]
    counts: ErasureCounts


def erase(transaction: Transaction, command: Erase) -> PendingPurge | Erased:
    head = transaction.head(command.key)
    # No claim is logged: all that could be claimed is erased by the same commit.
    head = claimed_copy(head, command.user_id) if head else None
    plan = _plan(transaction.connection, command, head, transaction.deleted_records)
    if head is None:
        return _erase_without_session(transaction, command, plan)
    size = find_bytes(transaction.connection, head.row_id)
    freed = Usage(-int(command.delete_session), -plan.counts.messages, -size)
    transaction.reserve_quota(head.key.namespace, freed)
    kind = LogKind.DELETE if command.delete_session else LogKind.CLEAR
    transaction.log_entry(head, Entry(kind, id=head.key.namespace))
    transaction.add_statement("INSERT INTO erased_sessions VALUES (?)", head.row_id)
    transaction.add_statement("DELETE FROM sessions WHERE row_id = ?", head.row_id)
    cleared = None if command.delete_session else _cleared(transaction, head)
    if cleared is None:
        transaction.add_statement("DELETE FROM policies WHERE namespace = ? AND session_id = ?", *command.key)
        transaction.heads[command.key] = None
    else:
        transaction.save_session(cleared)
    transaction.events.append(CommitEvent(command.key, cleared, reload=True))
    return PendingPurge([head.row_id, *_delete(transaction, command, plan)], Erased(cleared, plan.counts))


def read_erasure_counts(connection: sqlite3.Connection, command: Erase) -> ErasureCounts:
    head = find_head(connection, command.key)
    return _plan(connection, command, claimed_copy(head, command.user_id) if head else None).counts


def _plan(
    connection: sqlite3.Connection, command: Erase, head: SessionHead | None, deleted_records: Container[int] = ()
) -> _ErasurePlan:
    """Find what an erasure of the session at `head` removes, except records deleted in the same transaction.

    Without a head there may still be documents and records that came before their session; NotFound if not.
    """
    documents = find_documents_of_session(connection, command.key) if command.delete_session else []
    user_id = head.user_id if head else ""
    found = find_records_of_session(connection, command.key, user_id, command.delete_session)
    records = [location for location in found if location.row_id not in deleted_records]
    plan = _ErasurePlan(documents, records, _counts(head, documents, records))
    if command.delete_session and head is None and not any(plan.counts):
        raise NotFound(f"there is no session {command.key.session_id!r}")
    return plan


def _counts(
    head: SessionHead | None, documents: Sequence[DocumentLocation], records: Sequence[RecordLocation]
) -> ErasureCounts:
    kinds = Counter(location.kind for location in records)
    return ErasureCounts(
        messages=head.message_count + head.pruned_count if head else 0,
        facts=kinds[RecordKind.FACT],
        summaries=kinds[RecordKind.SUMMARY],
        artifacts=kinds[RecordKind.ARTIFACT],
        patterns=kinds[RecordKind.PATTERNS],
        documents=len(documents),
        chunks=sum(location.chunk_count for location in documents),
    )


def _erase_without_session(transaction: Transaction, command: Erase, plan: _ErasurePlan) -> PendingPurge | Erased:
    orphans = _delete(transaction, command, plan)
    if plan.records:
        transaction.events.append(CommitEvent(command.key, None, reload=True))
    erased = Erased(None, plan.counts)
    return PendingPurge(orphans, erased) if orphans else erased


def _delete(transaction: Transaction, command: Erase, plan: _ErasurePlan) -> list[OrphanedTexts]:
    namespace = command.key.namespace
    return [
        *delete_documents(transaction, namespace, plan.documents),
        *delete_records(transaction, namespace, plan.records),
    ]


def _cleared(transaction: Transaction, head: SessionHead) -> SessionHead:
    """Return the same session, empty, under a new row id: message ids are free again, sequences continue."""
    cleared = transaction.new_session(head.key, head.user_id)
    cleared.version, cleared.last_sequence = head.version, head.last_sequence
    cleared.window_start = head.last_sequence + 1
    cleared.create_time_us, cleared.policy = head.create_time_us, head.policy
    return cleared
