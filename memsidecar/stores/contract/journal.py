"""The journal as a set of roles, with the queries and results of its reads.

A caller takes the narrowest role it needs. A store implements all of them: `Journal`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from memsidecar.domain.message import StoredMessage
from memsidecar.domain.quota import Usage
from memsidecar.domain.session import Policy, SessionHead, SessionKey
from memsidecar.domain.statistics import CALL_SECONDS, Distribution, OperationStatistics
from memsidecar.stores.contract.archive import ArchiveReader, Scope
from memsidecar.stores.contract.change_feed import ANY_SIZE, DeadLetter, LogEntries, LogFilter, MessageWritten
from memsidecar.stores.contract.commands import Calibration, Command, CommitEvent, PendingCommand
from memsidecar.stores.contract.documents import Chunk, DocumentQuery, Owner, StoredDocument
from memsidecar.stores.contract.erasure import Erasure, ErasureCounts
from memsidecar.stores.contract.events import EventPage, LogListener
from memsidecar.stores.contract.records import OwnerVersions, RecordReader
from memsidecar.stores.contract.retention import RetentionReader
from memsidecar.stores.contract.users import UserReader


@dataclass(frozen=True, slots=True)
class MessageQuery:
    """Messages of one session with sequences strictly between `after` and `before`; in the window by default."""

    after: int = 0
    before: int | None = None
    limit: int = 1000
    newest_first: bool = False
    include_pruned: bool = False
    role: int = 0
    bodies: bool = True
    max_bytes: int = 3 << 20
    "The page ends before the message that would exceed this, but has at least one message."
    unless_version: int | None = None
    "If the session is at this version, the page has its head and no messages: the caller has them."


@dataclass(frozen=True, slots=True)
class MessagePage:
    """Messages and the session's head of the same snapshot; no head if there is no such session.

    `truncated` means that `max_bytes` ended the page before `limit` did.
    """

    head: SessionHead | None
    messages: Sequence[StoredMessage] = ()
    truncated: bool = False


class MessageVersions(NamedTuple):
    """One message: the original and the version that the window displays, with the head of the same snapshot."""

    head: SessionHead
    original: StoredMessage
    displayed: StoredMessage


class LocatedMessage(NamedTuple):
    """The original version of a message, with its first lsn and its session (key, row id, user)."""

    lsn: int
    key: SessionKey
    message: StoredMessage
    session: int
    user_id: str


@dataclass(frozen=True, slots=True)
class SessionQuery:
    """Sessions, most recently active first, after the one at (`last_active_us`, `session_id`)."""

    namespace: str
    user_id: str = ""
    limit: int = 100
    after: tuple[int, str] | None = None


@dataclass(frozen=True, slots=True)
class JournalStats:
    wal_bytes: int = 0
    file_bytes: int = 0


GROUP_COMMANDS = (1, 2, 5, 10, 20, 50, 100, 200)


class JournalStatistics:
    """What the journal did since it was opened. Thread-safe."""

    def __init__(self) -> None:
        self.commits = OperationStatistics()
        "Transactions, each with its fsync."
        self.group_commands = Distribution(GROUP_COMMANDS)
        "Commands of one group, which share a transaction if their order allows it."
        self.read_seconds = Distribution(CALL_SECONDS)
        "Read transactions, without the wait for a connection."


class JournalWriter(Protocol):
    def submit(self, pending: PendingCommand) -> None:
        """Submit a command. It is completed exactly once. Raises ShuttingDown after close().

        Commands of one session take effect in the order of submission. A command that completes without an error
        survives power loss, and every later read sees it. One that completes with an error changed nothing. A refused
        command never affects another.

        QuotaExceeded refuses a command that would exceed the namespace's quota, however many commands are submitted
        at once. Commands that add nothing (duplicates), erase or prune are never refused for it; nor are records that
        the sidecar derives itself (`UpsertRecords.is_derived`), although they count.
        """


def submit_and_wait(journal: JournalWriter, command: Command) -> Any:
    """Submit a command; return its result when it is durable, or raise its error."""
    pending = PendingCommand(command)
    journal.submit(pending)
    return pending.wait()


CommitListener = Callable[[Sequence[CommitEvent]], None]


class CommitNotifier(Protocol):
    @property
    def is_shared(self) -> bool:
        """Whether other processes may write to the journal.

        If so, listeners learn of the commits of this process only: a copy in RAM must not answer a read before the
        journal has confirmed its version.
        """

    def subscribe(self, listener: CommitListener, only_invalidations: bool = False) -> None:
        """Call `listener` with the events of each commit: after it is durable, before its commands are completed.

        With `only_invalidations`, the listener gets only the events that invalidate, and no call without any.
        Listeners run on the journal's thread, in the order of subscription. A listener must not read the journal: the
        commit is published after it returns. An exception of one listener does not affect the others.
        """


class SessionReader(Protocol):
    def head(self, key: SessionKey) -> SessionHead | None:
        """Return the session's head; None if there is no such session."""

    def sessions(self, query: SessionQuery) -> Sequence[SessionHead]:
        """Return sessions, most recently active first."""

    def default_policies(self) -> Mapping[str, Policy]:
        """Return, by namespace, the policy of sessions that have none of their own."""

    def sequences_at(self, places: Sequence[tuple[SessionHead, int]]) -> Sequence[int]:
        """Return for each (session, lsn) the sequence up to which the log has the session's messages at that lsn.

        All messages up to that sequence that still exist have a lower or the same lsn; erased ones count as logged. It
        is at most the head's last sequence, and equal to it for an lsn at or after the head's version.
        """


