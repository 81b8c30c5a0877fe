"""Records: rows, ReviseRecords, DropRecord."""

import json
import sqlite3
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from memsidecar.domain.errors import DataCorrupted, NotFound
from memsidecar.domain.quota import Usage
from memsidecar.domain.session import SessionKey
from memsidecar.stores.contract import (
    AdvanceWatermark,
    DeleteRecord,
    Owner,
    Progress,
    Record,
    RecordKind,
    RecordQuery,
    RecordsUpserted,
    UpsertRecords,
)
from memsidecar.stores.sqlite.bookkeeping import advance, find_watermark
from memsidecar.stores.sqlite.secure_delete import OrphanedTexts, PendingPurge, leave
from memsidecar.stores.sqlite.transaction import Transaction

# A note whose text is gone is found all the same: it is damaged, and can still be dropped.
_NOTES = """SELECT n.number, n.kind, n.body, n.bytes, n.id, n.slot, n.source, n.time_us, n.until_us, t.text, t.crc
  FROM notes n LEFT JOIN texts t ON t.number = n.body
  WHERE n.namespace = ? AND n.user_id = ? AND n.session_id = ? AND n.kind = ?"""
# The plus keeps SQLite from walking all of the owner's notes in this order: it would rather do that than sort a few.
_IN_SLOTS = f"{_NOTES} AND n.slot IN (SELECT value FROM json_each(?)) ORDER BY +n.time_us, n.id"
_AFTER = "(n.time_us, n.id) < (?, ?)"
_NEWEST_FIRST = "ORDER BY n.time_us DESC, n.id DESC LIMIT ?"
# One row for a note that is found in two ways.
_MADE_OF_A_SESSION = f"""SELECT number, kind, body, bytes FROM notes WHERE namespace = ? AND source = ? AND source <> ''
    AND (? OR kind <> {int(RecordKind.FACT)})
  UNION SELECT number, kind, body, bytes FROM notes WHERE namespace = ? AND session_id = ? AND session_id <> ''
  UNION SELECT number, kind, body, bytes FROM notes
    WHERE namespace = ? AND session_id = '' AND user_id = ? AND user_id <> '' AND kind = {int(RecordKind.PATTERNS)}"""

_DROP = "DELETE FROM notes WHERE number IN (SELECT value FROM json_each(?))"

_INSERT = """INSERT INTO notes(namespace, user_id, session_id, kind, id, slot, source, time_us, until_us, body,
    bytes) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"""
_MOVE = "UPDATE notes SET slot = ?, source = ?, time_us = ?, until_us = ? WHERE number = ?"
_REPLACE = "UPDATE notes SET slot = ?, source = ?, time_us = ?, until_us = ?, body = ?, bytes = ? WHERE number = ?"


class Place(NamedTuple):
    """Where a note and its body are; enough to drop it, whatever became of them."""

    number: int
    kind: int
    body: int
    bytes: int

    @property
    def leftover(self) -> OrphanedTexts:
        return OrphanedTexts(self.body, self.body)


class Kept(NamedTuple):
    """A note as its row tells it; `text` is its body if it `is_whole`."""

    place: Place
    id: str
    slot: int
    source: str
    time_us: int
    until_us: int
    text: bytes | None
    crc: int | None

    @property
    def is_whole(self) -> bool:
        return self.text is not None and zlib.crc32(self.text) == self.crc

    @property
    def columns(self) -> tuple[int, str, int, int]:
        return self.slot, self.source, self.time_us, self.until_us

    def has_body_of(self, note: Record) -> bool:
        return self.is_whole and self.text == note.body

    def note(self, path: Path) -> Record:
        if not self.is_whole:
            raise DataCorrupted(f"{path.name} is damaged: a note does not match its checksum", file=str(path))
        return self.remains()

    def remains(self) -> Record:
        """What is left of it: all, or all but a damaged body."""
        body = (self.text or b"") if self.is_whole else b""
        return Record(self.id, self.slot, self.source, self.time_us, body, self.until_us)


def columns_of(note: Record) -> tuple[int, str, int, int]:
    return note.conflict_key, note.source, note.time_us, note.until_us


def find_in_slots(
    connection: sqlite3.Connection, owner: Owner, kind: RecordKind, slots: Sequence[int]
) -> Sequence[Kept]:
    """What is kept in these slots, oldest first."""
    return _find(connection, _IN_SLOTS, *owner, kind, json.dumps(list(slots)))


def find_by_ids(connection: sqlite3.Connection, owner: Owner, kind: RecordKind, ids: Sequence[str]) -> dict[str, Kept]:
    """Those that are there. One by one, because not every name that SQLite can keep survives JSON."""
    found = [find_note(connection, owner, kind, record_id) for record_id in set(ids)]
    return {kept.id: kept for kept in found if kept is not None}


def find_note(connection: sqlite3.Connection, owner: Owner, kind: RecordKind, record_id: str) -> Kept | None:
    return next(iter(_find(connection, f"{_NOTES} AND n.id = ?", *owner, kind, record_id)), None)


def list_notes(connection: sqlite3.Connection, page: RecordQuery, path: Path) -> Sequence[Record]:
    conditions = [_NOTES]
    if page.after is not None:
        conditions.append(_AFTER)
    if not page.history:
        conditions.append("n.until_us = 0")
    query = f"{' AND '.join(conditions)} {_NEWEST_FIRST}"
    return [kept.note(path) for kept in _find(connection, query, *page.owner, page.kind, *page.after or (), page.limit)]


