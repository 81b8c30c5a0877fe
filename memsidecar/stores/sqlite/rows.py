"""Rows <-> values."""

import json
import sqlite3
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from memsidecar.domain.errors import DataCorrupted
from memsidecar.domain.message import Flag, StoredMessage
from memsidecar.domain.session import Policy, SessionHead, SessionKey, Strategy
from memsidecar.stores.sqlite.data_dir import LogPosition

HEAD_COLUMNS = """s.number, s.namespace, s.session_id, s.user_id, s.version, s.last_sequence, s.window_start,
  s.pruned_count, s.count_1, s.count_2, s.count_3, s.count_4, s.tokens_1, s.tokens_2, s.tokens_3, s.tokens_4,
  s.create_time_us, s.last_active_us, s.open_calls, p.auto_prune_tokens, p.strategy, p.model,
  p.summarize"""

HEADS = f"""SELECT {HEAD_COLUMNS} FROM sessions s
  LEFT JOIN policies p ON p.namespace = s.namespace AND p.session_id = s.session_id"""

# Without messages yet: each adds its bytes itself.
INSERT_SESSION = f"INSERT INTO sessions VALUES ({', '.join('?' * 19)}, 0)"

SAVE_SESSION = """UPDATE sessions SET user_id = ?, version = ?, last_sequence = ?, window_start = ?, pruned_count = ?,
  count_1 = ?, count_2 = ?, count_3 = ?, count_4 = ?, tokens_1 = ?, tokens_2 = ?, tokens_3 = ?, tokens_4 = ?,
  create_time_us = ?, last_active_us = ?, open_calls = ? WHERE number = ?"""

# How many commits left no entry in the log: a count, kept among the tasks' watermarks under a name that no task has.
COUNT_UNLOGGED = "INSERT OR REPLACE INTO watermarks VALUES ('journal', '', ?)"
_UNLOGGED = "SELECT coalesce(max(lsn), 0) FROM watermarks WHERE task = 'journal' AND namespace = ''"

IN_WINDOW = f"(m.flags & {int(Flag.PRUNED)}) = 0"

# A message's figures as the window shows it, and as it was written.
SHOWN = "m.sequence, m.role, m.shown_tokens, m.exchange, m.flags, m.score, m.time_us"
WRITTEN = f"m.sequence, m.role, m.tokens, m.exchange, m.flags & ~{int(Flag.SHORTENED)}, m.score, m.time_us"


def head_of(row: Sequence[Any]) -> SessionHead:
    return SessionHead(
        key=SessionKey(row[1], row[2]),
        row_id=row[0],
        user_id=row[3],
        version=row[4],
        last_sequence=row[5],
        window_start=row[6],
        pruned_count=row[7],
        counts=list(row[8:12]),
        tokens=list(row[12:16]),
        create_time_us=row[16],
        last_active_us=row[17],
        open_calls={call: tuple(at) for call, at in json.loads(row[18] or "{}").items()},
        policy=None if row[19] is None else Policy(row[19], Strategy(row[20]), row[21], bool(row[22])),
    )


def session_row(head: SessionHead) -> tuple[Any, ...]:
    return (head.row_id, *head.key, *saved_columns(head)[:-1])


def saved_columns(head: SessionHead) -> tuple[Any, ...]:
    return (
        head.user_id,
        head.version,
        head.last_sequence,
        head.window_start,
        head.pruned_count,
        *head.counts,
        *head.tokens,
        head.create_time_us,
        head.last_active_us,
        open_calls_column(head),
        head.row_id,
    )


def open_calls_column(head: SessionHead) -> str | None:
    return json.dumps(head.open_calls) if head.open_calls else None


def find_head(connection: sqlite3.Connection, key: SessionKey) -> SessionHead | None:
    row = connection.execute(f"{HEADS} WHERE s.namespace = ? AND s.session_id = ?", key).fetchone()
    return None if row is None else head_of(row)


def find_bytes(connection: sqlite3.Connection, number: int) -> int:
    (size,) = connection.execute("SELECT bytes FROM sessions WHERE number = ?", (number,)).fetchone()
    return int(size)


def last_lsn(connection: sqlite3.Connection) -> int:
    (lsn,) = connection.execute("SELECT coalesce(max(lsn), 0) FROM log").fetchone()
    return int(lsn)


def extent_of(connection: sqlite3.Connection) -> LogPosition:
    (unlogged,) = connection.execute(_UNLOGGED).fetchone()
    return LogPosition(last_lsn(connection), unlogged)


def message_of(row: Sequence[Any], path: Path) -> StoredMessage:
    """A message from its figures, body and checksum. SQLite keeps no checksums, so this is where rot is noticed."""
    body, crc = row[7], row[8]
    if body is None or zlib.crc32(body) != crc:
        raise DataCorrupted(f"{path.name} is damaged: a message does not match its checksum", file=str(path))
    return StoredMessage._make((*row[:7], body))
