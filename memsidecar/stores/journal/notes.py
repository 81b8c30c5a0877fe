"""Rows of notes and their bodies as values."""

import json
import sqlite3
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from memsidecar.domain.errors import DamagedFile
from memsidecar.domain.session import SessionKey
from memsidecar.stores.contract import Note, NoteKind, NotePage, Owner
from memsidecar.stores.journal.leftovers import Leftover

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
    AND (? OR kind <> {int(NoteKind.FACT)})
  UNION SELECT number, kind, body, bytes FROM notes WHERE namespace = ? AND session_id = ? AND session_id <> ''
  UNION SELECT number, kind, body, bytes FROM notes
    WHERE namespace = ? AND session_id = '' AND user_id = ? AND user_id <> '' AND kind = {int(NoteKind.PATTERNS)}"""


class Place(NamedTuple):
    """Where a note and its body are; enough to drop it, whatever became of them."""

    number: int
    kind: int
    body: int
    bytes: int

    @property
    def leftover(self) -> Leftover:
        return Leftover(self.body, self.body)


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

    def has_body_of(self, note: Note) -> bool:
        return self.is_whole and self.text == note.body

    def note(self, path: Path) -> Note:
        if not self.is_whole:
            raise DamagedFile(f"{path.name} is damaged: a note does not match its checksum", file=str(path))
        return self.remains()

    def remains(self) -> Note:
        """What is left of it: all, or all but a damaged body."""
        body = (self.text or b"") if self.is_whole else b""
        return Note(self.id, self.slot, self.source, self.time_us, body, self.until_us)


def columns_of(note: Note) -> tuple[int, str, int, int]:
    return note.slot, note.source, note.time_us, note.until_us


def find_in_slots(connection: sqlite3.Connection, owner: Owner, kind: NoteKind, slots: Sequence[int]) -> Sequence[Kept]:
    """What is kept in these slots, oldest first."""
    return _find(connection, _IN_SLOTS, *owner, kind, json.dumps(list(slots)))


def find_by_ids(connection: sqlite3.Connection, owner: Owner, kind: NoteKind, ids: Sequence[str]) -> dict[str, Kept]:
    """Those that are there. One by one, because not every name that SQLite can keep survives JSON."""
    found = [find_note(connection, owner, kind, note_id) for note_id in set(ids)]
    return {kept.id: kept for kept in found if kept is not None}


def find_note(connection: sqlite3.Connection, owner: Owner, kind: NoteKind, note_id: str) -> Kept | None:
    return next(iter(_find(connection, f"{_NOTES} AND n.id = ?", *owner, kind, note_id)), None)


def list_notes(connection: sqlite3.Connection, page: NotePage, path: Path) -> Sequence[Note]:
    conditions = [_NOTES]
    if page.after is not None:
        conditions.append(_AFTER)
    if not page.history:
        conditions.append("n.until_us = 0")
    query = f"{' AND '.join(conditions)} {_NEWEST_FIRST}"
    return [kept.note(path) for kept in _find(connection, query, *page.owner, page.kind, *page.after or (), page.limit)]


def find_places_of(connection: sqlite3.Connection, key: SessionKey, user_id: str, whole: bool) -> Sequence[Place]:
    """Of all notes that go with the session: those made of it, and its user's patterns.

    What it owns itself and facts that it told go only if it goes as a `whole`.
    """
    named = (*key, whole, key.namespace, key.session_id if whole else "", key.namespace, user_id)
    return [Place(*row) for row in connection.execute(_MADE_OF_A_SESSION, named).fetchall()]


def _find(connection: sqlite3.Connection, query: str, *parameters: object) -> list[Kept]:
    found = connection.execute(query, parameters).fetchall()
    return [Kept(Place(number, note_kind, body, size), *rest) for number, note_kind, body, size, *rest in found]
