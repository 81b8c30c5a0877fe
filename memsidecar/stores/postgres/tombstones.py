"""Rows of tombstones: written by erasures, read by imports."""

from collections.abc import Sequence

from memsidecar.stores.contract import Origin, Tombstone
from memsidecar.stores.postgres.transaction import PostgresTransaction
from memsidecar.stores.tombstones import digest_of, is_forgotten, tombstones_of

_KEY = "SELECT value FROM secrets WHERE name = 'tombstones'"
_FIND = """SELECT t.kind, t.digest, t.time_us FROM tombstones t
  JOIN unnest(%b::bigint[], %b::bytea[]) AS wanted(kind, digest) ON t.kind = wanted.kind AND t.digest = wanted.digest
  WHERE t.namespace = %b::bigint"""
_SAVE = """INSERT INTO tombstones(namespace, kind, digest, time_us)
  SELECT %b::bigint, kind, digest, %b::bigint FROM unnest(%b::bigint[], %b::bytea[]) AS t(kind, digest)
  ON CONFLICT(namespace, kind, digest) DO UPDATE SET time_us = greatest(tombstones.time_us, excluded.time_us)"""
_NEWEST = """SELECT greatest(
    (SELECT max(time_us) FROM messages WHERE session = ANY(%s)),
    (SELECT max(time_us) FROM records WHERE row_id = ANY(%s)),
    (SELECT max(create_time_us) FROM documents WHERE row_id = ANY(%s)), 0)"""


def newest_time_us(
    transaction: PostgresTransaction, sessions: Sequence[int], records: Sequence[int], documents: Sequence[int]
) -> int:
    """Return the newest time of these rows. Clients give times, which may be in the future."""
    rows = [list(row_ids) for row_ids in (sessions, records, documents)]
    ((time_us,),) = transaction.connection.execute(_NEWEST, rows).fetchall()
    return int(time_us)


def add_tombstones(
    transaction: PostgresTransaction, namespace: str, tombstones: Sequence[Tombstone], newest_us: int = 0
) -> None:
    """Store that these names are forgotten, and all that came to be up to now or `newest_us`."""
    key = _read_key(transaction)
    named = {(int(tombstone.kind), digest_of(key, tombstone)) for tombstone in tombstones}
    kinds, digests = [kind for kind, _ in named], [digest for _, digest in named]
    time_us = max(transaction.now_us, newest_us)
    transaction.add_statement(_SAVE, transaction.number(namespace), time_us, kinds, digests)


def find_forgotten(transaction: PostgresTransaction, namespace: str, origins: Sequence[Origin]) -> list[bool]:
    """Return for each origin of the namespace whether it was forgotten.

    The namespace is locked: an erasure is committed before this read, or after the import.
    """
    key = _read_key(transaction)
    digests = {tombstone: digest_of(key, tombstone) for origin in origins for tombstone in tombstones_of(origin)}
    columns = [int(tombstone.kind) for tombstone in digests], list(digests.values())
    found = transaction.connection.execute(_FIND, (*columns, transaction.number(namespace))).fetchall()
    times = {(kind, digest): time_us for kind, digest, time_us in found}

    def find(_: str, tombstone: Tombstone) -> int | None:
        return times.get((int(tombstone.kind), digests[tombstone]))

    return [is_forgotten(origin, find) for origin in origins]


def _read_key(transaction: PostgresTransaction) -> bytes:
    ((key,),) = transaction.connection.execute(_KEY).fetchall()
    return bytes(key)