def find_places_of(
    connection: sqlite3.Connection, key: SessionKey, user_id: str, delete_session: bool
) -> Sequence[Place]:
    """Of all notes that go with the session: those made of it, and its user's patterns.

    What it owns itself and facts that it told go only if it goes as a `whole`.
    """
    named = (*key, delete_session, key.namespace, key.session_id if delete_session else "", key.namespace, user_id)
    return [Place(*row) for row in connection.execute(_MADE_OF_A_SESSION, named).fetchall()]


def _find(connection: sqlite3.Connection, query: str, *parameters: object) -> list[Kept]:
    found = connection.execute(query, parameters).fetchall()
    return [Kept(Place(number, note_kind, body, size), *rest) for number, note_kind, body, size, *rest in found]


def drop_note(stage: Transaction, command: DeleteRecord) -> PendingPurge:
    kept = find_note(stage.connection, command.owner, command.kind, command.record_id)
    if kept is None:
        raise NotFound(f"there is no {command.kind.name.lower()} {command.note_id!r}")
    stage.book(command.owner.namespace, Usage(bytes=-kept.place.bytes))
    return PendingPurge(drop_places(stage, [kept.place]), kept.remains())


def drop_notes(stage: Transaction, namespace: str, places: Sequence[Place]) -> Sequence[OrphanedTexts]:
    """Drop the notes that go with a session."""
    stage.book(namespace, Usage(bytes=-sum(place.bytes for place in places)))
    return drop_places(stage, places)


def drop_places(stage: Transaction, places: Sequence[Place]) -> Sequence[OrphanedTexts]:
    if places:
        stage.do(_DROP, json.dumps([place.number for place in places]))
        stage.dropped_notes.update(place.number for place in places)
    return leave(stage, [place.leftover for place in places])


class _Plan(NamedTuple):
    """What is to be written, read off from what is kept before anything is staged."""

    written: Sequence[tuple[Record, Kept | None]]
    "Notes whose body is new, and what they replace."
    moved: Sequence[tuple[Record, Place]]
    "Notes that keep their body, and not their slot, source or times."
    dropped: Sequence[Place]

    @property
    def growth_bytes(self) -> int:
        replaced = [before.place for _, before in self.written if before is not None]
        gone = sum(place.bytes for place in (*replaced, *self.dropped))
        return sum(len(note.body) for note, _ in self.written) - gone


def revise_notes(stage: Transaction, command: UpsertRecords) -> RecordsUpserted | PendingPurge:
    _refuse_if_erased(stage, command.derived_from)
    found = find_in_slots(stage.connection, command.owner, command.kind, command.slots)
    revised = command.revise([kept.note(stage.path) for kept in found])
    kept = {note.id: note for note in revised.upserts}
    plan = _plan(stage, command, kept, revised.deletes)
    news = command.progress if _is_news(stage, command) else None
    stage.book(command.owner.namespace, Usage(bytes=plan.growth_bytes), refusable=not command.is_derived)
    leftovers = _carry_out(stage, command, plan, news)
    result = RecordsUpserted(tuple(kept.values()))
    return PendingPurge(leftovers, result) if leftovers else result


def _refuse_if_erased(stage: Transaction, session: int | None) -> None:
    """What is committed is all there is to know: no erasure is staged before a note (`Stage.admits`)."""
    query = "SELECT 1 FROM sessions WHERE number = ?"
    if session is not None and stage.connection.execute(query, (session,)).fetchone() is None:
        raise NotFound("what this was made of is erased")


def _plan(stage: Transaction, command: UpsertRecords, kept: Mapping[str, Record], dropped: Sequence[str]) -> _Plan:
    known = find_by_ids(stage.connection, command.owner, command.kind, [*kept, *dropped])
    written: list[tuple[Record, Kept | None]] = []
    moved = []
    for note in kept.values():
        before = known.get(note.id)
        if before is None or not before.has_body_of(note):
            written.append((note, before))
        elif before.columns != columns_of(note):
            moved.append((note, before.place))
    return _Plan(written, moved, [one.place for one in known.values() if one.id not in kept])


def _is_news(stage: Transaction, command: UpsertRecords) -> bool:
    progress = command.progress
    if progress is None:
        return False
    return progress.lsn > find_watermark(stage.connection, progress.task, command.owner.namespace)


def _carry_out(
    stage: Transaction, command: UpsertRecords, plan: _Plan, progress: Progress | None
) -> list[OrphanedTexts]:
    replaced = _write(stage, command, plan.written)
    for note, place in plan.moved:
        stage.do(_MOVE, *columns_of(note), place.number)
    if progress is not None:
        advance(stage, AdvanceWatermark(progress.task, command.owner.namespace, progress.lsn))
    return [*leave(stage, replaced), *drop_places(stage, plan.dropped)]


def _write(
    stage: Transaction, command: UpsertRecords, written: Sequence[tuple[Record, Kept | None]]
) -> list[OrphanedTexts]:
    """Write bodies and rows; answers what is left of the bodies before."""
    first = stage.add_texts([(note.body, 0) for note, _ in written])
    for body, (note, before) in enumerate(written, first):
        if before is None:
            stage.do(_INSERT, *command.owner, command.kind, note.id, *columns_of(note), body, len(note.body))
        else:
            stage.do(_REPLACE, *columns_of(note), body, len(note.body), before.place.number)
    return [before.place.leftover for _, before in written if before is not None]