class MessageReader(Protocol):
    def messages(self, key: SessionKey, query: MessageQuery) -> MessagePage:
        """Return messages of one session from one snapshot. Absent session: an empty page without a head."""

    def message(self, key: SessionKey, message_id: str) -> MessageVersions | None:
        """Return one message by id, pruned ones included; None if the session has none with it."""

    def exchange_end(self, key: SessionKey, exchange: int) -> int:
        """Return the sequence of the exchange's last message in the window; 0 if none is in the window."""

    def scan(self, scope: Scope, before_lsn: int | None, limit: int) -> Sequence[LocatedMessage]:
        """Return messages of a scope with a lower first lsn, pruned ones included, newest first.

        At most `limit`; fewer if they are large, but none only if there are no more.
        """

    def get_by_lsn(self, namespace: str, lsns: Sequence[int]) -> Mapping[int, LocatedMessage]:
        """Return messages of a namespace by their first lsn. Erased messages and other entries are absent."""


class ChangeFeed(Protocol):
    def log_end(self, namespace: str) -> int:
        """Return an lsn that no committed entry of the namespace exceeds, and every later entry will exceed."""

    def last_lsns(self) -> Mapping[str, int]:
        """Return, by namespace, the lsn of its last entry, erasures included."""

    def read_changes(
        self,
        namespace: str,
        after_lsn: int,
        limit: int,
        log_filter: LogFilter | None = None,
        *,
        max_message_bytes: int = ANY_SIZE,
    ) -> LogEntries:
        """Return committed entries of a namespace after an lsn, in commit order, oldest first.

        At most `limit`; fewer if they are large, but none only if there are no more. No entry is skipped that may
        still commit with a lower lsn. Entries without content come as NoOp, so that a consumer can advance past them.
        The entry of a message that was erased may be absent: the entry of the erasure follows.

        With a filter, only the entries that match it and all erasures are read; a read that reaches the end of the
        log ends with EndOfLog. Messages with a body of more than `max_message_bytes` come as NoOp.
        """

    def read_session(self, session: int, after_sequence: int, limit: int) -> Sequence[MessageWritten]:
        """Return messages of a session (by row id) in sequence order, pruned ones included, with their first lsn."""

    def watermark(self, task: str, namespace: str) -> int:
        """Return the lsn up to which a task has processed a namespace; 0 if it has not begun."""

    def dead_letters(self, task: str) -> Sequence[DeadLetter]:
        """Return the entries that a task skips, in the order of their lsns."""


class EventFeed(Protocol):
    def read_events(self, scope: Scope, after_lsn: int, limit: int) -> EventPage:
        """Return events of a scope after an lsn, in commit order, oldest first. Reads no content of messages.

        At most `limit`. A page may have none and not be the last: its `lsn` is where the next one begins. Events of
        what was erased later are absent. A session's scope has the facts that the session owns, not those of its user.

        Erasures without names are in every scope of their namespace: the reader decides, with the names that
        `subscribe_log` told.
        """

    def subscribe_log(self, listener: LogListener) -> Callable[[], None]:
        """Call `listener` for each commit with log entries; return a function that ends the subscription.

        Like the listeners of CommitNotifier: on the journal's thread, after the commit is durable and before any read
        sees it.
        """


ChunksByPlace = Mapping[tuple[int, int], tuple[StoredDocument, Chunk]]
"By (document version, chunk index)."


class DocumentReader(Protocol):
    def document(self, owner: Owner, document_id: str) -> StoredDocument | None:
        """Return a document without its chunks; None if there is none."""

    def documents(self, query: DocumentQuery) -> Sequence[StoredDocument]:
        """Return an owner's documents without their chunks, in the order of their ids."""

    def find_chunks(self, namespace: str, places: Sequence[tuple[int, int]]) -> ChunksByPlace:
        """Return chunks of a namespace by (document version, chunk index). Replaced and erased ones are absent."""


class CalibrationReader(Protocol):
    def calibration(self, namespace: str, model: str) -> Calibration:
        """Return the token calibration of a model; factor 1 if there is none."""


class JournalAdmin(Protocol):
    def erasure_counts(self, command: Erasure) -> ErasureCounts:
        """Return what the command would erase in one snapshot. Raises what would refuse it; changes nothing."""

    def usage(self, namespace: str) -> Usage:
        """Return what the namespace stores, as its quota counts it; all zero for an unknown namespace."""

    def stats(self) -> JournalStats: ...

    @property
    def statistics(self) -> JournalStatistics:
        """The same object at each call. A store without a disk observes nothing."""

    def close(self) -> None:
        """Complete what was submitted, then close. Closing again does nothing."""


class Journal(
    JournalWriter,
    CommitNotifier,
    SessionReader,
    UserReader,
    MessageReader,
    ChangeFeed,
    EventFeed,
    OwnerVersions,
    DocumentReader,
    RecordReader,
    CalibrationReader,
    ArchiveReader,
    JournalAdmin,
    RetentionReader,
    Protocol,
):
    """All roles of a store. Thread-safe: any method from any thread.

    Every read returns one snapshot. It contains the effect of every command that was completed before the read began,
    and of no command that later reads could miss.
    """
