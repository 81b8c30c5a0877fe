"""Rewrite: what is learned about a message later."""

from typing import NamedTuple

from memsidecar.domain.errors import NoSuchThing
from memsidecar.domain.message import Flag, Stored
from memsidecar.domain.session import Head
from memsidecar.stores.contract import Change, Revision, Rewrite, Rewritten
from memsidecar.stores.journal import rows
from memsidecar.stores.journal.identity import id_hash
from memsidecar.stores.journal.schema import Kind
from memsidecar.stores.journal.staging import Entry, Stage, owned

# Where a message stands is the journal's to say, whatever a revision makes of the flags it was given.
_STANDING = Flag.PRUNED | Flag.SHORTENED

_FIND = """SELECT m.lsn, m.shown_lsn FROM messages m JOIN log l ON l.lsn = m.lsn
  WHERE m.session = ? AND m.id_hash = ? AND l.id = ?"""
_READ = """SELECT {figures}, l.body, l.crc FROM log l
  JOIN messages m ON m.session = l.session AND m.sequence = l.sequence WHERE l.lsn = ?"""
_SAVE = "UPDATE messages SET lsn = ?, shown_lsn = ?, flags = ?, score = ? WHERE session = ? AND sequence = ?"


class _Encodings(NamedTuple):
    """A message as it was written and as the window shows it; the same thing unless it was shortened."""

    id: str
    lsn: int
    shown_lsn: int
    written: Stored
    shown: Stored


def rewrite(stage: Stage, command: Rewrite) -> Rewritten:
    before = _session(stage, command)
    head = owned(before, command.user_id)
    found = _find(stage, head, command.message_id)
    written = command.revise(found.written)
    shown = command.revise(found.shown) if found.shown_lsn != found.lsn else written
    flags = written.flags & ~_STANDING | found.shown.flags & _STANDING
    message = found.shown._replace(body=shown.body, flags=flags, score=written.score)
    stage.claim(before, head)
    _save(stage, head, found, written, message)
    stage.keep(head)
    stage.changes.append(Change(head.key, head, replaced=(message,)))
    return Rewritten(head, message)


def _session(stage: Stage, command: Rewrite) -> Head:
    head = stage.head(command.key)
    if head is None:
        raise _missing(command.message_id)
    return head


def _missing(message_id: str) -> NoSuchThing:
    return NoSuchThing(f"there is no message {message_id!r} in this session")


def _find(stage: Stage, head: Head, message_id: str) -> _Encodings:
    row = stage.connection.execute(_FIND, (head.number, id_hash(message_id), message_id)).fetchone()
    if row is None:
        raise _missing(message_id)
    lsn, shown_lsn = row
    written, shown = _read(stage, lsn, rows.WRITTEN), _read(stage, shown_lsn, rows.SHOWN)
    return _Encodings(message_id, lsn, shown_lsn, written, shown)


def _read(stage: Stage, lsn: int, figures: str) -> Stored:
    row = stage.connection.execute(_READ.format(figures=figures), (lsn,)).fetchone()
    return rows.message_of(row, stage.path)


def _save(stage: Stage, head: Head, found: _Encodings, written: Revision, message: Stored) -> None:
    sequence = message.sequence
    lsn = shown_lsn = stage.log(head, Entry(Kind.ANNOTATION, written.body, sequence, found.id, found.lsn))
    if found.shown_lsn != found.lsn:
        shown_lsn = stage.log(head, Entry(Kind.SHORTENING, message.body, sequence, prev=found.shown_lsn))
    stage.do(_SAVE, lsn, shown_lsn, message.flags, message.score, head.number, sequence)
