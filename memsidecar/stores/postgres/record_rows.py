"""Rows of records, and the queries that find them."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple

from psycopg import Connection

from memsidecar.domain.session import SessionKey
from memsidecar.stores.contract import Owner, Record, RecordKind, RecordQuery
from memsidecar.stores.expiry import Place
from memsidecar.stores.postgres.namespaces import NUMBER

# In the order of StoredRecord and Record.
_COLUMNS = "r.row_id, r.kind, r.id, r.conflict_key, r.source, r.time_us, r.body, r.until_us"
_OF_OWNER = f"r.namespace = {NUMBER} AND r.user_id = %s AND r.session_id = %s"
_RECORDS = f"SELECT {_COLUMNS} FROM records r WHERE {_OF_OWNER} AND r.kind = %s"
_BY_CONFLICT_KEY = f"{_RECORDS} AND r.conflict_key = ANY(%s) ORDER BY r.time_us, r.id"
_BEFORE = "(r.time_us, r.id) < (%s, %s)"
_BETWEEN = f"{_RECORDS} AND (r.time_us, r.id) > (%s, %s) AND {_BEFORE} ORDER BY r.time_us, r.id LIMIT %s"
_BY_SOURCE = f"""SELECT {_COLUMNS} FROM records r
  WHERE r.namespace = {NUMBER} AND r.source = %s AND r.source <> '' AND r.kind = %s ORDER BY r.row_id"""
# In the order of RecordReference.
_REFERENCES = "SELECT r.row_id, r.kind, octet_length(r.body) FROM records r"
_NAMED = NUMBER.replace("%s", "%(namespace)s")
_PATTERNS_OF_USER = f"""{_REFERENCES} WHERE r.namespace = {_NAMED} AND r.session_id = '' AND r.user_id = %(user_id)s
  AND r.user_id <> '' AND r.kind = {int(RecordKind.PATTERNS)}"""
_FROM_SOURCE = f"{_REFERENCES} WHERE r.namespace = {_NAMED} AND r.source = %(session_id)s AND r.source <> ''"
_ARTIFACTS_OF_MESSAGES = f"""{_FROM_SOURCE} AND r.kind = {int(RecordKind.ARTIFACT)}
  AND r.conflict_key = ANY(%(conflict_keys)s) ORDER BY row_id"""
_PATTERNS = f"""{_FROM_SOURCE} AND r.kind = {int(RecordKind.PATTERNS)} UNION {_PATTERNS_OF_USER}"""
# UNION: a record may match in two ways.
_OF_SESSION = f"""{_FROM_SOURCE} AND (%(delete_session)s OR r.kind <> {int(RecordKind.FACT)})
  UNION {_REFERENCES} WHERE r.namespace = {_NAMED} AND %(delete_session)s AND r.session_id = %(session_id)s
  UNION {_PATTERNS_OF_USER}"""
_OF_USER = f"""{_REFERENCES} WHERE r.namespace = {_NAMED} AND r.session_id = '' AND r.user_id = %(user_id)s
  UNION {_REFERENCES} JOIN sessions s ON s.namespace = r.namespace AND r.session_id = s.session_id
    WHERE s.namespace = {_NAMED} AND s.user_id = %(user_id)s
  UNION {_REFERENCES} JOIN sessions s ON s.namespace = r.namespace AND r.source = s.session_id AND r.source <> ''
    WHERE s.namespace = {_NAMED} AND s.user_id = %(user_id)s"""


_OWNER_VERSIONS = """SELECT k.name, k.user_id, k.session_id, coalesce(o.version, n.erased_version)
  FROM unnest(%b::text[], %b::text[], %b::text[]) AS k(name, user_id, session_id) JOIN namespaces n ON n.name = k.name
  LEFT JOIN owners o ON o.namespace = n.number AND o.user_id = k.user_id AND o.session_id = k.session_id"""


class RecordReference(NamedTuple):
    """The row of a record, without its content."""

    row_id: int
    kind: int
    bytes: int


class StoredRecord(NamedTuple):
    """A row of `records`. PostgreSQL detects damage itself (`data_checksums`): each row that it returns is intact."""

    location: RecordReference
    record: Record

    @property
    def is_intact(self) -> bool:
        return True

    def intact_part(self) -> Record:
        return self.record


def find_owner_versions(connection: Connection, owners: Collection[Owner]) -> Mapping[Owner, int]:
    """Return the version of each owner; 0 in a namespace that does not exist yet."""
    columns = (
        [owner.namespace for owner in owners],
        [owner.user_id for owner in owners],
        [owner.session_id for owner in owners],
    )
    found = connection.execute(_OWNER_VERSIONS, columns).fetchall()
    return dict.fromkeys(owners, 0) | {Owner(*owner): version for *owner, version in found}


def find_by_conflict_keys(
    connection: Connection, owner: Owner, kind: RecordKind, conflict_keys: Sequence[int]
) -> Sequence[StoredRecord]:
    """Return the records with these keys, oldest first."""
    return _find(connection, _BY_CONFLICT_KEY, *owner, kind, list(conflict_keys))


def find_by_ids(
    connection: Connection, owner: Owner, kind: RecordKind, ids: Sequence[str]
) -> Mapping[str, StoredRecord]:
    found = _find(connection, f"{_RECORDS} AND r.id = ANY(%s)", *owner, kind, list(ids))
    return {row.record.id: row for row in found}


def find_record(connection: Connection, owner: Owner, kind: RecordKind, record_id: str) -> StoredRecord | None:
    return find_by_ids(connection, owner, kind, [record_id]).get(record_id)


def list_records(connection: Connection, query: RecordQuery) -> Sequence[Record]:
    conditions = [_RECORDS]
    if query.after is not None:
        conditions.append(_BEFORE)
    if not query.history:
        conditions.append("r.until_us = 0")
    sql = f"{' AND '.join(conditions)} ORDER BY r.time_us DESC, r.id DESC LIMIT %s"
    found = _find(connection, sql, *query.owner, query.kind, *query.after or (), query.limit)
    return [row.record for row in found]


def list_records_between(
    connection: Connection, owner: Owner, kind: RecordKind, places: tuple[Place, Place], limit: int
) -> Sequence[Record]:
    """Return an owner's records between two places, superseded ones included, oldest first."""
    found = _find(connection, _BETWEEN, *owner, kind, *places[0], *places[1], limit)
    return [row.record for row in found]


