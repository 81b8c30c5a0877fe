"""The handlers of UpsertRecords and DeleteRecord, and the changes of records by erasures."""

from collections.abc import Mapping, Sequence

from memsidecar.domain.errors import NotFound
from memsidecar.domain.quota import Usage
from memsidecar.stores.contract import (
    AdvanceWatermark,
    DeleteRecord,
    Owner,
    Record,
    RecordKind,
    RecordsUpserted,
    UpsertRecords,
)
from memsidecar.stores.log_kinds import KIND_OF_RECORD
from memsidecar.stores.postgres.record_rows import (
    RecordReference,
    find_by_conflict_keys,
    find_by_ids,
    find_record,
)
from memsidecar.stores.postgres.task_state import advance_watermark
from memsidecar.stores.postgres.transaction import NEW_LSN, NewLsn, PostgresTransaction
from memsidecar.stores.record_plan import RecordPlan, plan_upserts, record_columns

_INSERT = f"""INSERT INTO records(row_id, namespace, user_id, session_id, kind, id, conflict_key, source, time_us,
    until_us, body, first_lsn) VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, {NEW_LSN})"""
_UPDATE = "UPDATE records SET conflict_key = %s, source = %s, time_us = %s, until_us = %s WHERE row_id = %s"
_REPLACE = """UPDATE records SET conflict_key = %s, source = %s, time_us = %s, until_us = %s, body = %s
  WHERE row_id = %s"""
_DELETE = "DELETE FROM records WHERE row_id = ANY(%s)"
_SOURCE = """SELECT EXISTS (SELECT FROM sessions WHERE row_id = %(session)s),
  (SELECT count(*) FROM messages WHERE session = %(session)s AND sequence = ANY(%(sequences)s))"""
_ROW_IDS = """SELECT (SELECT row_id FROM owners WHERE namespace = %s AND user_id = %s AND session_id = %s),
  ARRAY(SELECT nextval('record_row_ids') FROM generate_series(1, %s))"""


def upsert_records(transaction: PostgresTransaction, command: UpsertRecords) -> RecordsUpserted:
    connection, owner = transaction.connection, command.owner
    _refuse_if_erased(transaction, command)
    found = find_by_conflict_keys(connection, owner, command.kind, command.conflict_keys)
    changes = command.revise([row.record for row in found])
    upserts = {record.id: record for record in changes.upserts}
    existing = find_by_ids(connection, owner, command.kind, [*upserts, *changes.deletes])
    plan = plan_upserts(existing, upserts)
    transaction.reserve_quota(owner.namespace, Usage(bytes=plan.growth_bytes), refusable=not command.is_derived)
    _write(transaction, command, plan, changes.sequence)
    if command.progress is not None:
        progress = AdvanceWatermark(command.progress.task, owner.namespace, command.progress.lsn)
        advance_watermark(transaction, progress)
    return RecordsUpserted(tuple(upserts.values()), changes.result)


def _refuse_if_erased(transaction: PostgresTransaction, command: UpsertRecords) -> None:
    """The source session is locked, so that no erasure comes between this check and the commit."""
    if command.derived_from is None:
        return
    sequences = list(set(command.derived_sequences))
    parameters = {"session": command.derived_from, "sequences": sequences}
    ((exists, count),) = transaction.connection.execute(_SOURCE, parameters).fetchall()
    if not exists:
        raise NotFound("the source session was erased")
    if count < len(sequences):
        raise NotFound("a source message was erased")


