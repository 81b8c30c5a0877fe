"""Erase: a session's messages are out of reach with one commit; `erasing` then takes them from the file."""

from memsidecar.domain.errors import NoSuchThing
from memsidecar.domain.quota import Usage
from memsidecar.domain.session import Head
from memsidecar.stores.contract import Change, Erase, Erased
from memsidecar.stores.journal.drop_document import drop_all_of
from memsidecar.stores.journal.drop_note import drop_notes_of
from memsidecar.stores.journal.leftovers import Erasing
from memsidecar.stores.journal.rows import find_bytes
from memsidecar.stores.journal.schema import Kind
from memsidecar.stores.journal.staging import Entry, Stage, owned


def erase(stage: Stage, command: Erase) -> Erasing | Erased:
    head = stage.head(command.key)
    if head is None:
        return _erase_unknown(stage, command)
    # No claim is told: what could be claimed is gone with the same commit.
    head = owned(head, command.user_id)
    removed_count, size = head.message_count + head.pruned_count, find_bytes(stage.connection, head.number)
    stage.book(head.key.namespace, Usage(-int(command.whole), -removed_count, -size))
    kind = Kind.DELETE if command.whole else Kind.CLEAR
    stage.log(head, Entry(kind, id=head.key.namespace))
    stage.do("INSERT INTO erasures VALUES (?)", head.number)
    stage.do("DELETE FROM sessions WHERE number = ?", head.number)
    left = None if command.whole else _emptied(stage, head)
    if left is None:
        stage.do("DELETE FROM policies WHERE namespace = ? AND session_id = ?", *command.key)
        stage.heads[command.key] = None
    else:
        stage.keep(left)
    stage.changes.append(Change(command.key, left, reload=True))
    documents = drop_all_of(stage, command.key) if command.whole else []
    notes = drop_notes_of(stage, command.key, head.user_id, command.whole)
    return Erasing([head.number, *documents, *notes], Erased(left, removed_count))


def _erase_unknown(stage: Stage, command: Erase) -> Erasing | Erased:
    """Documents and notes may come before their session: they are all there is of it then."""
    documents = drop_all_of(stage, command.key) if command.whole else []
    notes = drop_notes_of(stage, command.key, "", command.whole)
    if notes:
        stage.changes.append(Change(command.key, None, reload=True))
    leftovers = [*documents, *notes]
    if leftovers:
        return Erasing(leftovers, Erased(None, 0))
    if command.whole:
        raise NoSuchThing(f"there is no session {command.key.session_id!r}")
    return Erased(None, 0)


def _emptied(stage: Stage, head: Head) -> Head:
    """The same session under a new number: ids are free again, sequences go on."""
    left = stage.new(head.key, head.user_id)
    left.version, left.last_sequence, left.window_start = head.version, head.last_sequence, head.last_sequence + 1
    left.create_time_us, left.policy = head.create_time_us, head.policy
    return left
