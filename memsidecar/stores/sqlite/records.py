"""Rows of records, and the handlers of UpsertRecords and DeleteRecord."""

import json
import sqlite3
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from memsidecar.domain.errors import DataCorrupted, NotFound
from memsidecar.domain.quota import Usage
from memsidecar.domain.session import SessionKey
from memsidecar.stores.contract import (
    AdvanceWatermark,
    DeleteRecord,
    Owner,
    Progress,
    Record,
    RecordKind,
    RecordQuery,
    RecordsUpserted,
    UpsertRecords,
)
from memsidecar.stores.sqlite.bookkeeping import advance_watermark, find_watermark
from memsidecar.stores.sqlite.secure_delete import OrphanedTexts, PendingPurge, orphan_texts
from memsidecar.stores.sqlite.transaction import Transaction

# In the order of `_find`. A record without a body is found all the same: it is damaged, and can still be deleted.
_RECORDS = """SELECT r.row_id, r.kind, r.body, r.bytes, r.id, r.conflict_key, r.source, r.time_us, r.until_us,
    t.text, t.crc
  FROM records r LEFT JOIN texts t ON t.row_id = r.body
  WHERE r.namespace = ? AND r.user_id = ? AND r.session_id = ? AND r.kind = ?"""
# The plus keeps SQLite from walking all of the owner's records in this order instead of sorting a few.
_BY_CONFLICT_KEY = f"""{_RECORDS} AND r.conflict_key IN (SELECT value FROM json_each(?))
  ORDER BY +r.time_us, r.id"""
_AFTER = "(r.time_us, r.id) < (?, ?)"
_NEWEST_FIRST = "ORDER BY r.time_us DESC, r.id DESC LIMIT ?"
# UNION: a record may match in two ways.
_OF_SESSION = f"""SELECT row_id, kind, body, bytes FROM records WHERE namespace = ? AND source = ? AND source <> ''
    AND (? OR kind <> {int(RecordKind.FACT)})
  UNION SELECT row_id, kind, body, bytes FROM records WHERE namespace = ? AND session_id = ? AND session_id <> ''
  UNION SELECT row_id, kind, body, bytes FROM records
    WHERE namespace = ? AND session_id = '' AND user_id = ? AND user_id <> '' AND kind = {int(RecordKind.PATTERNS)}"""

_OF_USER = """SELECT row_id, kind, body, bytes FROM records
    WHERE namespace = :namespace AND session_id = '' AND user_id = :user_id AND user_id <> ''
  UNION SELECT r.row_id, r.kind, r.body, r.bytes FROM sessions s
    CROSS JOIN records r ON r.namespace = s.namespace AND r.session_id = s.session_id
    WHERE s.namespace = :namespace AND s.user_id = :user_id AND s.user_id <> ''
  UNION SELECT r.row_id, r.kind, r.body, r.bytes FROM sessions s
    CROSS JOIN records r ON r.namespace = s.namespace AND r.source = s.session_id AND r.source <> ''
    WHERE s.namespace = :namespace AND s.user_id = :user_id AND s.user_id <> ''"""

_INSERT = """INSERT INTO records(namespace, user_id, session_id, kind, id, conflict_key, source, time_us, until_us,
    body, bytes) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"""
_UPDATE = "UPDATE records SET conflict_key = ?, source = ?, time_us = ?, until_us = ? WHERE row_id = ?"
_REPLACE = """UPDATE records SET conflict_key = ?, source = ?, time_us = ?, until_us = ?, body = ?, bytes = ?
  WHERE row_id = ?"""
_DELETE = "DELETE FROM records WHERE row_id IN (SELECT value FROM json_each(?))"


class RecordLocation(NamedTuple):
    """The rows of a record and its body: enough to delete it, also if the body is damaged."""

    row_id: int
    kind: int
    body: int
    bytes: int

    @property
    def texts(self) -> OrphanedTexts:
        return OrphanedTexts(self.body, self.body)


