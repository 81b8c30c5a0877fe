"""Columns of sessions and messages, in the order in which values are made of them."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from psycopg import Connection

from memsidecar.domain.message import Flag, StoredMessage
from memsidecar.domain.session import SessionHead, SessionKey
from memsidecar.stores import session_rows
from memsidecar.stores.session_rows import policy_of

_PRUNED, _SHORTENED = int(Flag.PRUNED), int(Flag.SHORTENED)
_POLICY_COLUMNS = 5

DEFAULT_POLICY = "d.auto_prune_tokens, d.strategy, d.model, d.summarize, d.retention"
JOIN_DEFAULT_POLICY = "LEFT JOIN policies d ON d.namespace = n.number AND d.session_id = ''"
# In the order of `session_rows.head_of`, with the namespace's policy.
HEADS = f"""SELECT s.row_id, n.name, s.session_id, s.user_id, s.version, s.last_sequence, s.window_start,
    s.pruned_count, s.count_1, s.count_2, s.count_3, s.count_4, s.tokens_1, s.tokens_2, s.tokens_3, s.tokens_4,
    s.create_time_us, s.last_active_us, s.open_calls, p.auto_prune_tokens, p.strategy, p.model, p.summarize,
    p.retention, {DEFAULT_POLICY}
  FROM sessions s JOIN namespaces n ON n.number = s.namespace
  LEFT JOIN policies p ON p.namespace = s.namespace AND p.session_id = s.session_id
  {JOIN_DEFAULT_POLICY}"""
FIND_HEAD = f"{HEADS} WHERE n.name = %s AND s.session_id = %s"

IN_WINDOW = f"(m.flags & {_PRUNED}) = 0"

# The columns of a StoredMessage: as the window displays it, and as it was written.
DISPLAYED = "m.sequence, m.role, m.displayed_tokens, m.exchange, m.flags, m.score, m.time_us"
DISPLAYED_BODY = "coalesce(m.displayed_body, m.body)"
ORIGINAL = f"m.sequence, m.role, m.tokens, m.exchange, m.flags & ~{_SHORTENED}, m.score, m.time_us, m.body"
_FIND_VERSIONS = f"""SELECT {ORIGINAL}, {DISPLAYED}, {DISPLAYED_BODY} FROM messages m
  WHERE m.session = %s AND m.id = %s"""


def columns(rows: Iterable[Sequence[Any]]) -> list[list[Any]]:
    return [list(column) for column in zip(*rows, strict=True)]


def head_of(row: Sequence[Any]) -> SessionHead:
    head = session_rows.head_of(row[:-_POLICY_COLUMNS])
    head.default_policy = policy_of(*row[-_POLICY_COLUMNS:])
    return head


def find_head(connection: Connection, key: SessionKey) -> SessionHead | None:
    row = connection.execute(FIND_HEAD, key).fetchone()
    return None if row is None else head_of(row)


def message_of(row: Sequence[Any]) -> StoredMessage:
    return StoredMessage._make(row)


class VersionPair(NamedTuple):
    """Both versions of a message; the displayed one has a body of its own if it was shortened."""

    original: StoredMessage
    displayed: StoredMessage

    @property
    def is_shortened(self) -> bool:
        return bool(self.displayed.flags & Flag.SHORTENED)


def find_versions(connection: Connection, session: int, message_id: str) -> VersionPair | None:
    row = connection.execute(_FIND_VERSIONS, (session, message_id)).fetchone()
    if row is None:
        return None
    width = len(StoredMessage._fields)
    return VersionPair(message_of(row[:width]), message_of(row[width:]))