def _write(
    transaction: PostgresTransaction, command: UpsertRecords, plan: RecordPlan[RecordReference], sequence: int
) -> None:
    if not (plan.changed_ids or plan.deleted):
        return
    new = [record.id for record, before in plan.written if before is None]
    owner_row_id, new_row_ids = _row_ids(transaction, command.owner, len(new))
    row_ids = dict(zip(new, new_row_ids, strict=True))
    row_ids |= {record.id: before.row_id for record, before in (*plan.written, *plan.updated) if before is not None}
    lsns = _log_upserts(
        transaction, command, owner_row_id, {each: row_ids[each] for each in plan.changed_ids}, sequence
    )
    for record, before in plan.written:
        columns, row_id = record_columns(record), row_ids[record.id]
        if before is None:
            place = (row_id, transaction.number(command.owner.namespace), *command.owner[1:], command.kind, record.id)
            first_lsn = NewLsn(command.owner.namespace, lsns.get(record.id, 0))
            transaction.add_statement(_INSERT, *place, *columns, record.body, first_lsn)
        else:
            transaction.add_statement(_REPLACE, *columns, record.body, row_id)
    for record, before in plan.updated:
        transaction.add_statement(_UPDATE, *record_columns(record), before.row_id)
    _delete(transaction, plan.deleted)
    _log_deletions(transaction, command.owner, command.kind, owner_row_id, len(plan.deleted))


def _row_ids(transaction: PostgresTransaction, owner: Owner, new_count: int) -> tuple[int, Sequence[int]]:
    """Return the row id of the owner, and those of new records."""
    parameters = (transaction.number(owner.namespace), *owner[1:], new_count)
    ((owner_row_id, new_row_ids),) = transaction.connection.execute(_ROW_IDS, parameters).fetchall()
    return owner_row_id, new_row_ids


def _log_upserts(
    transaction: PostgresTransaction,
    command: UpsertRecords,
    owner_row_id: int,
    row_ids: Mapping[str, int],
    covered: int,
) -> Mapping[str, int]:
    """Log changed facts and summaries; return their lsns. `covered` is the last sequence that a summary covers."""
    kind = KIND_OF_RECORD.get(command.kind)
    if kind is None:
        return {}
    is_summary = command.kind == RecordKind.SUMMARY
    namespace = command.owner.namespace
    return {
        record_id: transaction.write_entry(namespace, kind, owner_row_id, covered if is_summary else row_id)
        for record_id, row_id in row_ids.items()
    }


def _log_deletions(
    transaction: PostgresTransaction, owner: Owner, kind: RecordKind, owner_row_id: int, count: int
) -> None:
    """Log deleted facts. A deleted summary was replaced."""
    for _ in range(count if kind == RecordKind.FACT else 0):
        transaction.write_entry(owner.namespace, KIND_OF_RECORD[kind], owner_row_id)


def delete_record(transaction: PostgresTransaction, command: DeleteRecord) -> Record:
    row = find_record(transaction.connection, command.owner, command.kind, command.record_id)
    if row is None:
        raise NotFound(f"there is no {command.kind.name.lower()} {command.record_id!r}")
    transaction.reserve_quota(command.owner.namespace, Usage(bytes=-row.location.bytes))
    owner_row_id, _ = _row_ids(transaction, command.owner, 0)
    _log_deletions(transaction, command.owner, command.kind, owner_row_id, 1)
    _delete(transaction, [row.location])
    return row.record


def delete_records(transaction: PostgresTransaction, namespace: str, records: Sequence[RecordReference]) -> None:
    """Delete the records of an erased session."""
    transaction.reserve_quota(namespace, Usage(bytes=-sum(record.bytes for record in records)))
    _delete(transaction, records)


def replace_records(
    transaction: PostgresTransaction, namespace: str, replaced: Sequence[tuple[RecordReference, Record]]
) -> None:
    """Replace records by new versions of them."""
    for before, record in replaced:
        transaction.add_statement(_REPLACE, *record_columns(record), record.body, before.row_id)
    growth = sum(len(record.body) - before.bytes for before, record in replaced)
    transaction.reserve_quota(namespace, Usage(bytes=growth), refusable=False)


def _delete(transaction: PostgresTransaction, records: Sequence[RecordReference]) -> None:
    if records:
        row_ids = [record.row_id for record in records]
        transaction.add_statement(_DELETE, row_ids)
        transaction.deleted_records.update(row_ids)