def find_records_of_session(
    connection: Connection, key: SessionKey, user_id: str, delete_session: bool
) -> Sequence[RecordReference]:
    """Return the records that an erasure of the session erases: those derived from it, and its user's patterns.

    Records that it owns and facts that it is the source of are erased only with the session itself.
    """
    parameters = key._asdict() | {"user_id": user_id, "delete_session": delete_session}
    return _references(connection, _OF_SESSION, parameters)


def find_records_of_user(connection: Connection, namespace: str, user_id: str) -> Sequence[RecordReference]:
    """Return the records of a user, and those that the user's sessions own or are the source of."""
    return _references(connection, _OF_USER, {"namespace": namespace, "user_id": user_id}) if user_id else []


def find_by_source(
    connection: Connection, key: SessionKey, kind: RecordKind, matches: Callable[[bytes, int], bool]
) -> Sequence[StoredRecord]:
    """Return the records, of any owner, that were derived from the session's messages and match by body and time."""
    found = _find(connection, _BY_SOURCE, *key, kind)
    return [row for row in found if matches(row.record.body, row.record.time_us)]


def find_artifacts_of_messages(
    connection: Connection, key: SessionKey, conflict_keys: Sequence[int]
) -> Sequence[RecordReference]:
    return _references(connection, _ARTIFACTS_OF_MESSAGES, key._asdict() | {"conflict_keys": list(conflict_keys)})


def find_patterns(connection: Connection, key: SessionKey, user_id: str) -> Sequence[RecordReference]:
    """Return the patterns of the session and of its user."""
    return _references(connection, _PATTERNS, key._asdict() | {"user_id": user_id})


def stored_record(columns: Sequence[Any]) -> StoredRecord:
    row_id, kind, *record = columns
    return StoredRecord(RecordReference(row_id, kind, len(record[4])), Record(*record))


def _find(connection: Connection, query: str, *parameters: object) -> list[StoredRecord]:
    return [stored_record(columns) for columns in connection.execute(query, parameters).fetchall()]


def _references(connection: Connection, query: str, parameters: Mapping[str, object]) -> list[RecordReference]:
    return [RecordReference._make(row) for row in connection.execute(query, parameters).fetchall()]
