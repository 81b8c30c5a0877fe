"""The handlers of UpsertRecords and DeleteRecord, and the deletion of records by erasures."""

import json
from collections.abc import Sequence

from memsidecar.domain.errors import NotFound
from memsidecar.domain.quota import Usage
from memsidecar.stores.contract import (
    AdvanceWatermark,
    DeleteRecord,
    Progress,
    Record,
    RecordsUpserted,
    UpsertRecords,
)
from memsidecar.stores.record_plan import RecordPlan, plan_upserts, record_columns
from memsidecar.stores.sqlite.events import is_logged, log_deletions, log_upserts
from memsidecar.stores.sqlite.record_rows import (
    RecordLocation,
    find_by_conflict_keys,
    find_by_ids,
    find_record,
)
from memsidecar.stores.sqlite.secure_delete import CLEAN_LATER_SECONDS, NEVER, OrphanedTexts, PendingPurge, orphan_texts
from memsidecar.stores.sqlite.task_state import advance_watermark, find_watermark
from memsidecar.stores.sqlite.transaction import Transaction

_INSERT = """INSERT INTO records(row_id, namespace, user_id, session_id, kind, id, conflict_key, source, time_us,
    until_us, body, bytes, first_lsn) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"""
_UPDATE = "UPDATE records SET conflict_key = ?, source = ?, time_us = ?, until_us = ? WHERE row_id = ?"
_REPLACE = """UPDATE records SET conflict_key = ?, source = ?, time_us = ?, until_us = ?, body = ?, bytes = ?
  WHERE row_id = ?"""
_COUNT_SEQUENCES = "SELECT count(*) FROM messages WHERE session = ? AND sequence IN (SELECT value FROM json_each(?))"
_DELETE = "DELETE FROM records WHERE row_id IN (SELECT value FROM json_each(?))"


def delete_record(transaction: Transaction, command: DeleteRecord) -> PendingPurge:
    row = find_record(transaction.connection, command.owner, command.kind, command.record_id)
    if row is None:
        raise NotFound(f"there is no {command.kind.name.lower()} {command.record_id!r}")
    transaction.reserve_quota(command.owner.namespace, Usage(bytes=-row.location.bytes))
    log_deletions(transaction, command.owner, command.kind, 1)
    return PendingPurge(_delete(transaction, [row.location]), row.intact_part(), CLEAN_LATER_SECONDS)


def delete_records(
    transaction: Transaction, namespace: str, locations: Sequence[RecordLocation]
) -> Sequence[OrphanedTexts]:
    """Delete the records of an erased session."""
    transaction.reserve_quota(namespace, Usage(bytes=-sum(location.bytes for location in locations)))
    return _delete(transaction, locations)


def _delete(transaction: Transaction, locations: Sequence[RecordLocation]) -> Sequence[OrphanedTexts]:
    if locations:
        transaction.add_statement(_DELETE, json.dumps([location.row_id for location in locations]))
        transaction.deleted_records.update(location.row_id for location in locations)
    return orphan_texts(transaction, [location.texts for location in locations])


def upsert_records(transaction: Transaction, command: UpsertRecords) -> RecordsUpserted | PendingPurge:
    _refuse_if_erased(transaction, command)
    found = find_by_conflict_keys(transaction.connection, command.owner, command.kind, command.conflict_keys)
    changes = command.revise([row.record(transaction.path) for row in found])
    upserts = {record.id: record for record in changes.upserts}
    existing = find_by_ids(transaction.connection, command.owner, command.kind, [*upserts, *changes.deletes])
    plan = plan_upserts(existing, upserts)
    progress = command.progress if _advances(transaction, command) else None
    growth = Usage(bytes=plan.growth_bytes)
    transaction.reserve_quota(command.owner.namespace, growth, refusable=not command.is_derived)
    orphans = _carry_out(transaction, command, plan, progress)
    log_upserts(transaction, command, plan.changed_ids, changes.sequence)
    log_deletions(transaction, command.owner, command.kind, len(plan.deleted))
    result = RecordsUpserted(tuple(upserts.values()), changes.result)
    return PendingPurge(orphans, result, CLEAN_LATER_SECONDS if plan.deleted else NEVER) if orphans else result


def _refuse_if_erased(transaction: Transaction, command: UpsertRecords) -> None:
    """Check what is committed only: no erasure precedes a record in a transaction (`CommandGroup`)."""
    execute, session = transaction.connection.execute, command.derived_from
    if session is None:
        return
    if execute("SELECT 1 FROM sessions WHERE row_id = ?", (session,)).fetchone() is None:
        raise NotFound("the source session was erased")
    sequences = set(command.derived_sequences)
    if sequences and execute(_COUNT_SEQUENCES, (session, json.dumps(list(sequences)))).fetchone() != (len(sequences),):
        raise NotFound("a source message was erased")


def _advances(transaction: Transaction, command: UpsertRecords) -> bool:
    progress = command.progress
    if progress is None:
        return False
    return progress.lsn > find_watermark(transaction.connection, progress.task, command.owner.namespace)


def _carry_out(
    transaction: Transaction, command: UpsertRecords, plan: RecordPlan[RecordLocation], progress: Progress | None
) -> list[OrphanedTexts]:
    replaced = _write(transaction, command, plan)
    for record, location in plan.updated:
        transaction.add_statement(_UPDATE, *record_columns(record), location.row_id)
    if progress is not None:
        advance_watermark(transaction, AdvanceWatermark(progress.task, command.owner.namespace, progress.lsn))
    return [*orphan_texts(transaction, replaced), *_delete(transaction, plan.deleted)]


def _write(transaction: Transaction, command: UpsertRecords, plan: RecordPlan[RecordLocation]) -> list[OrphanedTexts]:
    """Add bodies and rows; return the replaced bodies. The log entries of the changes follow, from the next lsn on."""
    lsns = {record_id: lsn for lsn, record_id in enumerate(plan.changed_ids, transaction.lsn + 1)}
    first = transaction.add_texts([(record.body, 0) for record, _ in plan.written])
    for body, (record, before) in enumerate(plan.written, first):
        columns, size = record_columns(record), len(record.body)
        if before is None:
            place = (body, *command.owner, command.kind, record.id)  # see `schema` on its row id
            first_lsn = lsns[record.id] if is_logged(command.kind) else 0
            transaction.add_statement(_INSERT, *place, *columns, body, size, first_lsn)
        else:
            transaction.add_statement(_REPLACE, *columns, body, size, before.row_id)
    return [before.texts for _, before in plan.written if before is not None]


def replace_records(
    transaction: Transaction, namespace: str, replaced: Sequence[tuple[RecordLocation, Record]]
) -> Sequence[OrphanedTexts]:
    """Replace records by new versions of them; return the replaced bodies."""
    first = transaction.add_texts([(record.body, 0) for _, record in replaced])
    for body, (location, record) in enumerate(replaced, first):
        transaction.add_statement(_REPLACE, *record_columns(record), body, len(record.body), location.row_id)
    growth = sum(len(record.body) - location.bytes for location, record in replaced)
    transaction.reserve_quota(namespace, Usage(bytes=growth), refusable=False)
    return orphan_texts(transaction, [location.texts for location, _ in replaced])
