"""Archives: reads of everything that is stored as of one position, and the commands that store it elsewhere.

Import commands store what is not stored yet, and change nothing else. Each is all or nothing, and results in Imported.
They check the tombstones of erasures in their own transaction: an erasure and an import never pass each other.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum, IntEnum, auto
from typing import NamedTuple, Protocol

from memsidecar.domain.message import Draft, StoredMessage
from memsidecar.domain.session import Policy, SessionHead, SessionKey
from memsidecar.stores.contract.documents import DocumentDraft, Owner, StoredDocument
from memsidecar.stores.contract.records import Record, RecordChanges, RecordKind


@dataclass(frozen=True, slots=True)
class Scope:
    """A namespace, narrowed to a user, a session, or both."""

    namespace: str
    user_id: str = ""
    session_id: str = ""


class ArchivePosition(NamedTuple):
    """The state of a namespace at one time: the last lsn, and the next row ids of sessions, records and documents."""

    lsn: int
    session: int
    record: int
    document: int
    time_us: int


class ArchivedMessage(NamedTuple):
    """A message: the original, and the version that the window displays if it is another one."""

    lsn: int
    key: SessionKey
    user_id: str
    original: StoredMessage
    displayed: StoredMessage | None
    vector: bytes | None


class ArchivedRecord(NamedTuple):
    row_id: int
    owner: Owner
    kind: RecordKind
    record: Record


class ArchivePage(NamedTuple):
    """Items, and the lsn or row id after which the next page begins; None after the last page.

    A page may be empty although there are more: it reads a bounded part of the journal.
    """

    items: Sequence[ArchivedMessage | ArchivedRecord | StoredDocument]
    next_after: int | None


class ArchiveReader(Protocol):
    """Reads for an export. What was added after the position is absent; the rest is as it is at the time of a read."""

    def archive_position(self, namespace: str) -> ArchivePosition: ...

    def archived_sessions(
        self, scope: Scope, position: ArchivePosition, after_id: str, limit: int
    ) -> Sequence[SessionHead]:
        """Return sessions of the scope in the order of their ids."""

    def archived_records(self, scope: Scope, position: ArchivePosition, after: int) -> ArchivePage:
        """Return facts and artifacts in the order of their row ids.

        Those of the users and sessions of the scope; for a session also those that it is the source of.
        """

    def archived_messages(self, scope: Scope, position: ArchivePosition, after_lsn: int) -> ArchivePage:
        """Return messages in commit order, pruned ones included."""

    def archived_documents(self, scope: Scope, position: ArchivePosition, after: int) -> ArchivePage:
        """Return at most one document, with its chunks and layout, in the order of the row ids.

        Those of the users and sessions of the scope; those of the namespace if it is not narrowed.
        """

    def calibrated_models(self, namespace: str) -> Sequence[str]:
        """Return the models with a calibration, in alphabetical order."""


class Outcome(Enum):
    """What an import did with an item."""

    STORED = auto()
    DUPLICATE = auto()
    FORGOTTEN = auto()


class Origin(NamedTuple):
    """What an item comes from, as tombstones name it: its user, its session, messages of `message_session`.

    `time_us` is when the item came to be; 0 if that is unknown. An item is forgotten if its user or session was
    forgotten at that time or later, or each of its messages. A summary may quote each message of its session: it is
    forgotten with any of them.
    """

    namespace: str
    user_id: str = ""
    session_id: str = ""
    message_session: str = ""
    message_ids: Sequence[str] = ()
    time_us: int = 0
    is_summary: bool = False


class TombstoneKind(IntEnum):
    """The kinds of forgotten names. The numbers are stored on disk."""

    USER = 1
    SESSION = 2
    MESSAGE = 3
    SUMMARY = 4


class Tombstone(NamedTuple):
    """A forgotten name: (user id,), (session id,) or (session id, message id). Of a summary, that of its session."""

    kind: TombstoneKind
    names: tuple[str, ...]


class SessionImport(NamedTuple):
    """A session to create. An existing one keeps its times; its last sequence may grow, and it may get a policy."""

    key: SessionKey
    user_id: str
    create_time_us: int
    last_active_us: int
    last_sequence: int = 0
    policy: Policy | None = None


class MessageImport(NamedTuple):
    """A message to store: at its sequence if that is above the session's last one, else at the session's end.

    `displayed` is the encoded version for the window, without a sequence, and its tokens. A result of a tool call is
    pruned if and only if its call is: an exchange is never split. A message that keeps its sequence leaves the time of
    the session's last activity as it is. The time of an `undated` message is that of its import.
    """

    key: SessionKey
    user_id: str
    draft: Draft
    sequence: int = 0
    pruned: bool = False
    displayed: tuple[bytes, int] | None = None
    undated: bool = False

    @property
    def origin(self) -> Origin:
        namespace, session_id = self.key
        time_us = 0 if self.undated else self.draft.time_us
        return Origin(namespace, self.user_id, session_id, session_id, (self.draft.id,), time_us)


class RecordImport(NamedTuple):
    record: Record
    origin: Origin


@dataclass(frozen=True, slots=True)
class ImportSession:
    session: SessionImport
    override_erasures: bool = False

    @property
    def origin(self) -> Origin:
        namespace, session_id = self.session.key
        return Origin(namespace, self.session.user_id, session_id, time_us=self.session.create_time_us)


@dataclass(frozen=True, slots=True)
class ImportMessages:
    """Store messages of one namespace. Known ids are duplicates, as for `Append`; IdConflict for another body."""

    messages: Sequence[MessageImport]
    override_erasures: bool = False


@dataclass(frozen=True, slots=True)
class ImportRecords:
    """Store records of one owner and kind. Known ids are duplicates.

    `merge` is pure. It gets the stored records with the conflict keys of the new ones (history included, oldest first),
    and the new ones. A session that owns the records is created if it does not exist, with `user_id`.
    """

    owner: Owner
    user_id: str
    kind: RecordKind
    records: Sequence[RecordImport]
    merge: Callable[[Sequence[Record], Sequence[Record]], RecordChanges]
    override_erasures: bool = False


@dataclass(frozen=True, slots=True)
class ImportDocument:
    """Store a document. One with a known id is a duplicate, whatever its text.

    `user_id` is as in ImportRecords, and `undated` as in MessageImport.
    """

    document: DocumentDraft
    user_id: str
    override_erasures: bool = False
    undated: bool = False

    @property
    def origin(self) -> Origin:
        owner = self.document.owner
        user_id = owner.user_id or self.user_id
        time_us = 0 if self.undated else self.document.create_time_us
        return Origin(owner.namespace, user_id, owner.session_id, time_us=time_us)


ImportCommand = ImportSession | ImportMessages | ImportRecords | ImportDocument


@dataclass(frozen=True, slots=True)
class Imported:
    """One outcome for each item of the command, in order."""

    outcomes: Sequence[Outcome]
