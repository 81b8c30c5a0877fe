"""DropDocument: out of reach with one commit; `erasing` then takes its texts from the file."""

from collections.abc import Sequence

from memsidecar.domain.errors import NoSuchThing
from memsidecar.domain.quota import Usage
from memsidecar.domain.session import SessionKey
from memsidecar.stores.contract import Change, DocumentDropped, DropDocument
from memsidecar.stores.journal.documents import Place, find_place
from memsidecar.stores.journal.leftovers import Erasing, Leftover, leave
from memsidecar.stores.journal.schema import Kind
from memsidecar.stores.journal.staging import Entry, Stage


def drop_document(stage: Stage, command: DropDocument) -> Erasing:
    place = find_place(stage.connection, command.owner, command.document_id)
    if place is None:
        raise NoSuchThing(f"there is no document {command.document_id!r}")
    return Erasing(_drop(stage, command.owner.namespace, place), DocumentDropped(place.chunk_count))


def drop_documents(stage: Stage, namespace: str, places: Sequence[Place]) -> list[Leftover]:
    """Drop what a session owns, each with an entry of its own."""
    return [leftover for place in places for leftover in _drop(stage, namespace, place)]


def _drop(stage: Stage, namespace: str, place: Place) -> Sequence[Leftover]:
    stage.write(-place.number, Entry(Kind.DROP, id=namespace))
    stage.do("DELETE FROM documents WHERE number = ?", place.number)
    stage.book(namespace, Usage(bytes=-place.bytes))
    stage.changes.append(Change(SessionKey(namespace, ""), None))
    return leave(stage, place.leftovers)
