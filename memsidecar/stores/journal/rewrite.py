"""Rewrite: what is learned about a message later."""

from memsidecar.domain.errors import NoSuchThing
from memsidecar.domain.message import Flag, Stored
from memsidecar.domain.quota import Usage
from memsidecar.domain.session import Head
from memsidecar.stores.contract import Change, Revision, Rewrite, Rewritten
from memsidecar.stores.journal.encodings import Encodings, find_encodings
from memsidecar.stores.journal.schema import Kind
from memsidecar.stores.journal.staging import Entry, Stage, owned

# Where a message stands is the journal's to say, whatever a revision makes of the flags it was given.
_STANDING = Flag.PRUNED | Flag.SHORTENED

_SAVE = "UPDATE messages SET lsn = ?, shown_lsn = ?, flags = ?, score = ? WHERE session = ? AND sequence = ?"
_GROW = "UPDATE sessions SET bytes = bytes + ? WHERE number = ?"


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
    _save(stage, head, found, written, message)
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


def _save(stage: Stage, head: Head, found: Encodings, written: Revision, message: Stored) -> None:
    sequence = message.sequence
    lsn = shown_lsn = stage.log(head, Entry(Kind.ANNOTATION, written.body, sequence, found.id, found.lsn))
    if found.shown_lsn != found.lsn:
        shown_lsn = stage.log(head, Entry(Kind.SHORTENING, message.body, sequence, prev=found.shown_lsn))
    stage.do(_SAVE, lsn, shown_lsn, message.flags, message.score, head.number, sequence)
