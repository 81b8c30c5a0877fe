"""Derived records: facts, summaries, patterns, artifacts."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import IntEnum

from memsidecar.stores.contract.documents import Owner


class RecordKind(IntEnum):
    """The numbers are on disk."""

    FACT = 1
    ARTIFACT = 2
    SUMMARY = 3
    PATTERNS = 4


_DERIVED_KINDS = {RecordKind.SUMMARY, RecordKind.PATTERNS}


@dataclass(frozen=True, slots=True)
class Record:
    """`id` is unique for its owner and kind. `slot` (64 bits, signed) is a hash of what the note is about.

    `source` is the session whose messages it was made of: it is erased with them, but for a fact, which stays when a
    session is cleared and goes when it is deleted. Empty: with its owner only.
    `time_us` orders a listing: when it was last seen. `until_us` is 0 for a current note, and says for one that was
    superseded since when: of the notes in a slot one or none is current, the others are its history. Both may change
    without the body.
    """

    id: str
    slot: int
    source: str
    time_us: int
    body: bytes
    until_us: int = 0

    @property
    def current(self) -> bool:
        return not self.until_us


@dataclass(frozen=True, slots=True)
class RecordChanges:
    """Notes to keep, new ones or others in place of those with the same id, and ids of notes to erase.

    Whatever slot they are in. An id that is not there need not be erased, and one in both is kept.
    """

    kept: Sequence[Record] = ()
    dropped: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a background task has come: kept together with what it made of it. Never moves back by itself."""

    task: str
    lsn: int


@dataclass(frozen=True, slots=True)
class UpsertRecords:
    """Change an owner's notes of one kind, all or nothing. Nothing at all is written when nothing is new.

    `revise` is pure: it is given what is kept in the named slots (history included, oldest first by time and id) at a
    moment when nothing moves, and answers what is to change. What it raises refuses the command. With `derived_from`,
    only if that session (by its number) is still there and not cleared: else NoSuchThing, so that what is erased
    cannot come back as a note.
    """

    owner: Owner
    kind: RecordKind
    slots: Sequence[int]
    revise: Callable[[Sequence[Record]], RecordChanges]
    derived_from: int | None = None
    progress: Progress | None = None

    @property
    def is_derived(self) -> bool:
        """Whether the sidecar makes the notes of what it keeps. The others are a caller's, offloaded artifacts too."""
        return self.kind in _DERIVED_KINDS or (self.kind == RecordKind.FACT and self.derived_from is not None)


@dataclass(frozen=True, slots=True)
class RecordsUpserted:
    kept: Sequence[Record]


@dataclass(frozen=True, slots=True)
class DeleteRecord:
    """Erase a note from every file; NoSuchThing if there is none.

    Answers the Note as it was; if its body is damaged, without it.
    """

    owner: Owner
    kind: RecordKind
    record_id: str


@dataclass(frozen=True, slots=True)
class RecordQuery:
    """Which notes of an owner to read, newest first by (time_us, id), after this place; history only if asked for."""

    owner: Owner
    kind: RecordKind
    limit: int = 100
    after: tuple[int, str] | None = None
    history: bool = False
