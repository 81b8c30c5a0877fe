"""Rows of sessions and messages <-> values."""

import sqlite3
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from memsidecar.domain.errors import DataCorrupted
from memsidecar.domain.message import Flag, StoredMessage
from memsidecar.domain.session import SessionHead, SessionKey
from memsidecar.stores.session_rows import head_of, saved_columns
from memsidecar.stores.sqlite.data_dir import LogPosition

# In the order of `session_rows.head_of`.
HEADS = """SELECT s.row_id, s.namespace, s.session_id, s.user_id, s.version, s.last_sequence, s.window_start,
    s.pruned_count, s.count_1, s.count_2, s.count_3, s.count_4, s.tokens_1, s.tokens_2, s.tokens_3, s.tokens_4,
    s.create_time_us, s.last_active_us, s.open_calls, p.auto_prune_tokens, p.strategy, p.model, p.summarize, p.retention
  FROM sessions s LEFT JOIN policies p ON p.namespace = s.namespace AND p.session_id = s.session_id"""

# Without messages: each message adds its bytes itself.
INSERT_SESSION = f"INSERT INTO sessions VALUES ({', '.join('?' * 19)}, 0)"

# In the order of `session_update`.
SAVE_SESSION = """UPDATE sessions SET user_id = ?, version = ?, last_sequence = ?, window_start = ?, pruned_count = ?,
  count_1 = ?, count_2 = ?, count_3 = ?, count_4 = ?, tokens_1 = ?, tokens_2 = ?, tokens_3 = ?, tokens_4 = ?,
  create_time_us = ?, last_active_us = ?, open_calls = ? WHERE row_id = ?"""

# The number of commits without a log entry, stored as a watermark under a name that no task has.
SAVE_UNLOGGED = "INSERT OR REPLACE INTO watermarks VALUES ('journal', '', ?)"
_UNLOGGED = "SELECT coalesce(max(lsn), 0) FROM watermarks WHERE task = 'journal' AND namespace = ''"

IN_WINDOW = f"(m.flags & {int(Flag.PRUNED)}) = 0"

# The columns of a StoredMessage without its body: as the window displays it, and as it was written.
DISPLAYED = "m.sequence, m.role, m.displayed_tokens, m.exchange, m.flags, m.score, m.time_us"
ORIGINAL = f"m.sequence, m.role, m.tokens, m.exchange, m.flags & ~{int(Flag.SHORTENED)}, m.score, m.time_us"


def session_row(head: SessionHead) -> tuple[Any, ...]:
    return (head.row_id, *head.key, *saved_columns(head))


def session_update(head: SessionHead) -> tuple[Any, ...]:
    return (*saved_columns(head), head.row_id)


JOIN_BODY = "JOIN log w ON w.lsn = m.lsn AND w.session = m.session AND w.sequence = m.sequence"
JOIN_DISPLAYED_BODY = "JOIN log l ON l.lsn = m.displayed_lsn AND l.session = m.session AND l.sequence = m.sequence"
"""A body belongs to its message by session and sequence, too: a damaged lsn must not return another message's body.

A LEFT JOIN leaves the body out, which `message_of` reports.
"""


def find_head(connection: sqlite3.Connection, key: SessionKey) -> SessionHead | None:
    row = connection.execute(f"{HEADS} WHERE s.namespace = ? AND s.session_id = ?", key).fetchone()
    return None if row is None else head_of(row)


def find_bytes(connection: sqlite3.Connection, session: int) -> int:
    (size,) = connection.execute("SELECT bytes FROM sessions WHERE row_id = ?", (session,)).fetchone()
    return int(size)


def last_lsn(connection: sqlite3.Connection) -> int:
    (lsn,) = connection.execute("SELECT coalesce(max(lsn), 0) FROM log").fetchone()
    return int(lsn)


def position_of(connection: sqlite3.Connection) -> LogPosition:
    (unlogged,) = connection.execute(_UNLOGGED).fetchone()
    return LogPosition(last_lsn(connection), unlogged)


def message_of(row: Sequence[Any], path: Path) -> StoredMessage:
    """Decode the columns of DISPLAYED or ORIGINAL, body and checksum.

    SQLite has no checksums, so a damaged body is detected here: DataCorrupted.
    """
    body, crc = row[-2:]
    if body is None or zlib.crc32(body) != crc:
        raise DataCorrupted(f"{path.name} is damaged: a message does not match its checksum", file=str(path))
    return StoredMessage._make(row[:-1])
