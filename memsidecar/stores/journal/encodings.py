"""A message by its id, as it was written and as the window shows it."""

import sqlite3
from pathlib import Path
from typing import NamedTuple

from memsidecar.domain.message import Stored
from memsidecar.stores.journal import rows
from memsidecar.stores.journal.identity import id_hash

_FIND = """SELECT m.lsn, m.shown_lsn FROM messages m JOIN log l ON l.lsn = m.lsn
  WHERE m.session = ? AND m.id_hash = ? AND l.id = ?"""
_READ = """SELECT {figures}, l.body, l.crc FROM log l
  JOIN messages m ON m.session = l.session AND m.sequence = l.sequence WHERE l.lsn = ?"""


class Encodings(NamedTuple):
    """Both ways of one message; the same thing unless it was shortened."""

    id: str
    lsn: int
    shown_lsn: int
    written: Stored
    shown: Stored


def find_encodings(connection: sqlite3.Connection, path: Path, session: int, message_id: str) -> Encodings | None:
    row = connection.execute(_FIND, (session, id_hash(message_id), message_id)).fetchone()
    if row is None:
        return None
    lsn, shown_lsn = row
    written, shown = _read(connection, path, lsn, rows.WRITTEN), _read(connection, path, shown_lsn, rows.SHOWN)
    return Encodings(message_id, lsn, shown_lsn, written, shown)


def _read(connection: sqlite3.Connection, path: Path, lsn: int, figures: str) -> Stored:
    row = connection.execute(_READ.format(figures=figures), (lsn,)).fetchone()
    return rows.message_of(row, path)
