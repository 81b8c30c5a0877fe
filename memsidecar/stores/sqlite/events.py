"""Events: log entries of facts and summaries, and reads of the log without content."""

import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from memsidecar.stores.contract import Event, EventKind, EventPage, Owner, RecordKind, Scope, UpsertRecords
from memsidecar.stores.log_kinds import KIND_OF_RECORD, LogKind
from memsidecar.stores.sqlite import rows
from memsidecar.stores.sqlite.transaction import SAVE_LAST_LSN, Transaction

PAGE_ENTRIES = 16_384
"Entries of the log that one read passes, those of other namespaces included."

_ADD_OWNER = "INSERT OR IGNORE INTO owners(namespace, user_id, session_id) VALUES (?, ?, ?)"
_OF_OWNER = "namespace = :namespace AND session_id = :session_id AND user_id = :user_id"
_INSERT_LOG = f"""INSERT INTO log(lsn, session, kind, sequence, time_us, id)
  VALUES (:lsn, (SELECT row_id FROM owners WHERE {_OF_OWNER}), :kind,
    coalesce(:sequence, (SELECT row_id FROM records WHERE {_OF_OWNER} AND kind = :record_kind AND id = :record_id)),
    :now_us, :namespace)"""

_MESSAGE_KINDS = (
    f"{int(LogKind.MESSAGE)}, {int(LogKind.ANNOTATION)}, {int(LogKind.PRUNE)}, {int(LogKind.MESSAGE_ERASURE)}"
)
_OWNED_KINDS = f"{int(LogKind.CLEAR)}, {int(LogKind.DELETE)}, {int(LogKind.FACT)}, {int(LogKind.SUMMARY)}"
# In the order of the log, as in `change_feed`. A message that was erased alone has lost its id.
_ENTRIES = f"""SELECT l.lsn, l.kind, l.session, l.sequence, l.time_us, l.id, s.user_id, s.session_id
  FROM log l NOT INDEXED LEFT JOIN sessions s ON s.row_id = l.session AND l.kind IN ({_MESSAGE_KINDS})
  WHERE l.lsn > :after AND l.lsn <= :end AND (
    (s.namespace = :namespace AND (l.id IS NOT NULL OR l.kind = {int(LogKind.PRUNE)})
      AND :user_id IN ('', s.user_id) AND :session_id IN ('', s.session_id))
    OR (l.kind IN ({_OWNED_KINDS}) AND l.id = :namespace))
  ORDER BY l.lsn LIMIT :limit"""
# What a session owns has no user of its own.
_FIND_OWNER = """SELECT coalesce(nullif(o.user_id, ''), s.user_id, ''), o.session_id, o.user_id FROM owners o
  LEFT JOIN sessions s ON o.session_id <> '' AND s.namespace = o.namespace AND s.session_id = o.session_id
  WHERE o.row_id = ?"""
_FIND_SESSION = "SELECT user_id, session_id FROM sessions WHERE row_id = ?"
_FIND_FACT = f"""SELECT id FROM records WHERE row_id = :row_id AND first_lsn <= :lsn
  AND {_OF_OWNER} AND kind = {int(RecordKind.FACT)}"""
_FIND_SUMMARY = f"""SELECT id FROM records WHERE {_OF_OWNER} AND kind = {int(RecordKind.SUMMARY)} AND first_lsn <= :lsn
  ORDER BY first_lsn DESC LIMIT 1"""


def is_logged(kind: RecordKind) -> bool:
    return kind in KIND_OF_RECORD


def log_upserts(transaction: Transaction, command: UpsertRecords, changed_ids: Sequence[str], sequence: int) -> None:
    """Log changed facts and summaries, after the statements that change them. `sequence` is what a summary covers."""
    if is_logged(command.kind):
        covered = sequence if command.kind == RecordKind.SUMMARY else None
        for record_id in changed_ids:
            _log(transaction, command.owner, command.kind, record_id, covered)


def log_deletions(transaction: Transaction, owner: Owner, kind: RecordKind, count: int) -> None:
    """Log deleted facts. A deleted summary was replaced."""
    for _ in range(count if kind == RecordKind.FACT else 0):
        _log(transaction, owner, kind, "", None)


def _log(transaction: Transaction, owner: Owner, kind: RecordKind, record_id: str, sequence: int | None) -> None:
    transaction.lsn += 1
    transaction.logged_namespaces.add(owner.namespace)
    transaction.add_statement(_ADD_OWNER, *owner)
    parameters = owner._asdict() | {
        "lsn": transaction.lsn,
        "kind": KIND_OF_RECORD[kind],
        "sequence": sequence,
        "record_kind": kind,
        "record_id": record_id,
        "now_us": transaction.now_us,
    }
    transaction.statements.append((_INSERT_LOG, parameters))
    transaction.add_statement(SAVE_LAST_LSN, owner.namespace, transaction.lsn)


