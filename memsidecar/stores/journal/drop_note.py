"""DropNote: out of reach with one commit; `erasing` then takes its body from the file."""

import json
from collections.abc import Sequence

from memsidecar.domain.errors import NoSuchThing
from memsidecar.domain.quota import Usage
from memsidecar.stores.contract import DropNote
from memsidecar.stores.journal.leftovers import Erasing, Leftover, leave
from memsidecar.stores.journal.notes import Place, find_note
from memsidecar.stores.journal.staging import Stage

_DROP = "DELETE FROM notes WHERE number IN (SELECT value FROM json_each(?))"


def drop_note(stage: Stage, command: DropNote) -> Erasing:
    kept = find_note(stage.connection, command.owner, command.kind, command.note_id)
    if kept is None:
        raise NoSuchThing(f"there is no {command.kind.name.lower()} {command.note_id!r}")
    stage.book(command.owner.namespace, Usage(bytes=-kept.place.bytes))
    return Erasing(drop_places(stage, [kept.place]), kept.remains())


def drop_notes(stage: Stage, namespace: str, places: Sequence[Place]) -> Sequence[Leftover]:
    """Drop the notes that go with a session."""
    stage.book(namespace, Usage(bytes=-sum(place.bytes for place in places)))
    return drop_places(stage, places)


def drop_places(stage: Stage, places: Sequence[Place]) -> Sequence[Leftover]:
    if places:
        stage.do(_DROP, json.dumps([place.number for place in places]))
        stage.dropped_notes.update(place.number for place in places)
    return leave(stage, [place.leftover for place in places])
