"""The handlers of ImportSession, ImportRecords and ImportDocument."""

from memsidecar.domain.errors import SidecarError
from memsidecar.domain.quota import Usage
from memsidecar.domain.session import SessionHead, SessionKey, claimed_copy, is_claim
from memsidecar.stores.contract import (
    CommitEvent,
    DocumentPut,
    ImportDocument,
    Imported,
    ImportRecords,
    ImportSession,
    Origin,
    Outcome,
    Owner,
    PutDocument,
    Record,
    RecordsUpserted,
    UpsertRecords,
)
from memsidecar.stores.sqlite.documents import find_location, put_document
from memsidecar.stores.sqlite.record_rows import find_by_ids
from memsidecar.stores.sqlite.records import upsert_records
from memsidecar.stores.sqlite.secure_delete import PendingPurge
from memsidecar.stores.sqlite.session_commands import save_policy
from memsidecar.stores.sqlite.tombstones import TombstoneReader
from memsidecar.stores.sqlite.transaction import Transaction


def import_session(transaction: Transaction, command: ImportSession) -> Imported:
    session = command.session
    if _is_forgotten(transaction, command.origin, command.override_erasures):
        return Imported([Outcome.FORGOTTEN])
    before = transaction.head(session.key)
    head = _owner_head(transaction, session.key, session.user_id)
    if before is None:
        head.create_time_us = session.create_time_us or head.create_time_us
        head.last_active_us = session.last_active_us or head.last_active_us
    raise_last_sequence(head, session.last_sequence)
    has_new_policy = session.policy is not None and head.policy is None
    if has_new_policy:
        head.policy = session.policy
        save_policy(transaction, session.key, session.policy)
    is_raised = before is not None and head.last_sequence > before.last_sequence
    if before is not None and not (is_raised or has_new_policy or is_claim(before, head)):
        return Imported([Outcome.DUPLICATE])
    _save_owner(transaction, before, head, always=True)
    return Imported([Outcome.STORED])


def raise_last_sequence(head: SessionHead, last_sequence: int) -> None:
    """Set the last sequence if it is higher. A window without messages begins after it."""
    if last_sequence > head.last_sequence:
        if head.window_start == head.last_sequence + 1:
            head.window_start = last_sequence + 1
        head.last_sequence = last_sequence


def import_records(transaction: Transaction, command: ImportRecords) -> Imported | PendingPurge:
    namespace, records = command.owner.namespace, command.records
    tombstones = TombstoneReader(transaction.connection, namespace)
    forgotten = [
        not command.override_erasures and tombstones.is_forgotten(imported.origin) for imported in command.records
    ]
    ids = [imported.record.id for imported in records]
    known = find_by_ids(transaction.connection, command.owner, command.kind, ids)
    new = {
        imported.record.id: imported.record
        for imported, is_gone in zip(records, forgotten, strict=True)
        if not is_gone and imported.record.id not in known
    }
    if not new:
        return Imported([Outcome.FORGOTTEN if is_gone else Outcome.DUPLICATE for is_gone in forgotten])
    result = _upsert_with_owner(transaction, command, list(new.values()))
    upserted: RecordsUpserted = result.result if isinstance(result, PendingPurge) else result
    stored = {record.id for record in upserted.records} & new.keys()
    imported = Imported([_outcome(name, is_gone, stored) for name, is_gone in zip(ids, forgotten, strict=True)])
    return PendingPurge(result.purges, imported) if isinstance(result, PendingPurge) else imported


def _outcome(name: str, is_forgotten: bool, stored: set[str]) -> Outcome:
    """Return the outcome. Of several records with one id, the first is the stored one."""
    if is_forgotten:
        return Outcome.FORGOTTEN
    if name in stored:
        stored.remove(name)
        return Outcome.STORED
    return Outcome.DUPLICATE


def _upsert_with_owner(
    transaction: Transaction, command: ImportRecords, new: list[Record]
) -> RecordsUpserted | PendingPurge:
    """Store the records, and claim the session that owns them. Nothing is added to the transaction if either fails."""
    key = SessionKey(command.owner.namespace, command.owner.session_id)
    before = transaction.head(key) if key.session_id else None
    head = _owner_head(transaction, key, command.user_id) if key.session_id else None
    keys = sorted({record.conflict_key for record in new})
    upsert = UpsertRecords(command.owner, command.kind, keys, lambda stored: command.merge(stored, new))
    try:
        result = upsert_records(transaction, upsert)
    except SidecarError:
        _give_back(transaction, before, head)
        raise
    if head is not None:
        _save_owner(transaction, before, head)
    return result


def import_document(transaction: Transaction, command: ImportDocument) -> Imported | PendingPurge:
    draft = command.document
    if _is_forgotten(transaction, command.origin, command.override_erasures):
        return Imported([Outcome.FORGOTTEN])
    if find_location(transaction.connection, draft.owner, draft.id) is not None:
        return Imported([Outcome.DUPLICATE])
    key = _session_of(draft.owner)
    before = transaction.head(key) if key else None
    head = _owner_head(transaction, key, command.user_id) if key else None
    try:
        put = put_document(transaction, PutDocument(draft))
    except SidecarError:
        _give_back(transaction, before, head)
        raise
    assert isinstance(put, DocumentPut)  # a new document replaces no text
    if head is not None:
        _save_owner(transaction, before, head)
    return Imported([Outcome.STORED])


def _session_of(owner: Owner) -> SessionKey | None:
    return SessionKey(owner.namespace, owner.session_id) if owner.session_id else None


def _is_forgotten(transaction: Transaction, origin: Origin, override_erasures: bool) -> bool:
    if override_erasures:
        return False
    return TombstoneReader(transaction.connection, origin.namespace).is_forgotten(origin)


def _owner_head(transaction: Transaction, key: SessionKey, user_id: str) -> SessionHead:
    """Return a copy of the session with this user, or a new one, which the quota has room for."""
    before = transaction.head(key)
    if before is not None:
        return claimed_copy(before, user_id)
    transaction.reserve_quota(key.namespace, Usage(sessions=1))
    return transaction.new_session(key, user_id)


def _give_back(transaction: Transaction, before: SessionHead | None, head: SessionHead | None) -> None:
    if head is not None and before is None:
        transaction.reserve_quota(head.key.namespace, Usage(sessions=-1))


def _save_owner(
    transaction: Transaction, before: SessionHead | None, head: SessionHead, *, always: bool = False
) -> None:
    if before is not None:
        active_us = head.last_active_us
        transaction.log_claim(before, head)
        head.last_active_us = active_us
    if always or before is None or is_claim(before, head):
        transaction.save_session(head)
        transaction.events.append(CommitEvent(head.key, head))
