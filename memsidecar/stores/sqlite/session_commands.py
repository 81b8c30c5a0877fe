"""Claim, SetPolicy, Trim, Rewrite."""

import json
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from memsidecar.domain.errors import NoSuchThing
from memsidecar.domain.message import Flag, Role, Stored
from memsidecar.domain.quota import Usage
from memsidecar.domain.session import Head, Policy, SessionKey
from memsidecar.stores.contract import (
    Change,
    Claim,
    PolicySet,
    Revision,
    Rewrite,
    Rewritten,
    SetPolicy,
    Stale,
    Trim,
    Trimmed,
    TrimNow,
)
from memsidecar.stores.sqlite import rows
from memsidecar.stores.sqlite.schema import Kind
from memsidecar.stores.sqlite.transaction import Entry, Stage, owned
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


def claim(stage: Stage, command: Claim) -> Head:
    before = stage.head(command.key)
    head = claimed(stage, command.key, command.user_id)
    if before is None or before.user_id != head.user_id:
        stage.keep(head)
        stage.changes.append(Change(head.key, head))
    return head


def claimed(stage: Stage, key: SessionKey, user_id: str) -> Head:
    """The session as this user's, to be kept; a new one where there is none."""
    before = stage.head(key)
    if before is None:
        stage.book(key.namespace, Usage(sessions=1))
        return stage.new(key, user_id)
    head = owned(before, user_id)
    stage.claim(before, head)
    return head


def set_policy(stage: Stage, command: SetPolicy) -> PolicySet:
    head = claimed(stage, command.key, command.user_id) if command.key.session_id else None
    if head is not None:
        head.policy = command.policy
        stage.keep(head)
        stage.changes.append(Change(head.key, head))
    _save_policy(stage, command.key, command.policy)
    return PolicySet(head)


def _save_policy(stage: Stage, key: SessionKey, policy: Policy | None) -> None:
    if policy is None:
        stage.do("DELETE FROM policies WHERE namespace = ? AND session_id = ?", *key)
        return
    columns = (policy.auto_prune_tokens, policy.strategy, policy.model, policy.summarize)
    stage.do("INSERT OR REPLACE INTO policies VALUES (?, ?, ?, ?, ?, ?)", *key, *columns)


class _Standing(NamedTuple):
    """A message of the window without its body, and where its encodings are."""

    lsn: int
    shown_lsn: int
    message: Stored


def trim(stage: Stage, command: Trim) -> Trimmed:
    published = stage.head(command.key)
    if published is None or published.version != command.expected_version:
        raise Stale("the session has moved on")
    head, removed = published.copy(), sorted(set(command.removed))
    standing = _read_window(stage, head, {*removed, *(one.sequence for one in command.shortened)})
    window_start = _window_start(stage, head, removed)
    shown = [_shorten(stage, head, one, standing) for one in command.shortened]
    if removed:
        _remove(stage, head, [standing[sequence].message for sequence in removed])
        head.window_start = window_start
    stage.keep(head)
    stage.changes.append(Change(head.key, head, removed=removed, replaced=shown))
    return Trimmed(head)


def trim_now(stage: Stage, command: TrimNow) -> Trimmed:
    return trim(stage, command.decide())


def _read_window(stage: Stage, head: Head, sequences: set[int]) -> dict[int, _Standing]:
    found = stage.connection.execute(_READ_WINDOW, (head.number, json.dumps(sorted(sequences))))
    standing = {row[2]: _Standing(row[0], row[1], Stored._make((*row[2:], b""))) for row in found}
    if missing := sequences - standing.keys():
        raise NoSuchThing(f"message {min(missing)} is not in the window")
    return standing


def _window_start(stage: Stage, head: Head, removed: Sequence[int]) -> int:
    query = (head.number, head.window_start, json.dumps(removed))
    oldest = stage.connection.execute(_OLDEST, query).fetchone()
    return int(oldest[0]) if oldest else head.last_sequence + 1


def _shorten(stage: Stage, head: Head, one: Stored, standing: dict[int, _Standing]) -> Stored:
    """Show this one in place of the original, which stays; an earlier shortening does not."""
    lsn, shown_lsn, before = standing[one.sequence]
    shown = before._replace(tokens=one.tokens, flags=before.flags | Flag.SHORTENED, body=one.body)
    prev = None if shown_lsn == lsn else shown_lsn
    shown_lsn = stage.log(head, Entry(Kind.SHORTENING, one.body, one.sequence, prev=prev))
    stage.do(_SHORTEN, shown_lsn, shown.tokens, shown.flags, head.number, shown.sequence)
    head.tokens[shown.role - 1] += shown.tokens - before.tokens
    standing[one.sequence] = _Standing(lsn, shown_lsn, shown)
    return shown


def _remove(stage: Stage, head: Head, removed: Sequence[Stored]) -> None:
    for message in removed:
        head.count(message.role, message.tokens, sign=-1)
    head.pruned_count += len(removed)
    listed = json.dumps([message.sequence for message in removed])
    stage.log(head, Entry(Kind.PRUNE, listed.encode()))
    stage.do(_PRUNE, head.number, listed)


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
    written, shown = (
        _read_version(connection, path, lsn, rows.WRITTEN),
        _read_version(connection, path, shown_lsn, rows.SHOWN),
    )
    return Encodings(message_id, lsn, shown_lsn, written, shown)


def _read_version(connection: sqlite3.Connection, path: Path, lsn: int, figures: str) -> Stored:
    row = connection.execute(_READ_VERSION.format(figures=figures), (lsn,)).fetchone()
    return rows.message_of(row, path)


def rewrite(stage: Stage, command: Rewrite) -> Rewritten:
    before = _session(stage, command)
    head = owned(before, command.user_id)
    found = _find(stage, head, command.message_id)
    written = command.revise(found.written)
    shown = command.revise(found.shown) if found.shown_lsn != found.lsn else written
    flags = written.flags & ~_STANDING | found.shown.flags & _STANDING
    message = found.shown._replace(body=shown.body, flags=flags, score=written.score)
    growth = len(written.body) - len(found.written.body)
    stage.book(head.key.namespace, Usage(bytes=growth))
    stage.claim(before, head)
    _save_update(stage, head, found, written, message)
    stage.keep(head)
    stage.do(_GROW, growth, head.number)
    stage.changes.append(Change(head.key, head, replaced=(message,)))
    return Rewritten(head, message)


def _session(stage: Stage, command: Rewrite) -> Head:
    head = stage.head(command.key)
    if head is None:
        raise _missing(command.message_id)
    return head


def _missing(message_id: str) -> NoSuchThing:
    return NoSuchThing(f"there is no message {message_id!r} in this session")


def _find(stage: Stage, head: Head, message_id: str) -> Encodings:
    found = find_encodings(stage.connection, stage.path, head.number, message_id)
    if found is None:
        raise _missing(message_id)
    return found


def _save_update(stage: Stage, head: Head, found: Encodings, written: Revision, message: Stored) -> None:
    sequence = message.sequence
    lsn = shown_lsn = stage.log(head, Entry(Kind.ANNOTATION, written.body, sequence, found.id, found.lsn))
    if found.shown_lsn != found.lsn:
        shown_lsn = stage.log(head, Entry(Kind.SHORTENING, message.body, sequence, prev=found.shown_lsn))
    stage.do(_SAVE, lsn, shown_lsn, message.flags, message.score, head.number, sequence)