class _EntryRow(NamedTuple):
    """An entry of the log. The names are those of its session; None for other kinds."""

    lsn: int
    kind: int
    session: int
    sequence: int | None
    time_us: int
    id: str | None
    user_id: str | None
    session_id: str | None

    def event(self, kind: EventKind, user_id: str, session_id: str, sequence: int = 0, record_id: str = "") -> Event:
        return Event(self.lsn, kind, user_id, session_id, sequence, record_id, self.time_us)


def read_page(connection: sqlite3.Connection, scope: Scope, after_lsn: int, limit: int) -> EventPage:
    end, last = after_lsn + PAGE_ENTRIES, rows.last_lsn(connection)
    parameters = {
        "after": after_lsn,
        "end": end,
        "namespace": scope.namespace,
        "user_id": scope.user_id,
        "session_id": scope.session_id,
        "limit": limit,
    }
    found = [_EntryRow._make(row) for row in connection.execute(_ENTRIES, parameters).fetchall()]
    lsn = found[-1].lsn if len(found) == limit else max(after_lsn, min(end, last))
    return EventPage(list(_decode(connection, scope, found)), lsn, is_last=lsn >= last)


def _decode(connection: sqlite3.Connection, scope: Scope, found: list[_EntryRow]) -> Iterator[Event]:
    for row in found:
        event = _DECODERS[row.kind](connection, scope, row)
        if event is not None and (event.is_nameless_erasure or _is_in_scope(event, scope)):
            yield event


def _is_in_scope(event: Event, scope: Scope) -> bool:
    return scope.user_id in ("", event.user_id) and scope.session_id in ("", event.session_id)


def _message_event(kind: EventKind) -> Callable[[sqlite3.Connection, Scope, _EntryRow], Event]:
    def decode(_: sqlite3.Connection, __: Scope, row: _EntryRow) -> Event:
        return row.event(kind, row.user_id or "", row.session_id or "", row.sequence or 0, row.id or "")

    return decode


def _message_erased(_: sqlite3.Connection, __: Scope, row: _EntryRow) -> Event:
    return row.event(EventKind.FORGOTTEN, row.user_id or "", row.session_id or "", row.sequence or 0)


def _cleared(connection: sqlite3.Connection, _: Scope, row: _EntryRow) -> Event:
    names = connection.execute(_FIND_SESSION, (row.sequence,)).fetchone() or ("", "")
    return row.event(EventKind.CLEARED, *names)


def _forgotten(_: sqlite3.Connection, __: Scope, row: _EntryRow) -> Event:
    return row.event(EventKind.FORGOTTEN, "", "")


def _fact(connection: sqlite3.Connection, scope: Scope, row: _EntryRow) -> Event | None:
    owner = connection.execute(_FIND_OWNER, (row.session,)).fetchone()
    if owner is None:
        return None
    user_id, session_id, owning_user = owner
    parameters = {"row_id": row.sequence, "lsn": row.lsn, **Owner(scope.namespace, owning_user, session_id)._asdict()}
    fact = connection.execute(_FIND_FACT, parameters).fetchone()
    return row.event(EventKind.FACT, user_id, session_id, record_id=fact[0] if fact else "")


def _summary(connection: sqlite3.Connection, scope: Scope, row: _EntryRow) -> Event | None:
    owner = connection.execute(_FIND_OWNER, (row.session,)).fetchone()
    if owner is None:
        return None
    user_id, session_id, owning_user = owner
    parameters = {"lsn": row.lsn, **Owner(scope.namespace, owning_user, session_id)._asdict()}
    summary = connection.execute(_FIND_SUMMARY, parameters).fetchone()
    return row.event(EventKind.SUMMARY, user_id, session_id, row.sequence or 0, summary[0] if summary else "")


_DECODERS: Mapping[int, Callable[[sqlite3.Connection, Scope, _EntryRow], Event | None]] = {
    LogKind.MESSAGE: _message_event(EventKind.ADDED),
    LogKind.ANNOTATION: _message_event(EventKind.ANNOTATED),
    LogKind.PRUNE: _message_event(EventKind.PRUNED),
    LogKind.CLEAR: _cleared,
    LogKind.DELETE: _forgotten,
    LogKind.MESSAGE_ERASURE: _message_erased,
    LogKind.FACT: _fact,
    LogKind.SUMMARY: _summary,
}
