"""Rows of sessions and messages <-> values."""

import json
import sqlite3
import zlib
from collections.abc import Sequence
from dataclasses import astuple
from pathlib import Path
from typing import Any

from memsidecar.domain.errors import DataCorrupted
from memsidecar.domain.message import Flag, StoredMessage
from memsidecar.domain.retention import Retention, RetentionLimit
from memsidecar.domain.session import Policy, SessionHead, SessionKey, Strategy
from memsidecar.stores.sqlite.data_dir import LogPosition

# In the order of `head_of`.
HEADS = """SELECT s.row_id, s.namespace, s.session_id, s.user_id, s.version, s.last_sequence, s.window_start,
    s.pruned_count, s.count_1, s.count_2, s.count_3, s.count_4, s.tokens_1, s.tokens_2, s.tokens_3, s.tokens_4,
    s.create_time_us, s.last_active_us, s.open_calls, p.auto_prune_tokens, p.strategy, p.model, p.summarize, p.retention
  FROM sessions s LEFT JOIN policies p ON p.namespace = s.namespace AND p.session_id = s.session_id"""

# Without messages: each message adds its bytes itself.
INSERT_SESSION = f"INSERT INTO sessions VALUES ({', '.join('?' * 19)}, 0)"

# In the order of `saved_columns`.
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


def head_of(row: Sequence[Any]) -> SessionHead:
    row_id, namespace, session_id, user_id, version, last_sequence, window_start, pruned_count, *rest = row
    counts, tokens = rest[:4], rest[4:8]
    create_time_us, last_active_us, open_calls, *policy = rest[8:]
    return SessionHead(
        key=SessionKey(namespace, session_id),
        row_id=row_id,
        user_id=user_id,
        version=version,
        last_sequence=last_sequence,
        window_start=window_start,
        pruned_count=pruned_count,
        counts=counts,
        tokens=tokens,
        create_time_us=create_time_us,
        last_active_us=last_active_us,
        open_calls={call: tuple(sequences) for call, sequences in json.loads(open_calls or "{}").items()},
        policy=policy_of(*policy),
    )


def policy_of(
    auto_prune_tokens: int | None, strategy: int, model: str, summarize: int, retention: str | None
) -> Policy | None:
    if auto_prune_tokens is None:
        return None
    limits = None if retention is None else Retention(*(RetentionLimit(*limit) for limit in json.loads(retention)))
    return Policy(auto_prune_tokens, Strategy(strategy), model, summarize=bool(summarize), retention=limits)


def policy_columns(policy: Policy) -> tuple[Any, ...]:
    retention = None if policy.retention is None else json.dumps([astuple(limit) for limit in policy.retention.limits])
    return (policy.auto_prune_tokens, policy.strategy, policy.model, policy.summarize, retention)


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
