"""Trim: what leaves the window, and what is shown shorter."""

import json
from collections.abc import Sequence
from typing import NamedTuple

from memsidecar.domain.errors import NoSuchThing
from memsidecar.domain.message import Flag, Role, Stored
from memsidecar.domain.session import Head
from memsidecar.stores.contract import Change, Stale, Trim, Trimmed, TrimNow
from memsidecar.stores.journal import rows
from memsidecar.stores.journal.schema import Kind
from memsidecar.stores.journal.staging import Entry, Stage

_AMONG = "m.sequence IN (SELECT value FROM json_each(?))"
_READ = f"""SELECT m.lsn, m.shown_lsn, {rows.SHOWN} FROM messages m
  WHERE m.session = ? AND {_AMONG} AND {rows.IN_WINDOW}"""
_OLDEST = f"""SELECT m.sequence FROM messages m WHERE m.session = ? AND m.sequence >= ? AND m.role <> {int(Role.SYSTEM)}
  AND {rows.IN_WINDOW} AND NOT {_AMONG} ORDER BY m.sequence LIMIT 1"""
_SHORTEN = "UPDATE messages SET shown_lsn = ?, shown_tokens = ?, flags = ? WHERE session = ? AND sequence = ?"
_PRUNE = f"UPDATE messages AS m SET flags = flags | {int(Flag.PRUNED)} WHERE m.session = ? AND {_AMONG}"


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
    standing = _read(stage, head, {*removed, *(one.sequence for one in command.shortened)})
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


def _read(stage: Stage, head: Head, sequences: set[int]) -> dict[int, _Standing]:
    found = stage.connection.execute(_READ, (head.number, json.dumps(sorted(sequences))))
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
