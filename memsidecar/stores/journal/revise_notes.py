"""ReviseNotes: what is learned, in place of what was known before."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from memsidecar.domain.errors import NoSuchThing
from memsidecar.domain.quota import Usage
from memsidecar.stores.contract import Advance, Note, NotesRevised, Progress, ReviseNotes
from memsidecar.stores.journal.advance import advance, find_watermark
from memsidecar.stores.journal.drop_note import drop_places
from memsidecar.stores.journal.leftovers import Erasing, Leftover, leave
from memsidecar.stores.journal.notes import Kept, Place, columns_of, find_by_ids, find_in_slots
from memsidecar.stores.journal.staging import Stage

_INSERT = """INSERT INTO notes(namespace, user_id, session_id, kind, id, slot, source, time_us, until_us, body,
    bytes) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"""
_MOVE = "UPDATE notes SET slot = ?, source = ?, time_us = ?, until_us = ? WHERE number = ?"
_REPLACE = "UPDATE notes SET slot = ?, source = ?, time_us = ?, until_us = ?, body = ?, bytes = ? WHERE number = ?"


class _Plan(NamedTuple):
    """What is to be written, read off from what is kept before anything is staged."""

    written: Sequence[tuple[Note, Kept | None]]
    "Notes whose body is new, and what they replace."
    moved: Sequence[tuple[Note, Place]]
    "Notes that keep their body, and not their slot, source or times."
    dropped: Sequence[Place]

    @property
    def growth_bytes(self) -> int:
        replaced = [before.place for _, before in self.written if before is not None]
        gone = sum(place.bytes for place in (*replaced, *self.dropped))
        return sum(len(note.body) for note, _ in self.written) - gone


def revise_notes(stage: Stage, command: ReviseNotes) -> NotesRevised | Erasing:
    _refuse_if_erased(stage, command.derived_from)
    found = find_in_slots(stage.connection, command.owner, command.kind, command.slots)
    revised = command.revise([kept.note(stage.path) for kept in found])
    kept = {note.id: note for note in revised.kept}
    plan = _plan(stage, command, kept, revised.dropped)
    news = command.progress if _is_news(stage, command) else None
    stage.book(command.owner.namespace, Usage(bytes=plan.growth_bytes), refusable=not command.is_derived)
    leftovers = _carry_out(stage, command, plan, news)
    result = NotesRevised(tuple(kept.values()))
    return Erasing(leftovers, result) if leftovers else result


def _refuse_if_erased(stage: Stage, session: int | None) -> None:
    """What is committed is all there is to know: no erasure is staged before a note (`Stage.admits`)."""
    query = "SELECT 1 FROM sessions WHERE number = ?"
    if session is not None and stage.connection.execute(query, (session,)).fetchone() is None:
        raise NoSuchThing("what this was made of is erased")


def _plan(stage: Stage, command: ReviseNotes, kept: Mapping[str, Note], dropped: Sequence[str]) -> _Plan:
    known = find_by_ids(stage.connection, command.owner, command.kind, [*kept, *dropped])
    written: list[tuple[Note, Kept | None]] = []
    moved = []
    for note in kept.values():
        before = known.get(note.id)
        if before is None or not before.has_body_of(note):
            written.append((note, before))
        elif before.columns != columns_of(note):
            moved.append((note, before.place))
    return _Plan(written, moved, [one.place for one in known.values() if one.id not in kept])


def _is_news(stage: Stage, command: ReviseNotes) -> bool:
    progress = command.progress
    if progress is None:
        return False
    return progress.lsn > find_watermark(stage.connection, progress.task, command.owner.namespace)


def _carry_out(stage: Stage, command: ReviseNotes, plan: _Plan, progress: Progress | None) -> list[Leftover]:
    replaced = _write(stage, command, plan.written)
    for note, place in plan.moved:
        stage.do(_MOVE, *columns_of(note), place.number)
    if progress is not None:
        advance(stage, Advance(progress.task, command.owner.namespace, progress.lsn))
    return [*leave(stage, replaced), *drop_places(stage, plan.dropped)]


def _write(stage: Stage, command: ReviseNotes, written: Sequence[tuple[Note, Kept | None]]) -> list[Leftover]:
    """Write bodies and rows; answers what is left of the bodies before."""
    first = stage.add_texts([(note.body, 0) for note, _ in written])
    for body, (note, before) in enumerate(written, first):
        if before is None:
            stage.do(_INSERT, *command.owner, command.kind, note.id, *columns_of(note), body, len(note.body))
        else:
            stage.do(_REPLACE, *columns_of(note), body, len(note.body), before.place.number)
    return [before.place.leftover for _, before in written if before is not None]
