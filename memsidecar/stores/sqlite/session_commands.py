"""Claim, SetPolicy, Trim, Rewrite."""

import json
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from memsidecar.domain.errors import NotFound
from memsidecar.domain.message import Flag, Role, StoredMessage
from memsidecar.domain.quota import Usage
from memsidecar.domain.session import Policy, SessionHead, SessionKey
from memsidecar.stores.contract import (
    Claim,
    CommitEvent,
    MessageUpdated,
    PolicySet,
    Revision,
    SetPolicy,
    UpdateMessage,
    UpdateWindow,
    UpdateWindowExclusive,
    VersionConflict,
    WindowUpdated,
)
from memsidecar.stores.sqlite import rows
from memsidecar.stores.sqlite.schema import LogKind
from memsidecar.stores.sqlite.transaction import Entry, Transaction, owned
from memsidecar.stores.sqlite.writer_state import id_hash

_AMONG = "m.sequence IN (SELECT value FROM json_each(?))"
_READ_WINDOW = f"""SELECT m.lsn, m.shown_lsn, {rows.SHOWN} FROM messages m
  WHERE m.session = ? AND {_AMONG} AND {rows.IN_WINDOW}"""
_OLDEST = f"""SELECT m.sequence FROM messages m WHERE m.session = ? AND m.sequence >= ? AND m.role <> {int(Role.SYSTEM)}
  AND {rows.IN_WINDOW} AND NOT {_AMONG} ORDER BY m.sequence LIMIT 1"""
_SHORTEN = "UPDATE messages SET shown_lsn = ?, shown_tokens = ?, flags = ? WHERE session = ? AND sequence = ?"
_PRUNE = f"UPDATE messages AS m SET flags = flags | {int(Flag.PRUNED)} WHERE m.session = ? AND {_AMONG}"

_FIND = """SELECT m.lsn, m.shown_lsn FROM messages m JOIN log l ON l.lsn = m.lsn
  WHERE m.session = ? AND m.id_hash = ? AND l.id = ?"""
_READ_VERSION = """SELECT {figures}, l.body, l.crc FROM log l
  JOIN messages m ON m.session = l.session AND m.sequence = l.sequence WHERE l.lsn = ?"""

# Where a message stands is the journal's to say, whatever a revision makes of the flags it was given.
_STANDING = Flag.PRUNED | Flag.SHORTENED

_SAVE = "UPDATE messages SET lsn = ?, shown_lsn = ?, flags = ?, score = ? WHERE session = ? AND sequence = ?"
_GROW = "UPDATE sessions SET bytes = bytes + ? WHERE number = ?"


def claim(stage: Transaction, command: Claim) -> SessionHead:
    before = stage.head(command.key)
    head = claimed(stage, command.key, command.user_id)
    if before is None or before.user_id != head.user_id:
        stage.keep(head)
        stage.changes.append(CommitEvent(head.key, head))
    return head


def claimed(stage: Transaction, key: SessionKey, user_id: str) -> SessionHead:
    """The session as this user's, to be kept; a new one where there is none."""
    before = stage.head(key)
    if before is None:
        stage.book(key.namespace, Usage(sessions=1))
        return stage.new(key, user_id)
    head = owned(before, user_id)
    stage.claim(before, head)
    return head


def set_policy(stage: Transaction, command: SetPolicy) -> PolicySet:
    head = claimed(stage, command.key, command.user_id) if command.key.session_id else None
    if head is not None:
        head.policy = command.policy
        stage.keep(head)
        stage.changes.append(CommitEvent(head.key, head))
    _save_policy(stage, command.key, command.policy)
    return PolicySet(head)


def _save_policy(stage: Transaction, key: SessionKey, policy: Policy | None) -> None:
    if policy is None:
        stage.do("DELETE FROM policies WHERE namespace = ? AND session_id = ?", *key)
        return
    columns = (policy.auto_prune_tokens, policy.strategy, policy.model, policy.summarize)
    stage.do("INSERT OR REPLACE INTO policies VALUES (?, ?, ?, ?, ?, ?)", *key, *columns)


class _Standing(NamedTuple):
    """A message of the window without its body, and where its encodings are."""

    lsn: int
    shown_lsn: int
    message: StoredMessage


def trim(stage: Transaction, command: UpdateWindow) -> WindowUpdated:
    published = stage.head(command.key)
    if published is None or published.version != command.expected_version:
        raise VersionConflict("the session has moved on")
    head, removed = published.copy(), sorted(set(command.removed))
    standing = _read_window(stage, head, {*removed, *(one.sequence for one in command.shortened)})
    window_start = _window_start(stage, head, removed)
    shown = [_shorten(stage, head, one, standing) for one in command.shortened]
    if removed:
        _remove(stage, head, [standing[sequence].message for sequence in removed])
        head.window_start = window_start
    stage.keep(head)
    stage.changes.append(CommitEvent(head.key, head, removed=removed, replaced=shown))
    return WindowUpdated(head)