class RecordRow(NamedTuple):
    """A row of `records`; `text` is its body, valid if `is_intact`."""

    location: RecordLocation
    id: str
    conflict_key: int
    source: str
    time_us: int
    until_us: int
    text: bytes | None
    crc: int | None

    @property
    def is_intact(self) -> bool:
        return self.text is not None and zlib.crc32(self.text) == self.crc

    @property
    def columns(self) -> tuple[int, str, int, int]:
        return self.conflict_key, self.source, self.time_us, self.until_us

    def has_body_of(self, record: Record) -> bool:
        return self.is_intact and self.text == record.body

    def record(self, path: Path) -> Record:
        if not self.is_intact:
            raise DataCorrupted(f"{path.name} is damaged: a record does not match its checksum", file=str(path))
        return self.intact_part()

    def intact_part(self) -> Record:
        """Return the record, with an empty body if its body is damaged."""
        body = (self.text or b"") if self.is_intact else b""
        return Record(self.id, self.conflict_key, self.source, self.time_us, body, self.until_us)


def _columns(record: Record) -> tuple[int, str, int, int]:
    return record.conflict_key, record.source, record.time_us, record.until_us


def find_by_conflict_keys(
    connection: sqlite3.Connection, owner: Owner, kind: RecordKind, conflict_keys: Sequence[int]
) -> Sequence[RecordRow]:
    """Return the records with these keys, oldest first."""
    return _find(connection, _BY_CONFLICT_KEY, *owner, kind, json.dumps(list(conflict_keys)))


def find_by_ids(
    connection: sqlite3.Connection, owner: Owner, kind: RecordKind, ids: Sequence[str]
) -> dict[str, RecordRow]:
    """Return the existing records by id. One query each, because not every id that SQLite stores survives JSON."""
    found = [find_record(connection, owner, kind, record_id) for record_id in set(ids)]
    return {row.id: row for row in found if row is not None}


def find_record(connection: sqlite3.Connection, owner: Owner, kind: RecordKind, record_id: str) -> RecordRow | None:
    return next(iter(_find(connection, f"{_RECORDS} AND r.id = ?", *owner, kind, record_id)), None)


def list_records(connection: sqlite3.Connection, query: RecordQuery, path: Path) -> Sequence[Record]:
    conditions = [_RECORDS]
    if query.after is not None:
        conditions.append(_AFTER)
    if not query.history:
        conditions.append("r.until_us = 0")
    sql = f"{' AND '.join(conditions)} {_NEWEST_FIRST}"
    found = _find(connection, sql, *query.owner, query.kind, *query.after or (), query.limit)
    return [row.record(path) for row in found]


def find_records_of_session(
    connection: sqlite3.Connection, key: SessionKey, user_id: str, delete_session: bool
) -> Sequence[RecordLocation]:
    """Return the records that an erasure of the session erases: those derived from it, and its user's patterns.

    Records that it owns and facts that it is the source of are erased only with the session itself.
    """
    owner_id = key.session_id if delete_session else ""
    parameters = (*key, delete_session, key.namespace, owner_id, key.namespace, user_id)
    return [RecordLocation._make(row) for row in connection.execute(_OF_SESSION, parameters).fetchall()]


def find_records_of_user(connection: sqlite3.Connection, namespace: str, user_id: str) -> Sequence[RecordLocation]:
    """Return the records of a user, and those that the user's sessions own or are the source of."""
    parameters = {"namespace": namespace, "user_id": user_id}
    return [RecordLocation._make(row) for row in connection.execute(_OF_USER, parameters).fetchall()]


def _find(connection: sqlite3.Connection, query: str, *parameters: object) -> list[RecordRow]:
    found = connection.execute(query, parameters).fetchall()
    return [
        RecordRow(RecordLocation(row_id, record_kind, body, size), *columns)
        for row_id, record_kind, body, size, *columns in found
    ]


def delete_record(transaction: Transaction, command: DeleteRecord) -> PendingPurge:
    row = find_record(transaction.connection, command.owner, command.kind, command.record_id)
    if row is None:
        raise NotFound(f"there is no {command.kind.name.lower()} {command.record_id!r}")
    transaction.reserve_quota(command.owner.namespace, Usage(bytes=-row.location.bytes))
    return PendingPurge(_delete(transaction, [row.location]), row.intact_part())


def delete_records(
    transaction: Transaction, namespace: str, locations: Sequence[RecordLocation]
) -> Sequence[OrphanedTexts]:
    """Delete the records of an erased session."""
    transaction.reserve_quota(namespace, Usage(bytes=-sum(location.bytes for location in locations)))
    return _delete(transaction, locations)


