"""Rows of records: a record and the place of its body, and the queries that find them."""

import json
import sqlite3
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from memsidecar.domain.errors import DataCorrupted
from memsidecar.domain.session import SessionKey
from memsidecar.stores.contract import Owner, Record, RecordKind, RecordQuery
from memsidecar.stores.sqlite.secure_delete import OrphanedTexts

# In the order of `_row`. A record without a body is found all the same: it is damaged, and can still be deleted.
_RECORDS = """SELECT r.row_id, r.kind, r.body, r.bytes, r.id, r.conflict_key, r.source, r.time_us, r.until_us,
    t.text, t.crc
  FROM records r LEFT JOIN texts t ON t.row_id = r.body
  WHERE r.namespace = ? AND r.user_id = ? AND r.session_id = ? AND r.kind = ?"""
# The plus keeps SQLite from walking all of the owner's records in this order instead of sorting a few.
_BY_CONFLICT_KEY = f"""{_RECORDS} AND r.conflict_key IN (SELECT value FROM json_each(?))
  ORDER BY +r.time_us, r.id"""
_AFTER = "(r.time_us, r.id) < (?, ?)"
_NEWEST_FIRST = "ORDER BY r.time_us DESC, r.id DESC LIMIT ?"
_OF_SOURCE = """SELECT r.row_id, r.kind, r.body, r.bytes, r.id, r.conflict_key, r.source, r.time_us, r.until_us,
    t.text, t.crc
  FROM records r LEFT JOIN texts t ON t.row_id = r.body
  WHERE r.namespace = ? AND r.source = ? AND r.source <> '' AND r.kind = ?"""
_TIME, _TEXT, _CRC = 7, 9, 10  # columns of these queries
_ARTIFACTS_OF_MESSAGES = f"""SELECT row_id, kind, body, bytes FROM records
  WHERE namespace = ? AND source = ? AND source <> '' AND kind = {int(RecordKind.ARTIFACT)}
    AND conflict_key IN (SELECT value FROM json_each(?)) ORDER BY row_id"""
_PATTERNS = f"""SELECT row_id, kind, body, bytes FROM records
    WHERE namespace = ? AND source = ? AND source <> '' AND kind = {int(RecordKind.PATTERNS)}
  UNION SELECT row_id, kind, body, bytes FROM records
    WHERE namespace = ? AND session_id = '' AND user_id = ? AND user_id <> '' AND kind = {int(RecordKind.PATTERNS)}"""
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
        return _is_intact(self.text, self.crc)

    def record(self, path: Path) -> Record:
        if not self.is_intact:
            raise DataCorrupted(f"{path.name} is damaged: a record does not match its checksum", file=str(path))
        return self.intact_part()

    def intact_part(self) -> Record:
        """Return the record, with an empty body if its body is damaged."""
        body = (self.text or b"") if self.is_intact else b""
        return Record(self.id, self.conflict_key, self.source, self.time_us, body, self.until_us)


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


def list_records_between(
    connection: sqlite3.Connection,
    owner: Owner,
    kind: RecordKind,
    places: tuple[tuple[int, str], tuple[int, str]],
    limit: int,
    *,
    path: Path,
) -> Sequence[Record]:
    """Return an owner's records between two places (time, id), superseded ones included, oldest first."""
    sql = f"{_RECORDS} AND (r.time_us, r.id) > (?, ?) AND {_AFTER} ORDER BY r.time_us, r.id LIMIT ?"
    found = _find(connection, sql, *owner, kind, *places[0], *places[1], limit)
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


def find_by_source(
    connection: sqlite3.Connection, key: SessionKey, kind: RecordKind, matches: Callable[[bytes, int], bool]
) -> Sequence[RecordRow]:
    """Return the records, of any owner, that were derived from the session's messages and match by body and time.

    A damaged one cannot be judged. It is returned. All writes wait, so nothing is made of the other records.
    """
    return [
        _row(columns)
        for columns in connection.execute(_OF_SOURCE, (*key, kind))
        if not _is_intact(columns[_TEXT], columns[_CRC]) or matches(columns[_TEXT], columns[_TIME])
    ]


def find_artifacts_of_messages(
    connection: sqlite3.Connection, key: SessionKey, conflict_keys: Sequence[int]
) -> Sequence[RecordLocation]:
    found = connection.execute(_ARTIFACTS_OF_MESSAGES, (*key, json.dumps(list(conflict_keys)))).fetchall()
    return [RecordLocation._make(row) for row in found]


def find_patterns(connection: sqlite3.Connection, key: SessionKey, user_id: str) -> Sequence[RecordLocation]:
    """Return the patterns of the session and of its user."""
    found = connection.execute(_PATTERNS, (*key, key.namespace, user_id)).fetchall()
    return [RecordLocation._make(row) for row in found]


def _find(connection: sqlite3.Connection, query: str, *parameters: object) -> list[RecordRow]:
    return [_row(columns) for columns in connection.execute(query, parameters).fetchall()]


def _row(columns: Sequence[Any]) -> RecordRow:
    return RecordRow(RecordLocation._make(columns[:4]), *columns[4:])


def _is_intact(text: bytes | None, crc: int | None) -> bool:
    return text is not None and zlib.crc32(text) == crc