def trim_now(stage: Transaction, command: UpdateWindowExclusive) -> WindowUpdated:
    return trim(stage, command.decide())


def _read_window(stage: Transaction, head: SessionHead, sequences: set[int]) -> dict[int, _Standing]:
    found = stage.connection.execute(_READ_WINDOW, (head.row_id, json.dumps(sorted(sequences))))
    standing = {row[2]: _Standing(row[0], row[1], StoredMessage._make((*row[2:], b""))) for row in found}
    if missing := sequences - standing.keys():
        raise NotFound(f"message {min(missing)} is not in the window")
    return standing


def _window_start(stage: Transaction, head: SessionHead, removed: Sequence[int]) -> int:
    query = (head.row_id, head.window_start, json.dumps(removed))
    oldest = stage.connection.execute(_OLDEST, query).fetchone()
    return int(oldest[0]) if oldest else head.last_sequence + 1


def _shorten(
    stage: Transaction, head: SessionHead, one: StoredMessage, standing: dict[int, _Standing]
) -> StoredMessage:
    """Show this one in place of the original, which stays; an earlier shortening does not."""
    lsn, shown_lsn, before = standing[one.sequence]
    shown = before._replace(tokens=one.tokens, flags=before.flags | Flag.SHORTENED, body=one.body)
    prev = None if shown_lsn == lsn else shown_lsn
    shown_lsn = stage.log(head, Entry(LogKind.SHORTENING, one.body, one.sequence, prev=prev))
    stage.do(_SHORTEN, shown_lsn, shown.tokens, shown.flags, head.row_id, shown.sequence)
    head.tokens[shown.role - 1] += shown.tokens - before.tokens
    standing[one.sequence] = _Standing(lsn, shown_lsn, shown)
    return shown


def _remove(stage: Transaction, head: SessionHead, removed: Sequence[StoredMessage]) -> None:
    for message in removed:
        head.count(message.role, message.tokens, sign=-1)
    head.pruned_count += len(removed)
    listed = json.dumps([message.sequence for message in removed])
    stage.log(head, Entry(LogKind.PRUNE, listed.encode()))
    stage.do(_PRUNE, head.row_id, listed)


class StoredVersions(NamedTuple):
    """Both ways of one message; the same thing unless it was shortened."""

    id: str
    lsn: int
    shown_lsn: int
    original: StoredMessage
    displayed: StoredMessage


def find_encodings(connection: sqlite3.Connection, path: Path, session: int, message_id: str) -> StoredVersions | None:
    row = connection.execute(_FIND, (session, id_hash(message_id), message_id)).fetchone()
    if row is None:
        return None
    lsn, shown_lsn = row
    written, shown = (
        _read_version(connection, path, lsn, rows.WRITTEN),
        _read_version(connection, path, shown_lsn, rows.SHOWN),
    )
    return StoredVersions(message_id, lsn, shown_lsn, written, shown)


def _read_version(connection: sqlite3.Connection, path: Path, lsn: int, figures: str) -> StoredMessage:
    row = connection.execute(_READ_VERSION.format(figures=figures), (lsn,)).fetchone()
    return rows.message_of(row, path)


def rewrite(stage: Transaction, command: UpdateMessage) -> MessageUpdated:
    before = _session(stage, command)
    head = owned(before, command.user_id)
    found = _find(stage, head, command.message_id)
    written = command.revise(found.original)
    shown = command.revise(found.displayed) if found.shown_lsn != found.lsn else written
    flags = written.flags & ~_STANDING | found.displayed.flags & _STANDING
    message = found.displayed._replace(body=shown.body, flags=flags, score=written.score)
    growth = len(written.body) - len(found.original.body)
    stage.book(head.key.namespace, Usage(bytes=growth))
    stage.claim(before, head)
    _save_update(stage, head, found, written, message)
    stage.keep(head)
    stage.do(_GROW, growth, head.row_id)
    stage.changes.append(CommitEvent(head.key, head, replaced=(message,)))
    return MessageUpdated(head, message)


def _session(stage: Transaction, command: UpdateMessage) -> SessionHead:
    head = stage.head(command.key)
    if head is None:
        raise _missing(command.message_id)
    return head


def _missing(message_id: str) -> NotFound:
    return NotFound(f"there is no message {message_id!r} in this session")


def _find(stage: Transaction, head: SessionHead, message_id: str) -> StoredVersions:
    found = find_encodings(stage.connection, stage.path, head.row_id, message_id)
    if found is None:
        raise _missing(message_id)
    return found


def _save_update(
    stage: Transaction, head: SessionHead, found: StoredVersions, written: Revision, message: StoredMessage
) -> None:
    sequence = message.sequence
    lsn = shown_lsn = stage.log(head, Entry(LogKind.ANNOTATION, written.body, sequence, found.id, found.lsn))
    if found.shown_lsn != found.lsn:
        shown_lsn = stage.log(head, Entry(LogKind.SHORTENING, message.body, sequence, prev=found.shown_lsn))
    stage.do(_SAVE, lsn, shown_lsn, message.flags, message.score, head.row_id, sequence)
