"""Journal protocol, read queries and results."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from memsidecar.domain.message import StoredMessage
from memsidecar.domain.quota import Usage
from memsidecar.domain.session import Policy, SessionHead, SessionKey
from memsidecar.stores.contract.change_feed import DeadLetter, LogEntries, LogFilter, MessageWritten
from memsidecar.stores.contract.commands import Calibration, CommitEvent, Erase, ErasureCounts, PendingCommand
from memsidecar.stores.contract.documents import Chunk, DocumentQuery, Owner, StoredDocument
from memsidecar.stores.contract.records import Record, RecordKind, RecordQuery


@dataclass(frozen=True, slots=True)
class MessageQuery:
    """Which messages of a session to read: sequences strictly between `after` and `before`."""

    after: int = 0
    before: int | None = None
    limit: int = 1000
    newest_first: bool = False
    include_pruned: bool = False
    role: int = 0
    bodies: bool = True
    max_bytes: int = 3 << 20
    "Stop before the message that would pass this, but never before the first."


@dataclass(frozen=True, slots=True)
class MessagePage:
    """Messages as of one moment, with the session's head of the same moment (None: there is no such session).

    `cut` says that `max_bytes` ended the page before `limit` did.
    """

    head: SessionHead | None
    messages: Sequence[StoredMessage] = ()
    truncated: bool = False


class MessageVersions(NamedTuple):
    """One message as it was written and as the window shows it, with the session's head of the same moment."""

    head: SessionHead
    original: StoredMessage
    displayed: StoredMessage


class LocatedMessage(NamedTuple):
    """One message: where it first stood in the log, whose it is, and its whole text, never shortened."""

    lsn: int
    key: SessionKey
    message: StoredMessage
    session: int
    user_id: str


@dataclass(frozen=True, slots=True)
class Scope:
    """Whose messages to scan: of a namespace, narrowed to a user, a session, or both."""

    namespace: str
    user_id: str = ""
    session_id: str = ""


@dataclass(frozen=True, slots=True)
class SessionQuery:
    """Which sessions to list, newest activity first, after the one at (`last_active_us`, `session_id`)."""

    namespace: str
    user_id: str = ""
    limit: int = 100
    after: tuple[int, str] | None = None


@dataclass(frozen=True, slots=True)
class JournalStats:
    """What a person who runs this wants to see."""

    last_lsn: int = 0
    wal_bytes: int = 0
    file_bytes: int = 0


class Journal(Protocol):
    """The truth. Thread-safe: any method from any thread."""

    def submit(self, ticket: PendingCommand) -> None:
        """Take a command. Its ticket is settled once, in any case.

        Commands of one session take effect in the order of submission. When a ticket is settled without an
        error, its effect survives power loss and every later read sees it. When it is settled with one, nothing
        has changed; a refused command never spoils another. Raises ShuttingDown after close().

        A command that would make a namespace keep more than its quota is refused with QuotaExceeded, however many
        come at once. One that adds nothing (a duplicate, say), takes something away or prunes is not; nor are notes
        that the sidecar makes itself (`ReviseNotes.is_derived`), though they count.
        """

    def listen(self, listener: Callable[[Sequence[CommitEvent]], None]) -> None:
        """Call `listener` on the journal's own thread with each change: after it is durable, before it is answered.

        There may be several; each is called, in the order in which they came. None of them may read from the journal:
        what it is told of is not published before it returns. A changed document is told as a change of no session.
        """

    def head(self, key: SessionKey) -> SessionHead | None:
        """Where the session stands; None when there is none."""

    def erasure_counts(self, command: Erase) -> ErasureCounts:
        """What the command would erase now, as of one moment. Raises what would refuse it, and changes nothing."""

    def sequences_at(self, places: Sequence[tuple[SessionHead, int]]) -> Sequence[int]:
        """For each session and entry of the log: up to which of its sequences the log has told by that entry.

        Nothing that is still there of the session up to that sequence came later, so what is erased counts as told. At
        most the head's last sequence, and that sequence itself for an entry at or behind the head's version.
        """

    def messages(self, key: SessionKey, selection: MessageQuery) -> MessagePage:
        """Read messages of one session as of one moment. Absent session: an empty page without a head."""

    def message(self, key: SessionKey, message_id: str) -> MessageVersions | None:
        """One message by its id, a pruned one included; None where the session has none with it."""

    def exchange_end(self, key: SessionKey, exchange: int) -> int:
        """The sequence of the last message of the exchange that is in the window; 0 when none is."""

    def scan(self, scope: Scope, before_lsn: int | None, limit: int) -> Sequence[LocatedMessage]:
        """Messages of a scope, pruned ones included, newest first, that came before `before_lsn`.

        At most `limit`, fewer where they are large; none only when there are no more.
        """

    def sessions(self, page: SessionQuery) -> Sequence[SessionHead]:
        """Sessions, newest activity first."""

    def default_policies(self) -> Mapping[str, Policy]:
        """By namespace, the policy for sessions that have none of their own."""

    def calibration(self, namespace: str, model: str) -> Calibration:
        """What was learned about a model's estimates; factor 1 when nothing was."""

    def watermark(self, task: str, namespace: str) -> int:
        """Up to which lsn a task has come; 0 when it has not begun."""

    def tails(self) -> Mapping[str, int]:
        """By namespace, the last entry of the log that belongs to it, erasures included."""

    def read_changes(
        self, namespace: str, after_lsn: int, limit: int, log_filter: LogFilter | None = None
    ) -> LogEntries:
        """What happened in a namespace after an entry, in order: at most `limit` entries, fewer where they are large.

        None only when there are no more. Every entry is answered (`Passed` where it says nothing), so that whoever
        follows can go on behind the last one.

        With `heard`, only that is told, and what is erased; the rest is not even read. Where the log ends is told, too.
        """

    def read_session(self, session: int, after_sequence: int, limit: int) -> Sequence[MessageWritten]:
        """A session's messages by its number, pruned ones included, in order; each told of by its own entry."""

    def find(self, lsns: Sequence[int]) -> Mapping[int, LocatedMessage]:
        """Messages by the entry that first said them; what is erased is not there."""

    def document(self, owner: Owner, document_id: str) -> StoredDocument | None:
        """The document without its chunks."""

    def documents(self, page: DocumentQuery) -> Sequence[StoredDocument]:
        """An owner's documents without their chunks, in the order of their ids."""

    def find_chunks(self, places: Sequence[tuple[int, int]]) -> Mapping[tuple[int, int], tuple[StoredDocument, Chunk]]:
        """Chunks by (version of the document, index); what was replaced or erased is not there."""

    def note(self, owner: Owner, kind: RecordKind, record_id: str) -> Record | None:
        """The note, a superseded one included."""

    def notes(self, page: RecordQuery) -> Sequence[Record]:
        """An owner's notes of one kind, newest first."""

    def set_aside(self, task: str) -> Sequence[DeadLetter]:
        """What a task goes on without, in the order of the log."""

    def usage(self, namespace: str) -> Usage:
        """What the namespace keeps, as its quota counts it: all zero where there is nothing."""

    def figures(self) -> JournalStats:
        """Sizes and counts, for logs and metrics."""

    def close(self) -> None:
        """Settle what was submitted, then close. Calling it again does nothing."""
