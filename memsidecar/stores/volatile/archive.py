"""Reads of an export from the RAM journal."""

import time
from collections.abc import Sequence

from memsidecar.domain.message import Flag
from memsidecar.domain.session import SessionHead
from memsidecar.stores.contract import (
    ArchivedMessage,
    ArchivedRecord,
    ArchivePage,
    ArchivePosition,
    Owner,
    RecordKind,
    Scope,
)
from memsidecar.stores.volatile.session import Message, Session
from memsidecar.stores.volatile.state import JournalState

_KINDS = (RecordKind.FACT, RecordKind.ARTIFACT)
MAX_PAGE_ITEMS = 256


def read_position(state: JournalState) -> ArchivePosition:
    return ArchivePosition(
        lsn=len(state.log.rows),
        session=state.next_session,
        record=state.records.next_row_id,
        document=state.documents.last_row_id + 1,
        time_us=time.time_ns() // 1000,
    )


def read_sessions(
    state: JournalState, scope: Scope, position: ArchivePosition, after_id: str, limit: int
) -> Sequence[SessionHead]:
    found = [
        session
        for session in state.sessions.values()
        if session.is_in(scope)
        and session.key.session_id > after_id
        and (session.row_id < position.session or session.create_time_us <= position.time_us)
    ]
    found.sort(key=lambda session: session.key.session_id)
    return [state.head(session) for session in found[:limit]]


def read_records(state: JournalState, scope: Scope, position: ArchivePosition, after: int) -> ArchivePage:
    found = [
        ArchivedRecord(row_id, name.owner, name.kind, record)
        for row_id, name, record in state.records.in_order()
        if after < row_id < position.record
        and name.kind in _KINDS
        and _is_owned(state, scope, name.owner)
        and scope.session_id in ("", name.owner.session_id, record.source)
    ]
    return _page(found, [item.row_id for item in found])


def read_messages(state: JournalState, scope: Scope, position: ArchivePosition, after_lsn: int) -> ArchivePage:
    found = [
        _archived(session, message)
        for session in state.sessions.values()
        if session.is_in(scope)
        for message in session.messages
        if after_lsn < message.lsn <= position.lsn
    ]
    found.sort(key=lambda message: message.lsn)
    return _page(found, [message.lsn for message in found])


def read_documents(state: JournalState, scope: Scope, position: ArchivePosition, after: int) -> ArchivePage:
    found = [
        document
        for document in state.documents.in_order()
        if after < document.row_id < position.document
        and _is_owned(state, scope, document.owner)
        and scope.session_id in ("", document.owner.session_id)
    ]
    return ArchivePage(found[:1], found[0].row_id if found else None)


def _is_owned(state: JournalState, scope: Scope, owner: Owner) -> bool:
    """Tell whether the scope's user, or a session of that user, owns something; everything without a user."""
    if owner.namespace != scope.namespace:
        return False
    if not scope.user_id or (not owner.session_id and owner.user_id == scope.user_id):
        return True
    sessions = [session for session in state.sessions.values() if session.user_id == scope.user_id]
    return (owner.namespace, owner.session_id) in [session.key for session in sessions]


def _archived(session: Session, message: Message) -> ArchivedMessage:
    displayed = message.displayed if message.displayed.flags & Flag.SHORTENED else None
    return ArchivedMessage(message.lsn, session.key, session.user_id, message.original, displayed, message.draft.vector)


def _page(found: Sequence[ArchivedMessage | ArchivedRecord], places: Sequence[int]) -> ArchivePage:
    items = found[:MAX_PAGE_ITEMS]
    return ArchivePage(items, places[MAX_PAGE_ITEMS - 1] if len(found) > MAX_PAGE_ITEMS else None)
