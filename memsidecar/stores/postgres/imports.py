"""The handlers of ImportSession, ImportRecords and ImportDocument."""

from memsidecar.domain.session import Policy, SessionKey
from memsidecar.stores.contract import (
    ImportDocument,
    Imported,
    ImportRecords,
    ImportSession,
    Outcome,
    PutDocument,
)
from memsidecar.stores.imports import (
    add_imported_session,
    merging_upsert,
    new_records,
    owning_session,
    record_outcomes,
)
from memsidecar.stores.postgres.document_rows import find_reference
from memsidecar.stores.postgres.documents import put_document
from memsidecar.stores.postgres.record_rows import find_by_ids
from memsidecar.stores.postgres.records import upsert_records
from memsidecar.stores.postgres.session_commands import save_policy
from memsidecar.stores.postgres.tombstones import find_forgotten
from memsidecar.stores.postgres.transaction import PostgresTransaction


def import_session(transaction: PostgresTransaction, command: ImportSession) -> Imported:
    if _is_forgotten(transaction, command):
        return Imported([Outcome.FORGOTTEN])

    def save(key: SessionKey, policy: Policy | None) -> None:
        save_policy(transaction, key, policy)

    return Imported([add_imported_session(transaction, command, save)])


def import_records(transaction: PostgresTransaction, command: ImportRecords) -> Imported:
    forgotten = [False] * len(command.records)
    if not command.override_erasures:
        origins = [imported.origin for imported in command.records]
        forgotten = find_forgotten(transaction, command.owner.namespace, origins)
    ids = [imported.record.id for imported in command.records]
    known = find_by_ids(transaction.connection, command.owner, command.kind, ids)
    new = new_records(command, forgotten, known)
    if not new:
        return Imported(record_outcomes(command, forgotten, ()))
    with owning_session(transaction, command.owner, command.user_id):
        upserted = upsert_records(transaction, merging_upsert(command, list(new.values())))
    stored = {record.id for record in upserted.records} & new.keys()
    return Imported(record_outcomes(command, forgotten, stored))


def import_document(transaction: PostgresTransaction, command: ImportDocument) -> Imported:
    draft = command.document
    if _is_forgotten(transaction, command):
        return Imported([Outcome.FORGOTTEN])
    if find_reference(transaction.connection, draft.owner, draft.id) is not None:
        return Imported([Outcome.DUPLICATE])
    with owning_session(transaction, draft.owner, command.user_id):
        put_document(transaction, PutDocument(draft))
    return Imported([Outcome.STORED])


def _is_forgotten(transaction: PostgresTransaction, command: ImportSession | ImportDocument) -> bool:
    origin = command.origin
    return not command.override_erasures and find_forgotten(transaction, origin.namespace, [origin]) == [True]
