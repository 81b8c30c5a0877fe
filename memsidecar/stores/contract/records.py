"""Derived records: facts, artifacts, summaries and patterns, the commands that change them, and who reads them."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Protocol

from memsidecar.stores.contract.documents import Owner


class RecordKind(IntEnum):
    """The numbers are stored on disk."""

    FACT = 1
    ARTIFACT = 2
    SUMMARY = 3
    PATTERNS = 4


_DERIVED_KINDS = {RecordKind.SUMMARY, RecordKind.PATTERNS}


@dataclass(frozen=True, slots=True)
class Record:
    """A derived record. `id` is unique within its owner and kind.

    `conflict_key` (64 bits, signed) is a hash of the record's subject. At most one record of a key is current, the
    others are its history.
    `source` is the session id whose messages the record was derived from. An erasure of those messages erases the
    record too; a fact survives the clearing of the session and is erased by its deletion. Empty: no such session.
    `time_us` is when the record was last seen, and orders listings. `until_us` is 0 for a current record, else the
    time since which it is superseded. Both may change without the body.
    """

    id: str
    conflict_key: int
    source: str
    time_us: int
    body: bytes
    until_us: int = 0

    @property
    def current(self) -> bool:
        return not self.until_us


@dataclass(frozen=True, slots=True)
class RecordChanges:
    """Records to insert or replace by id, and ids to delete; their conflict keys do not matter.

    An unknown id in `deletes` is ignored. An id in both is upserted. `result` is any value that the callback wants to
    hand to the caller: it comes back in `RecordsUpserted.result`. `sequence` is the last one that a summary covers, for
    its event.
    """

    upserts: Sequence[Record] = ()
    deletes: Sequence[str] = ()
    result: Any = None
    sequence: int = 0


@dataclass(frozen=True, slots=True)
class Progress:
    """A task's watermark, committed together with the records made from the log up to it. Never moves back."""

    task: str
    lsn: int


@dataclass(frozen=True, slots=True)
class UpsertRecords:
    """Change an owner's records of one kind, all or nothing. A command that changes nothing writes nothing.

    `revise` is pure. The journal calls it exclusively, with the records of `conflict_keys` (history included, oldest
    first by time and id), and applies the changes that it returns. An exception of `revise` refuses the command.
    Each changed fact and summary, and each deleted fact, is an entry of the log.
    With `derived_from` (a session's row id) the command is refused with NotFound if that session was cleared or
    deleted, or one of its messages in `derived_sequences` was erased, so that erased content cannot return as a record.
    Result: RecordsUpserted.
    """

    owner: Owner
    kind: RecordKind
    conflict_keys: Sequence[int]
    revise: Callable[[Sequence[Record]], RecordChanges]
    derived_from: int | None = None
    progress: Progress | None = None
    derived_sequences: Sequence[int] = ()

    @property
    def is_derived(self) -> bool:
        """Whether the sidecar derived the records itself. A client's records, offloaded artifacts too, are not."""
        return self.kind in _DERIVED_KINDS or (self.kind == RecordKind.FACT and self.derived_from is not None)


@dataclass(frozen=True, slots=True)
class RecordsUpserted:
    """The upserted records, and the `result` of the RecordChanges."""

    records: Sequence[Record]
    result: Any = None


@dataclass(frozen=True, slots=True)
class DeleteRecord:
    """Erase a record from every file; NotFound if there is none.

    Result: the Record as it was, with an empty body if the stored body is damaged.
    """

    owner: Owner
    kind: RecordKind
    record_id: str


@dataclass(frozen=True, slots=True)
class RecordQuery:
    """An owner's records of one kind, newest first by (time_us, id), after that position; current ones by default."""

    owner: Owner
    kind: RecordKind
    limit: int = 100
    after: tuple[int, str] | None = None
    history: bool = False


class OwnerVersions(Protocol):
    def owner_versions(self, owners: Collection[Owner]) -> Mapping[Owner, int]:
        """Return for each owner a number that grows with each change of the owner's records and documents.

        An erasure is a change, too. The number may also grow without one. It is always 0 in a journal that is not
        shared: there, commit events and the completion of commands tell of every change.
        """


class RecordReader(Protocol):
    def record(self, owner: Owner, kind: RecordKind, record_id: str) -> Record | None:
        """Return a record, superseded ones included; None if there is none."""

    def records(self, query: RecordQuery) -> Sequence[Record]:
        """Return an owner's records of one kind, newest first."""
