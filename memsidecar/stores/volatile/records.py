"""Records; erase counts."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

from memsidecar.domain.errors import NoSuchThing
from memsidecar.domain.quota import Usage
from memsidecar.domain.session import SessionKey
from memsidecar.stores.contract import (
    Belongings,
    DropNote,
    Erase,
    Note,
    NoteKind,
    NotePage,
    NotesRevised,
    Owner,
    ReviseNotes,
)
from memsidecar.stores.volatile.documents import Library
from memsidecar.stores.volatile.session import Session

_Place = tuple[Owner, NoteKind, str]


class Notebook:
    """All notes. `refuse_growth` raises QuotaExceeded."""

    def __init__(self, refuse_growth: Callable[[str, Usage], None]) -> None:
        self._refuse_growth = refuse_growth
        self._kept: dict[_Place, Note] = {}

    def revise(self, command: ReviseNotes) -> NotesRevised:
        slots, mine = set(command.slots), self._of(command.owner, command.kind)
        revised = command.revise(sorted([note for note in mine if note.slot in slots], key=_age))
        kept = {note.id: note for note in revised.kept}
        if not command.is_derived:
            self._check(command, kept, revised.dropped)
        for name in revised.dropped:
            self._kept.pop((command.owner, command.kind, name), None)
        for name, note in kept.items():
            self._kept[command.owner, command.kind, name] = note
        return NotesRevised(tuple(kept.values()))

    def _check(self, command: ReviseNotes, kept: Mapping[str, Note], dropped: Sequence[str]) -> None:
        known = [self.find(command.owner, command.kind, name) for name in {*kept, *dropped}]
        before = sum(len(note.body) for note in known if note)
        after = sum(len(note.body) for note in kept.values())
        self._refuse_growth(command.owner.namespace, Usage(bytes=after - before))

    def bytes(self, namespace: str) -> int:
        return sum(len(note.body) for (owner, _, _), note in self._kept.items() if owner.namespace == namespace)

    def drop(self, command: DropNote) -> Note:
        place = (command.owner, command.kind, command.note_id)
        if place not in self._kept:
            raise NoSuchThing(f"there is no {command.kind.name.lower()} {command.note_id!r}")
        return self._kept.pop(place)

    def drop_all_of(self, key: SessionKey, user_id: str, whole: bool) -> None:
        for place in self._all_of(key, user_id, whole):
            del self._kept[place]

    def count_of(self, key: SessionKey, user_id: str, whole: bool) -> Counter[NoteKind]:
        """How much of each kind goes with a session."""
        return Counter(kind for _, kind, _ in self._all_of(key, user_id, whole))

    def _all_of(self, key: SessionKey, user_id: str, whole: bool) -> Sequence[_Place]:
        return [place for place in self._kept if self._goes_with(place, key, user_id, whole)]

    def _goes_with(self, place: _Place, key: SessionKey, user_id: str, whole: bool) -> bool:
        owner, kind, _ = place
        if owner.namespace != key.namespace:
            return False
        is_made_of_it = self._kept[place].source == key.session_id != "" and (whole or kind != NoteKind.FACT)
        is_its_own = whole and owner.session_id == key.session_id != ""
        is_pattern = kind == NoteKind.PATTERNS and user_id != "" and owner == Owner(key.namespace, user_id)
        return is_made_of_it or is_its_own or is_pattern

    def find(self, owner: Owner, kind: NoteKind, note_id: str) -> Note | None:
        return self._kept.get((owner, kind, note_id))

    def page(self, page: NotePage) -> Sequence[Note]:
        listed = [note for note in self._of(page.owner, page.kind) if _is_listed(note, page)]
        return sorted(listed, key=_age, reverse=True)[: page.limit]

    def _of(self, owner: Owner, kind: NoteKind) -> Iterator[Note]:
        return (note for place, note in self._kept.items() if place[:2] == (owner, kind))


def _age(note: Note) -> tuple[int, str]:
    return note.time_us, note.id


def _is_listed(note: Note, page: NotePage) -> bool:
    return (note.current or page.history) and (page.after is None or _age(note) < page.after)


def count_belongings(session: Session | None, library: Library, notebook: Notebook, command: Erase) -> Belongings:
    documents = library.all_of(command.key) if command.whole else ()
    notes = notebook.count_of(command.key, _user_of(session, command), command.whole)
    if command.whole and not (session or documents or notes):
        raise NoSuchThing(f"there is no session {command.key.session_id!r}")
    return Belongings(
        messages=len(session.messages) if session else 0,
        facts=notes[NoteKind.FACT],
        summaries=notes[NoteKind.SUMMARY],
        artifacts=notes[NoteKind.ARTIFACT],
        patterns=notes[NoteKind.PATTERNS],
        documents=len(documents),
        chunks=sum(document.chunk_count for document in documents),
    )


def drop_belongings(session: Session | None, library: Library, notebook: Notebook, command: Erase) -> None:
    """All but the messages."""
    notebook.drop_all_of(command.key, _user_of(session, command), command.whole)
    if command.whole:
        library.drop_all_of(command.key)


def _user_of(session: Session | None, command: Erase) -> str:
    """Whose patterns go along."""
    return session.user_id or command.user_id if session else ""
