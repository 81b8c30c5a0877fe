"""Reads of the log of the RAM journal."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from memsidecar.domain.session import SessionHead
from memsidecar.stores.contract import (
    DocumentWritten,
    EndOfLog,
    LocatedMessage,
    LogEntry,
    LogFilter,
    MessageErased,
    MessageWritten,
    NoOp,
    RowsErased,
    SessionClaimed,
)
from memsidecar.stores.volatile.events import ERASURES, EntryKind, LogRow
from memsidecar.stores.volatile.session import Message, Session
from memsidecar.stores.volatile.state import JournalState


def read_changes(
    state: JournalState,
    namespace: str,
    after_lsn: int,
    limit: int,
    log_filter: LogFilter | None,
    *,
    max_message_bytes: int,
) -> Sequence[LogEntry]:
    sessions = state.by_row_id()
    # Lsns are given without gaps, from 1 on.
    later = (state.log.rows[place] for place in range(max(after_lsn, 0), len(state.log.rows)))
    matching = (entry for entry in later if entry.namespace == namespace and _matches(sessions, entry, log_filter))
    decoded = (_decode(state, sessions, entry) for entry in matching)
    found = islice((change for change in decoded if change is not None), limit)
    changes = [NoOp(change.lsn) if _is_too_large(change, max_message_bytes) else change for change in found]
    if log_filter is not None and len(changes) < limit and len(state.log.rows) > after_lsn:
        changes.append(EndOfLog(len(state.log.rows)))
    return changes


def _is_too_large(change: LogEntry, max_message_bytes: int) -> bool:
    return isinstance(change, MessageWritten) and len(change.message.body) > max_message_bytes


_WITHOUT_CONTENT = (EntryKind.PRUNE, EntryKind.SHORTENING, EntryKind.FACT, EntryKind.SUMMARY)


def _matches(sessions: Mapping[int, Session], entry: LogRow, log_filter: LogFilter | None) -> bool:
    if log_filter is None or entry.kind in (*ERASURES, EntryKind.MESSAGE_ERASURE):
        return True
    if entry.kind is EntryKind.DOCUMENT:
        return log_filter.documents
    if entry.kind in _WITHOUT_CONTENT:
        return False
    session = sessions.get(entry.row_id)
    if session is None:
        return False
    return session.row_id == log_filter.session or session.user_id == log_filter.user_id != ""


def _decode(state: JournalState, sessions: Mapping[int, Session], entry: LogRow) -> LogEntry | None:
    """Return None for an entry of an erased session: it belongs to no namespace any more."""
    if entry.kind in ERASURES and entry.row_id:
        return RowsErased(entry.lsn, entry.row_id)
    if entry.kind in (EntryKind.DELETE, EntryKind.FACT, EntryKind.SUMMARY):
        return NoOp(entry.lsn)
    if entry.kind is EntryKind.DOCUMENT:
        document = state.documents.by_version(entry.lsn)
        return DocumentWritten(entry.lsn, document) if document else NoOp(entry.lsn)
    session = sessions.get(entry.row_id)
    if entry.kind is EntryKind.MESSAGE_ERASURE:
        return MessageErased(entry.lsn, entry.row_id, entry.sequence, session.key if session else None)
    return _decode_of_session(session, entry) if session else None


def _decode_of_session(session: Session, entry: LogRow) -> LogEntry:
    if entry.kind is EntryKind.CLAIM:
        return SessionClaimed(entry.lsn, session.row_id, session.key, session.user_id)
    if entry.kind in _WITHOUT_CONTENT:
        return NoOp(entry.lsn)
    message = session.at(entry.sequence)
    return _message_written(session, message, entry.lsn) if message else NoOp(entry.lsn)


def _message_written(session: Session, message: Message, lsn: int) -> MessageWritten:
    return MessageWritten(
        lsn=lsn,
        first_lsn=message.lsn,
        session=session.row_id,
        key=session.key,
        user_id=session.user_id,
        message=message.original,
        vector=message.draft.vector,
    )


def read_session(state: JournalState, row_id: int, after_sequence: int, limit: int) -> Sequence[MessageWritten]:
    session = state.by_row_id().get(row_id)
    messages = session.messages if session else []
    later = [message for message in messages if message.original.sequence > after_sequence]
    return [_message_written(session, message, message.lsn) for message in later[:limit] if session]


def sequence_at(state: JournalState, head: SessionHead, lsn: int) -> int:
    session = state.by_row_id().get(head.row_id)
    later = [message.original.sequence for message in session.messages if message.lsn > lsn] if session else []
    return min([head.last_sequence, *(sequence - 1 for sequence in later)])


def get_by_lsn(state: JournalState, namespace: str, lsns: Sequence[int]) -> Mapping[int, LocatedMessage]:
    return {located.lsn: located for located in _locate(state, lsns) if located.key.namespace == namespace}


def _locate(state: JournalState, lsns: Sequence[int]) -> Iterator[LocatedMessage]:
    sessions = state.by_row_id()
    for entry in (state.log.rows[lsn - 1] for lsn in lsns if 0 < lsn <= len(state.log.rows)):
        session = sessions.get(entry.row_id)
        if session and entry.kind is EntryKind.MESSAGE and (message := session.at(entry.sequence)):
            yield session.located(message)
