"""Rows of tombstones: written by erasures, read by imports."""

import json
import sqlite3
from collections.abc import Sequence

from memsidecar.stores.contract import Origin, Tombstone
from memsidecar.stores.sqlite.transaction import Transaction
from memsidecar.stores.tombstones import digest_of, is_forgotten

_KEY = "SELECT digest FROM tombstones WHERE namespace = '' AND kind = 0"
_FIND = "SELECT time_us FROM tombstones WHERE namespace = ? AND kind = ? AND digest = ?"
_SAVE = """INSERT INTO tombstones VALUES (?, ?, ?, ?)
  ON CONFLICT(namespace, kind, digest) DO UPDATE SET time_us = max(time_us, excluded.time_us)"""
_LISTED = "IN (SELECT value FROM json_each(?))"
_NEWEST = f"""SELECT max(
    (SELECT coalesce(max(time_us), 0) FROM messages WHERE session {_LISTED}),
    (SELECT coalesce(max(time_us), 0) FROM records WHERE row_id {_LISTED}),
    (SELECT coalesce(max(create_time_us), 0) FROM documents WHERE row_id {_LISTED}))"""


def newest_time_us(
    connection: sqlite3.Connection, sessions: Sequence[int], records: Sequence[int], documents: Sequence[int]
) -> int:
    """Return the newest time of these rows. Clients give times, which may be in the future."""
    rows = [json.dumps(list(row_ids)) for row_ids in (sessions, records, documents)]
    (time_us,) = connection.execute(_NEWEST, rows).fetchone()
    return int(time_us)


def add_tombstones(
    transaction: Transaction, namespace: str, tombstones: Sequence[Tombstone], newest_us: int = 0
) -> None:
    """Store that these names are forgotten, and all that came to be up to now or `newest_us`."""
    (key,) = transaction.connection.execute(_KEY).fetchone()
    for tombstone in tombstones:
        time_us = max(transaction.now_us, newest_us)
        transaction.add_statement(_SAVE, namespace, int(tombstone.kind), digest_of(key, tombstone), time_us)


class TombstoneReader:
    """Answers whether items were forgotten, as of the last commit."""

    def __init__(self, connection: sqlite3.Connection, namespace: str) -> None:
        self._connection = connection
        (self._key,) = connection.execute(_KEY).fetchone()
        query = "SELECT 1 FROM tombstones WHERE namespace = ? LIMIT 1"
        self._is_empty = connection.execute(query, (namespace,)).fetchone() is None

    def is_forgotten(self, origin: Origin) -> bool:
        return not self._is_empty and is_forgotten(origin, self._find)

    def _find(self, namespace: str, tombstone: Tombstone) -> int | None:
        parameters = (namespace, int(tombstone.kind), digest_of(self._key, tombstone))
        row = self._connection.execute(_FIND, parameters).fetchone()
        return None if row is None else int(row[0])