def _delete(transaction: Transaction, locations: Sequence[RecordLocation]) -> Sequence[OrphanedTexts]:
    if locations:
        transaction.add_statement(_DELETE, json.dumps([location.row_id for location in locations]))
        transaction.deleted_records.update(location.row_id for location in locations)
    return orphan_texts(transaction, [location.texts for location in locations])


class _Plan(NamedTuple):
    """The changes of rows, planned before anything is added to the transaction."""

    written: Sequence[tuple[Record, RecordRow | None]]
    "Records with a new body, and the rows they replace."
    updated: Sequence[tuple[Record, RecordLocation]]
    "Records with the same body and a new conflict key, source or time."
    deleted: Sequence[RecordLocation]

    @property
    def growth_bytes(self) -> int:
        replaced = [before.location for _, before in self.written if before is not None]
        removed = sum(location.bytes for location in (*replaced, *self.deleted))
        return sum(len(record.body) for record, _ in self.written) - removed


def upsert_records(transaction: Transaction, command: UpsertRecords) -> RecordsUpserted | PendingPurge:
    _refuse_if_erased(transaction, command.derived_from)
    found = find_by_conflict_keys(transaction.connection, command.owner, command.kind, command.conflict_keys)
    changes = command.revise([row.record(transaction.path) for row in found])
    upserts = {record.id: record for record in changes.upserts}
    plan = _plan(transaction, command, upserts, changes.deletes)
    progress = command.progress if _advances(transaction, command) else None
    growth = Usage(bytes=plan.growth_bytes)
    transaction.reserve_quota(command.owner.namespace, growth, refusable=not command.is_derived)
    orphans = _carry_out(transaction, command, plan, progress)
    result = RecordsUpserted(tuple(upserts.values()), changes.result)
    return PendingPurge(orphans, result) if orphans else result


def _refuse_if_erased(transaction: Transaction, session: int | None) -> None:
    """Check the committed sessions only: no erasure precedes a record in a transaction (`can_include`)."""
    query = "SELECT 1 FROM sessions WHERE row_id = ?"
    if session is not None and transaction.connection.execute(query, (session,)).fetchone() is None:
        raise NotFound("the source session was erased")


def _plan(
    transaction: Transaction, command: UpsertRecords, upserts: Mapping[str, Record], deletes: Sequence[str]
) -> _Plan:
    existing = find_by_ids(transaction.connection, command.owner, command.kind, [*upserts, *deletes])
    written: list[tuple[Record, RecordRow | None]] = []
    updated = []
    for record in upserts.values():
        before = existing.get(record.id)
        if before is None or not before.has_body_of(record):
            written.append((record, before))
        elif before.columns != _columns(record):
            updated.append((record, before.location))
    return _Plan(written, updated, [row.location for row in existing.values() if row.id not in upserts])


def _advances(transaction: Transaction, command: UpsertRecords) -> bool:
    progress = command.progress
    if progress is None:
        return False
    return progress.lsn > find_watermark(transaction.connection, progress.task, command.owner.namespace)


def _carry_out(
    transaction: Transaction, command: UpsertRecords, plan: _Plan, progress: Progress | None
) -> list[OrphanedTexts]:
    replaced = _write(transaction, command, plan.written)
    for record, location in plan.updated:
        transaction.add_statement(_UPDATE, *_columns(record), location.row_id)
    if progress is not None:
        advance_watermark(transaction, AdvanceWatermark(progress.task, command.owner.namespace, progress.lsn))
    return [*orphan_texts(transaction, replaced), *_delete(transaction, plan.deleted)]


def _write(
    transaction: Transaction, command: UpsertRecords, written: Sequence[tuple[Record, RecordRow | None]]
) -> list[OrphanedTexts]:
    """Add bodies and rows; return the replaced bodies."""
    first = transaction.add_texts([(record.body, 0) for record, _ in written])
    for body, (record, before) in enumerate(written, first):
        columns, size = _columns(record), len(record.body)
        if before is None:
            transaction.add_statement(_INSERT, *command.owner, command.kind, record.id, *columns, body, size)
        else:
            transaction.add_statement(_REPLACE, *columns, body, size, before.location.row_id)
    return [before.location.texts for _, before in written if before is not None]
