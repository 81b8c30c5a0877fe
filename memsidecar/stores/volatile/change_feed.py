"""Read_changes."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from memsidecar.domain.session import SessionHead
from memsidecar.stores.contract import (
    DocumentWritten,
    EndOfLog,
    LocatedMessage,
    LogEntry,
    LogFilter,
    MessageWritten,
    NoOp,
    RowsErased,
    SessionClaimed,
)
from memsidecar.stores.volatile.session import Entry, EntryKind, Message, Session
from memsidecar.stores.volatile.state import JournalState


def read_changes(
    ledger: JournalState, namespace: str, after_lsn: int, limit: int, log_filter: LogFilter | None
) -> Sequence[LogEntry]:
    sessions = ledger.by_number()
    # Every number was given to one entry, from 1 on.
    behind = (ledger.log[at] for at in range(max(after_lsn, 0), len(ledger.log)))
    mine = (entry for entry in behind if entry.namespace == namespace and _is_heard(sessions, entry, log_filter))
    told = (_tell(ledger, sessions, entry) for entry in mine)
    news = list(islice((one for one in told if one is not None), limit))
    if log_filter is not None and len(news) < limit and len(ledger.log) > after_lsn:
        news.append(EndOfLog(len(ledger.log)))
    return news


def _is_heard(sessions: Mapping[int, Session], entry: Entry, log_filter: LogFilter | None) -> bool:
    if log_filter is None or entry.about is EntryKind.ERASURE:
        return True
    if entry.about in (EntryKind.DOCUMENT, EntryKind.WINDOW):
        return entry.about is EntryKind.DOCUMENT and log_filter.documents
    session = sessions.get(entry.number)
    return session is not None and (session.number == log_filter.session or session.user_id == log_filter.user_id != "")


def _tell(ledger: JournalState, sessions: Mapping[int, Session], entry: Entry) -> LogEntry | None:
    """None for entries of a session that was erased: they belong nowhere any more."""
    if entry.about is EntryKind.ERASURE:
        return RowsErased(entry.lsn, entry.number)
    if entry.about is EntryKind.DOCUMENT:
        document = ledger.library.version(entry.lsn)
        return DocumentWritten(entry.lsn, document) if document else NoOp(entry.lsn)
    session = sessions.get(entry.number)
    return _tell_of(session, entry) if session else None


def _tell_of(session: Session, entry: Entry) -> LogEntry:
    if entry.about is EntryKind.CLAIM:
        return SessionClaimed(entry.lsn, session.number, session.key, session.user_id)
    if entry.about is EntryKind.WINDOW:
        return NoOp(entry.lsn)
    return _said(session, session.at(entry.sequence), entry.lsn)


def _said(session: Session, message: Message, lsn: int) -> MessageWritten:
    first_lsn, vector = message.lsn, message.draft.vector
    return MessageWritten(lsn, first_lsn, session.number, session.key, session.user_id, message.original, vector)


def said(ledger: JournalState, number: int, after_sequence: int, limit: int) -> Sequence[MessageWritten]:
    session = ledger.by_number().get(number)
    messages = session.messages if session else []
    behind = [message for message in messages if message.original.sequence > after_sequence]
    return [_said(session, message, message.lsn) for message in behind[:limit] if session]


def sequence_at(ledger: JournalState, head: SessionHead, lsn: int) -> int:
    session = ledger.by_number().get(head.row_id)
    later = [message.original.sequence for message in session.messages if message.lsn > lsn] if session else []
    return min([head.last_sequence, *(sequence - 1 for sequence in later)])


def find(ledger: JournalState, lsns: Sequence[int]) -> Mapping[int, LocatedMessage]:
    return {found.lsn: found for found in _found(ledger, lsns)}


def _found(ledger: JournalState, lsns: Sequence[int]) -> Iterator[LocatedMessage]:
    sessions = ledger.by_number()
    for entry in (ledger.log[lsn - 1] for lsn in lsns if 0 < lsn <= len(ledger.log)):
        session = sessions.get(entry.number)
        if session and entry.about is EntryKind.MESSAGE:
            yield session.found(session.at(entry.sequence))
