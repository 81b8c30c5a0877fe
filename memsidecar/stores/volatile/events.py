"""The log of the RAM journal, and its entries as events."""

import time
from collections.abc import Iterator, Mapping
from enum import Enum, auto
from itertools import count, islice
from typing import NamedTuple

from memsidecar.domain.session import SessionKey
from memsidecar.stores.contract import (
    ERASING_COMMANDS,
    Command,
    ErasedNames,
    Event,
    EventKind,
    EventPage,
    LogChanges,
    Owner,
    RecordKind,
    Scope,
)
from memsidecar.stores.volatile.records import RecordTable
from memsidecar.stores.volatile.session import Session


class EntryKind(Enum):
    MESSAGE = auto()
    ANNOTATION = auto()
    CLAIM = auto()
    CLEAR = auto()
    DELETE = auto()
    DOCUMENT = auto()
    DOCUMENT_DELETE = auto()
    PRUNE = auto()
    SHORTENING = auto()
    FACT = auto()
    SUMMARY = auto()
    MESSAGE_ERASURE = auto()


ERASURES = (EntryKind.CLEAR, EntryKind.DELETE, EntryKind.DOCUMENT_DELETE)


class LogRow(NamedTuple):
    """A log entry. `row_id` is a session's, the negative one of a document, or that of the owner of a record.

    The row id of a CLEAR is the one that was erased; its sequence is the session's new row id.
    """

    lsn: int
    kind: EntryKind
    namespace: str
    row_id: int
    sequence: int
    id: str
    time_us: int


class Log:
    """All entries, the owners of logged records, and the erasures of the current command."""

    def __init__(self) -> None:
        self.rows: list[LogRow] = []
        self.last_lsns: dict[str, int] = {}
        self.erasures: list[ErasedNames] = []
        self._owners: dict[int, Owner] = {}
        self._owner_ids = count(1)

    def write(self, kind: EntryKind, namespace: str, row_id: int, sequence: int = 0, name: str = "") -> int:
        lsn = len(self.rows) + 1
        self.rows.append(LogRow(lsn, kind, namespace, row_id, sequence, name, time.time_ns() // 1000))
        self.last_lsns[namespace] = lsn
        return lsn

    def write_deletion(self, row_id: int, owner: Owner) -> int:
        """Log that a session or a user was deleted. Its records have no owner any more."""
        self._owners = {row_id: other for row_id, other in self._owners.items() if not _is_deleted_with(other, owner)}
        lsn = self.write(EntryKind.DELETE, owner.namespace, row_id)
        self.erasures.append(ErasedNames(lsn, owner))
        return lsn

    def write_record(self, owner: Owner, kind: RecordKind, record_id: str, sequence: int = 0) -> int:
        """Log a changed record, or a deleted one without its id. Return the lsn, or 0 if it is not logged."""
        kinds = {RecordKind.FACT: EntryKind.FACT, RecordKind.SUMMARY: EntryKind.SUMMARY}
        if kind not in kinds or (kind is RecordKind.SUMMARY and not record_id):
            return 0
        row_id = next((row_id for row_id, known in self._owners.items() if known == owner), 0)
        if not row_id:
            row_id = next(self._owner_ids)
            self._owners[row_id] = owner
        return self.write(kinds[kind], owner.namespace, row_id, sequence, record_id)

    def owner(self, row_id: int) -> Owner | None:
        return self._owners.get(row_id)

    def has_owner(self, owner: Owner) -> bool:
        return owner in self._owners.values()


def _is_deleted_with(owner: Owner, deleted: Owner) -> bool:
    if owner.namespace != deleted.namespace:
        return False
    if deleted.session_id:
        return owner.session_id == deleted.session_id
    return owner.user_id == deleted.user_id


class EventReader(NamedTuple):
    """Reads the log as events."""

    log: Log
    sessions: Mapping[SessionKey, Session]
    records: RecordTable

    def read(self, scope: Scope, after_lsn: int, limit: int) -> EventPage:
        last = len(self.log.rows)
        later = (self.log.rows[place] for place in range(max(after_lsn, 0), last))
        relevant = (row for row in later if row.namespace == scope.namespace)
        events = list(islice(self._events(scope, relevant), limit))
        lsn = events[-1].lsn if len(events) == limit else max(after_lsn, last)
        return EventPage(events, lsn, is_last=lsn >= last)

    def _events(self, scope: Scope, entries: Iterator[LogRow]) -> Iterator[Event]:
        sessions = {session.row_id: session for session in self.sessions.values()}
        for row in entries:
            event = self._event(sessions, row)
            if event is not None and (event.is_nameless_erasure or _is_in_scope(event, scope)):
                yield event

    def _event(self, sessions: Mapping[int, Session], row: LogRow) -> Event | None:
        if row.kind in _MESSAGE_KINDS:
            return _message_event(row, sessions.get(row.row_id))
        if row.kind is EntryKind.CLEAR:
            return _event(row, sessions.get(row.sequence))
        if row.kind is EntryKind.DELETE:
            return _event(row, None)
        return self._record_event(row) if row.kind in (EntryKind.FACT, EntryKind.SUMMARY) else None

    def _record_event(self, row: LogRow) -> Event | None:
        owner = self.log.owner(row.row_id)
        if owner is None:
            return None
        session = self.sessions.get(SessionKey(owner.namespace, owner.session_id))
        user_id = owner.user_id or (session.user_id if session else "")
        if row.kind is EntryKind.FACT:
            record_id, sequence = self.records.known_id(owner, row.id, row.lsn), 0
        else:
            record_id, sequence = self.records.newest_summary(owner, row.lsn), row.sequence
        return Event(row.lsn, _KINDS[row.kind], user_id, owner.session_id, sequence, record_id, row.time_us)


_MESSAGE_KINDS = (EntryKind.MESSAGE, EntryKind.ANNOTATION, EntryKind.PRUNE, EntryKind.MESSAGE_ERASURE)
_KINDS = {
    EntryKind.MESSAGE: EventKind.ADDED,
    EntryKind.ANNOTATION: EventKind.ANNOTATED,
    EntryKind.PRUNE: EventKind.PRUNED,
    EntryKind.CLEAR: EventKind.CLEARED,
    EntryKind.DELETE: EventKind.FORGOTTEN,
    EntryKind.MESSAGE_ERASURE: EventKind.FORGOTTEN,
    EntryKind.FACT: EventKind.FACT,
    EntryKind.SUMMARY: EventKind.SUMMARY,
}


def _message_event(row: LogRow, session: Session | None) -> Event | None:
    """Return no event of an erased session, and none of a message that was erased later."""
    is_of_message = row.kind in (EntryKind.MESSAGE, EntryKind.ANNOTATION)
    if session is None or (is_of_message and session.at(row.sequence) is None):
        return None
    return _event(row, session, row.sequence, row.id)


def _event(row: LogRow, session: Session | None, sequence: int = 0, name: str = "") -> Event:
    user_id, session_id = (session.user_id, session.key.session_id) if session else ("", "")
    return Event(row.lsn, _KINDS[row.kind], user_id, session_id, sequence, name, row.time_us)


def _is_in_scope(event: Event, scope: Scope) -> bool:
    return scope.user_id in ("", event.user_id) and scope.session_id in ("", event.session_id)


def changes_since(log: Log, lsn: int, command: Command) -> LogChanges:
    """Return what a command has added to the log after an lsn."""
    erasures, log.erasures = log.erasures, []
    namespaces = list(dict.fromkeys(row.namespace for row in log.rows[lsn:]))
    return LogChanges(namespaces, erasures, isinstance(command, ERASING_COMMANDS))
