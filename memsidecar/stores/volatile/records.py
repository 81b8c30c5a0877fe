"""Records; erase counts."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

from memsidecar.domain.errors import NotFound
from memsidecar.domain.quota import Usage
from memsidecar.domain.session import SessionKey
from memsidecar.stores.contract import (
    DeleteRecord,
    Erase,
    ErasureCounts,
    Owner,
    Record,
    RecordKind,
    RecordQuery,
    RecordsUpserted,
    UpsertRecords,
)
from memsidecar.stores.volatile.documents import DocumentTable
from memsidecar.stores.volatile.session import Session

_Place = tuple[Owner, RecordKind, str]


class RecordTable:
    """All notes. `refuse_growth` raises QuotaExceeded."""

    def __init__(self, refuse_growth: Callable[[str, Usage], None]) -> None:
        self._refuse_growth = refuse_growth
        self._kept: dict[_Place, Record] = {}

    def revise(self, command: UpsertRecords) -> RecordsUpserted:
        slots, mine = set(command.slots), self._of(command.owner, command.kind)
        revised = command.revise(sorted([note for note in mine if note.conflict_key in slots], key=_age))
        kept = {note.id: note for note in revised.upserts}
        if not command.is_derived:
            self._check(command, kept, revised.deletes)
        for name in revised.deletes:
            self._kept.pop((command.owner, command.kind, name), None)
        for name, note in kept.items():
            self._kept[command.owner, command.kind, name] = note
        return RecordsUpserted(tuple(kept.values()))

    def _check(self, command: UpsertRecords, kept: Mapping[str, Record], dropped: Sequence[str]) -> None:
        known = [self.find(command.owner, command.kind, name) for name in {*kept, *dropped}]
        before = sum(len(note.body) for note in known if note)
        after = sum(len(note.body) for note in kept.values())
        self._refuse_growth(command.owner.namespace, Usage(bytes=after - before))

    def bytes(self, namespace: str) -> int:
        return sum(len(note.body) for (owner, _, _), note in self._kept.items() if owner.namespace == namespace)

    def drop(self, command: DeleteRecord) -> Record:
        place = (command.owner, command.kind, command.record_id)
        if place not in self._kept:
            raise NotFound(f"there is no {command.kind.name.lower()} {command.note_id!r}")
        return self._kept.pop(place)

    def drop_all_of(self, key: SessionKey, user_id: str, delete_session: bool) -> None:
        for place in self._all_of(key, user_id, delete_session):
            del self._kept[place]

    def count_of(self, key: SessionKey, user_id: str, delete_session: bool) -> Counter[RecordKind]:
        """How much of each kind goes with a session."""
        return Counter(kind for _, kind, _ in self._all_of(key, user_id, delete_session))

    def _all_of(self, key: SessionKey, user_id: str, delete_session: bool) -> Sequence[_Place]:
        return [place for place in self._kept if self._goes_with(place, key, user_id, delete_session)]

    def _goes_with(self, place: _Place, key: SessionKey, user_id: str, delete_session: bool) -> bool:
        owner, kind, _ = place
        if owner.namespace != key.namespace:
            return False
        is_made_of_it = self._kept[place].source == key.session_id != "" and (delete_session or kind != RecordKind.FACT)
        is_its_own = delete_session and owner.session_id == key.session_id != ""
        is_pattern = kind == RecordKind.PATTERNS and user_id != "" and owner == Owner(key.namespace, user_id)
        return is_made_of_it or is_its_own or is_pattern

    def find(self, owner: Owner, kind: RecordKind, record_id: str) -> Record | None:
        return self._kept.get((owner, kind, record_id))

    def page(self, page: RecordQuery) -> Sequence[Record]:
        listed = [note for note in self._of(page.owner, page.kind) if _is_listed(note, page)]
        return sorted(listed, key=_age, reverse=True)[: page.limit]

    def _of(self, owner: Owner, kind: RecordKind) -> Iterator[Record]:
        return (note for place, note in self._kept.items() if place[:2] == (owner, kind))


def _age(note: Record) -> tuple[int, str]:
    return note.time_us, note.id


def _is_listed(note: Record, page: RecordQuery) -> bool:
    return (note.current or page.history) and (page.after is None or _age(note) < page.after)


def count_belongings(
    session: Session | None, library: DocumentTable, notebook: RecordTable, command: Erase
) -> ErasureCounts:
    documents = library.all_of(command.key) if command.delete_session else ()
    notes = notebook.count_of(command.key, _user_of(session, command), command.delete_session)
    if command.delete_session and not (session or documents or notes):
        raise NotFound(f"there is no session {command.key.session_id!r}")
    return ErasureCounts(
        messages=len(session.messages) if session else 0,
        facts=notes[RecordKind.FACT],
        summaries=notes[RecordKind.SUMMARY],
        artifacts=notes[RecordKind.ARTIFACT],
        patterns=notes[RecordKind.PATTERNS],
        documents=len(documents),
        chunks=sum(document.chunk_count for document in documents),
    )


def drop_belongings(session: Session | None, library: DocumentTable, notebook: RecordTable, command: Erase) -> None:
    """All but the messages."""
    notebook.drop_all_of(command.key, _user_of(session, command), command.delete_session)
    if command.delete_session:
        library.drop_all_of(command.key)


def _user_of(session: Session | None, command: Erase) -> str:
    """Whose patterns go along."""
    return session.user_id or command.user_id if session else ""
