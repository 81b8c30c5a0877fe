"""What the erasures of the RAM journal remove."""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from memsidecar.domain.errors import NotFound
from memsidecar.stores.contract import (
    Erase,
    EraseUser,
    ErasureCounts,
    Owner,
    RecordKind,
    StoredDocument,
    Tombstone,
    TombstoneKind,
)
from memsidecar.stores.tombstones import user_tombstones
from memsidecar.stores.volatile.documents import DocumentTable
from memsidecar.stores.volatile.records import RecordName, RecordTable
from memsidecar.stores.volatile.session import Session


class ErasurePlan(NamedTuple):
    """What is removed. `deleted_sessions` is 0 if the session is only cleared.

    `forgotten` are the names that imports must not bring back, with what came to be up to `newest_us`.
    """

    sessions: Sequence[Session]
    documents: Sequence[StoredDocument]
    records: Sequence[RecordName]
    deleted_sessions: int
    forgotten: Sequence[Tombstone] = ()
    newest_us: int = 0

    @property
    def counts(self) -> ErasureCounts:
        kinds = Counter(name.kind for name in self.records)
        return ErasureCounts(
            messages=sum(len(session.messages) for session in self.sessions),
            facts=kinds[RecordKind.FACT],
            summaries=kinds[RecordKind.SUMMARY],
            artifacts=kinds[RecordKind.ARTIFACT],
            patterns=kinds[RecordKind.PATTERNS],
            documents=len(self.documents),
            chunks=sum(document.chunk_count for document in self.documents),
            sessions=self.deleted_sessions,
        )


def plan_session(
    session: Session | None, documents: DocumentTable, records: RecordTable, command: Erase
) -> ErasurePlan:
    """Return what the command erases; NotFound if a deletion would find nothing."""
    user_id = session.user_id or command.user_id if session else ""
    owned = documents.of_session(command.key) if command.delete_session else ()
    derived = records.erased_with(command.key, user_id, command.delete_session)
    if command.delete_session and not (session or owned or derived):
        raise NotFound(f"there is no session {command.key.session_id!r}")
    sessions = [session] if session else []
    if not command.delete_session:
        return ErasurePlan(sessions, owned, derived, 0)
    forgotten = [Tombstone(TombstoneKind.SESSION, (command.key.session_id,))]
    return ErasurePlan(sessions, owned, derived, 1, forgotten, _newest_us(sessions, owned, derived, records))


def plan_user(
    sessions: Sequence[Session], documents: DocumentTable, records: RecordTable, command: EraseUser
) -> ErasurePlan:
    """Return what the command erases, with these sessions of the user."""
    if not command.user_id:
        return ErasurePlan((), (), (), 0)
    owner = Owner(command.namespace, command.user_id)
    derived = [name for each in sessions for name in records.erased_with(each.key, command.user_id, True)]
    owned = [document for each in sessions for document in documents.of_session(each.key)]
    owned = sorted((*owned, *documents.of_owner(owner)), key=lambda document: document.row_id)
    names = dict.fromkeys((*derived, *records.of_owner(owner)))
    forgotten = user_tombstones(command.user_id, [session.key.session_id for session in sessions])
    newest_us = _newest_us(sessions, owned, list(names), records)
    return ErasurePlan(sessions, owned, list(names), len(sessions), forgotten, newest_us)


def _newest_us(
    sessions: Sequence[Session], documents: Sequence[StoredDocument], names: Sequence[RecordName], records: RecordTable
) -> int:
    times = [message.original.time_us for session in sessions for message in session.messages]
    times += [document.create_time_us for document in documents]
    times += [record.time_us for name in names if (record := records.get(*name))]
    return max(times, default=0)
