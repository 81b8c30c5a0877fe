"""The decisions of ImportSession, ImportRecords and ImportDocument: which items are new, and whose they become."""

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager

from memsidecar.domain.errors import SidecarError
from memsidecar.domain.quota import Usage
from memsidecar.domain.session import Policy, SessionHead, SessionKey, claimed_copy, is_claim
from memsidecar.stores.contract import (
    CommitEvent,
    ImportRecords,
    ImportSession,
    Outcome,
    Owner,
    Record,
    UpsertRecords,
)
from memsidecar.stores.session_commands import SessionTransaction


def add_imported_session(
    transaction: SessionTransaction, command: ImportSession, save_policy: Callable[[SessionKey, Policy | None], None]
) -> Outcome:
    """Create the session, or raise its last sequence, claim it, give it a policy."""
    session = command.session
    before = transaction.head(session.key)
    head = _owner_head(transaction, session.key, session.user_id)
    if before is None:
        head.create_time_us = session.create_time_us or head.create_time_us
        head.last_active_us = session.last_active_us or head.last_active_us
    _raise_last_sequence(head, session.last_sequence)
    has_new_policy = session.policy is not None and head.policy is None
    if has_new_policy:
        head.policy = session.policy
        save_policy(session.key, session.policy)
    is_raised = before is not None and head.last_sequence > before.last_sequence
    if before is not None and not (is_raised or has_new_policy or is_claim(before, head)):
        return Outcome.DUPLICATE
    _save_owner(transaction, before, head, always=True)
    return Outcome.STORED


def _raise_last_sequence(head: SessionHead, last_sequence: int) -> None:
    """Set the last sequence if it is higher. A window without messages begins after it."""
    if last_sequence > head.last_sequence:
        if head.window_start == head.last_sequence + 1:
            head.window_start = last_sequence + 1
        head.last_sequence = last_sequence


@contextmanager
def owning_session(transaction: SessionTransaction, owner: Owner, user_id: str) -> Iterator[None]:
    """Claim or create the session that owns what the block imports. A refused block leaves nothing in the quota."""
    key = SessionKey(owner.namespace, owner.session_id)
    if not key.session_id:
        yield
        return
    before = transaction.head(key)
    head = _owner_head(transaction, key, user_id)
    try:
        yield
    except SidecarError:
        if before is None:
            transaction.reserve_quota(key.namespace, Usage(sessions=-1))
        raise
    _save_owner(transaction, before, head)


def _owner_head(transaction: SessionTransaction, key: SessionKey, user_id: str) -> SessionHead:
    """Return a copy of the session with this user, or a new one, which the quota has room for."""
    before = transaction.head(key)
    if before is not None:
        return claimed_copy(before, user_id)
    transaction.reserve_quota(key.namespace, Usage(sessions=1))
    return transaction.new_session(key, user_id)


def _save_owner(
    transaction: SessionTransaction, before: SessionHead | None, head: SessionHead, *, always: bool = False
) -> None:
    if before is not None:
        active_us = head.last_active_us
        transaction.log_claim(before, head)
        head.last_active_us = active_us
    if always or before is None or is_claim(before, head):
        transaction.save_session(head)
        transaction.events.append(CommitEvent(head.key, head))


def new_records(command: ImportRecords, forgotten: Sequence[bool], known_ids: Collection[str]) -> dict[str, Record]:
    """Return the records to store, by id."""
    return {
        imported.record.id: imported.record
        for imported, is_forgotten in zip(command.records, forgotten, strict=True)
        if not is_forgotten and imported.record.id not in known_ids
    }


def merging_upsert(command: ImportRecords, new: Sequence[Record]) -> UpsertRecords:
    keys = sorted({record.conflict_key for record in new})
    return UpsertRecords(command.owner, command.kind, keys, lambda stored: command.merge(stored, new))


def record_outcomes(command: ImportRecords, forgotten: Sequence[bool], stored_ids: Collection[str]) -> list[Outcome]:
    """Return the outcomes in order. Of several records with one id, the first is the stored one."""
    left = set(stored_ids)
    outcomes: list[Outcome] = []
    for imported, is_forgotten in zip(command.records, forgotten, strict=True):
        if is_forgotten:
            outcomes.append(Outcome.FORGOTTEN)
        elif imported.record.id in left:
            left.remove(imported.record.id)
            outcomes.append(Outcome.STORED)
        else:
            outcomes.append(Outcome.DUPLICATE)
    return outcomes
