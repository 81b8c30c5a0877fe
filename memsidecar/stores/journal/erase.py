"""Erase: a session's messages are out of reach with one commit; `erasing` then takes them from the file."""

from memsidecar.domain.quota import Usage
from memsidecar.domain.session import Head
from memsidecar.stores.contract import Change, Erase, Erased
from memsidecar.stores.journal.belongings import Found, find_belongings
from memsidecar.stores.journal.drop_document import drop_documents
from memsidecar.stores.journal.drop_note import drop_notes
from memsidecar.stores.journal.leftovers import Erasing, Leftover
from memsidecar.stores.journal.rows import find_bytes
from memsidecar.stores.journal.schema import Kind
from memsidecar.stores.journal.staging import Entry, Stage, owned


def erase(stage: Stage, command: Erase) -> Erasing | Erased:
    head = stage.head(command.key)
    # No claim is told: what could be claimed is gone with the same commit.
    head = owned(head, command.user_id) if head else None
    found = find_belongings(stage.connection, command, head, stage.dropped_notes)
    if head is None:
        return _erase_unknown(stage, command, found)
    size = find_bytes(stage.connection, head.number)
    stage.book(head.key.namespace, Usage(-int(command.whole), -found.figures.messages, -size))
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
    return Erasing([head.number, *_drop(stage, command, found)], Erased(left, found.figures))


def _erase_unknown(stage: Stage, command: Erase, found: Found) -> Erasing | Erased:
    leftovers = _drop(stage, command, found)
    if found.notes:
        stage.changes.append(Change(command.key, None, reload=True))
    erased = Erased(None, found.figures)
    return Erasing(leftovers, erased) if leftovers else erased


def _drop(stage: Stage, command: Erase, found: Found) -> list[Leftover]:
    namespace = command.key.namespace
    return [*drop_documents(stage, namespace, found.documents), *drop_notes(stage, namespace, found.notes)]


def _emptied(stage: Stage, head: Head) -> Head:
    """The same session under a new number: ids are free again, sequences go on."""
    left = stage.new(head.key, head.user_id)
    left.version, left.last_sequence, left.window_start = head.version, head.last_sequence, head.last_sequence + 1
    left.create_time_us, left.policy = head.create_time_us, head.policy
    return left
