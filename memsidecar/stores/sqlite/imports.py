"""The handlers of ImportSession, ImportRecords and ImportDocument."""

from memsidecar.domain.session import Policy, SessionKey
from memsidecar.stores.contract import (
    DocumentPut,
    ImportDocument,
    Imported,
    ImportRecords,
    ImportSession,
    Origin,
    Outcome,
    PutDocument,
    RecordsUpserted,
)
from memsidecar.stores.imports import add_imported_session, merging_upsert, new_records, owning_session, record_outcomes
from memsidecar.stores.sqlite.documents import find_location, put_document
from memsidecar.stores.sqlite.record_rows import find_by_ids
from memsidecar.stores.sqlite.records import upsert_records
from memsidecar.stores.sqlite.secure_delete import PendingPurge
from memsidecar.stores.sqlite.session_commands import save_policy
from memsidecar.stores.sqlite.tombstones import TombstoneReader
from memsidecar.stores.sqlite.transaction import Transaction


def import_session(transaction: Transaction, command: ImportSession) -> Imported:
    if _is_forgotten(transaction, command.origin, command.override_erasures):
        return Imported([Outcome.FORGOTTEN])

    def save(key: SessionKey, policy: Policy | None) -> None:
        save_policy(transaction, key, policy)

    return Imported([add_imported_session(transaction, command, save)])


def import_records(transaction: Transaction, command: ImportRecords) -> Imported | PendingPurge:
    tombstones = TombstoneReader(transaction.connection, command.owner.namespace)
    forgotten = [
        not command.override_erasures and tombstones.is_forgotten(imported.origin) for imported in command.records
    ]
    ids = [imported.record.id for imported in command.records]
    known = find_by_ids(transaction.connection, command.owner, command.kind, ids)
    new = new_records(command, forgotten, known)
    if not new:
        return Imported(record_outcomes(command, forgotten, ()))
    with owning_session(transaction, command.owner, command.user_id):
        result = upsert_records(transaction, merging_upsert(command, list(new.values())))
    upserted: RecordsUpserted = result.result if isinstance(result, PendingPurge) else result
    stored = {record.id for record in upserted.records} & new.keys()
    imported = Imported(record_outcomes(command, forgotten, stored))
    return PendingPurge(result.purges, imported) if isinstance(result, PendingPurge) else imported


def import_document(transaction: Transaction, command: ImportDocument) -> Imported | PendingPurge:
    draft = command.document
    if _is_forgotten(transaction, command.origin, command.override_erasures):
        return Imported([Outcome.FORGOTTEN])
    if find_location(transaction.connection, draft.owner, draft.id) is not None:
        return Imported([Outcome.DUPLICATE])
    with owning_session(transaction, draft.owner, command.user_id):
        put = put_document(transaction, PutDocument(draft))
        assert isinstance(put, DocumentPut)  # a new document replaces no text
    return Imported([Outcome.STORED])


def _is_forgotten(transaction: Transaction, origin: Origin, override_erasures: bool) -> bool:
    if override_erasures:
        return False
    return TombstoneReader(transaction.connection, origin.namespace).is_forgotten(origin)
