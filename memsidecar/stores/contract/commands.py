"""Commands of the journal, their results, and PendingCommand, a submitted command."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from memsidecar.domain.errors import Overloaded, SidecarError
from memsidecar.domain.message import Draft, StoredMessage
from memsidecar.domain.session import Policy, SessionHead, SessionKey
from memsidecar.stores.contract.archive import ImportDocument, ImportMessages, ImportRecords, ImportSession
from memsidecar.stores.contract.documents import DeleteDocument, PutDocument
from memsidecar.stores.contract.erasure import Erase, EraseUser, ExpireMessages, ForgetMessages
from memsidecar.stores.contract.records import DeleteRecord, UpsertRecords


class Predecessor(Protocol):
    """A command that was submitted before; `error` is set if it was refused."""

    error: BaseException | None


@dataclass(frozen=True, slots=True)
class Append:
    """Append messages to one session, all or nothing. Result: Appended.

    Known ids with the same fingerprint are duplicates; they are recognised before `expected_sequence` is compared.
    A result of a pruned tool call brings the call's exchange back into the window: an exchange is never split.
    Refused with Overloaded if the command in `after` was refused, so that a stream has no holes.
    """

    key: SessionKey
    user_id: str
    drafts: Sequence[Draft]
    expected_sequence: int | None = None
    after: Predecessor | None = None

    def check_predecessor(self) -> None:
        if self.after is not None and self.after.error is not None:
            raise Overloaded("an earlier message of the same stream was refused")


class Added(NamedTuple):
    id: str
    sequence: int
    tokens: int
    duplicate: bool


@dataclass(frozen=True, slots=True)
class Appended:
    head: SessionHead
    results: Sequence[Added]


@dataclass(frozen=True, slots=True)
class Revision:
    """The encoding, flags and score of a message after an annotation."""

    body: bytes
    flags: int
    score: float | None


@dataclass(frozen=True, slots=True)
class UpdateMessage:
    """Annotate one message. Result: MessageUpdated; NotFound if there is no such message.

    `revise` is pure. The journal calls it with each stored version of the message.
    """

    key: SessionKey
    user_id: str
    message_id: str
    revise: Callable[[StoredMessage], Revision]


@dataclass(frozen=True, slots=True)
class MessageUpdated:
    head: SessionHead
    message: StoredMessage


@dataclass(frozen=True, slots=True)
class UpdateWindow:
    """Remove messages from the window, and display shortened versions in place of originals. Result: WindowUpdated.

    Optimistic: if the session is no longer at `expected_version`, VersionConflict, and nothing changes. `result` is
    any value that the planner wants to hand to the caller: it comes back in `WindowUpdated.result`.
    """

    key: SessionKey
    expected_version: int
    removed: Sequence[int] = ()
    shortened: Sequence[StoredMessage] = ()
    result: Any = None


@dataclass(frozen=True, slots=True)
class UpdateWindowExclusive:
    """An UpdateWindow that is planned exclusively, so that it has no version conflict. Result: WindowUpdated.

    The journal calls `decide` when all earlier commands are committed, and runs no other command meanwhile. It is for
    sessions that change too often for an optimistic update.
    """

    key: SessionKey
    decide: Callable[[], UpdateWindow]


@dataclass(frozen=True, slots=True)
class WindowUpdated:
    """The session's new head, and the `result` of the UpdateWindow."""

    head: SessionHead
    result: Any = None


@dataclass(frozen=True, slots=True)
class Claim:
    """Create a session, or give a session without a user to this user. Result: the session's head.

    SessionOwnerMismatch if it has another user. An empty `user_id` only creates the session.
    """

    key: SessionKey
    user_id: str


@dataclass(frozen=True, slots=True)
class SetPolicy:
    """Set a session's policy, or with an empty session id the namespace's default. None removes it."""

    key: SessionKey
    user_id: str
    policy: Policy | None


@dataclass(frozen=True, slots=True)
class PolicySet:
    head: SessionHead | None


@dataclass(frozen=True, slots=True)
class Calibration:
    factor: float = 1.0
    reports: int = 0


@dataclass(frozen=True, slots=True)
class Calibrate:
    """Update the token calibration of a model. `step` is pure, so that concurrent reports all count."""

    namespace: str
    model: str
    step: Callable[[Calibration], Calibration]


@dataclass(frozen=True, slots=True)
class AdvanceWatermark:
    """Store the lsn up to which a task has processed a namespace. A lower lsn is ignored."""

    task: str
    namespace: str
    lsn: int


@dataclass(frozen=True, slots=True)
class AddDeadLetter:
    """Store that a task skips this entry of the log. Adding the same one again does nothing."""

    task: str
    namespace: str
    lsn: int
    reason: str


Command = (
    Append
    | UpdateMessage
    | UpdateWindow
    | UpdateWindowExclusive
    | Erase
    | EraseUser
    | ForgetMessages
    | ExpireMessages
    | Claim
    | SetPolicy
    | Calibrate
    | AdvanceWatermark
    | AddDeadLetter
    | PutDocument
    | DeleteDocument
    | UpsertRecords
    | DeleteRecord
    | ImportSession
    | ImportMessages
    | ImportRecords
    | ImportDocument
)

ERASING_COMMANDS = (Erase, EraseUser, ForgetMessages, ExpireMessages, DeleteDocument, DeleteRecord)


class VersionConflict(SidecarError):
    """The session changed since the update was planned. The layers plan again; it never reaches a client."""


@dataclass(frozen=True, slots=True)
class CommitEvent:
    """The effect of one committed command on a session's window. `head` is None if the session was deleted.

    `reload` means that the window changed in a way that the other fields do not describe. Every erasure sets it, also
    that of a session of which there were only records. An event with an empty session id is a changed document, or with
    `reload` an erased user.
    `previous_version` is the version that the session had before. A shared journal sets it: other processes may have
    changed the session since its last event. In other journals each event follows the last one of its session.
    """

    key: SessionKey
    head: SessionHead | None
    appended: Sequence[StoredMessage] = ()
    removed: Sequence[int] = ()
    replaced: Sequence[StoredMessage] = ()
    reload: bool = False
    previous_version: int | None = None

    @property
    def invalidates(self) -> bool:
        """Whether records derived from the session may be erased, or documents changed."""
        return self.reload or self.head is None

    @property
    def erases(self) -> bool:
        """Whether records may be erased, of any owner of the namespace."""
        return self.reload or (self.head is None and bool(self.key.session_id))


class PendingCommand:
    """A submitted command and its completion, like a Future.

    `on_done` is called once, on the journal's thread, when the command is durable or refused. It must not raise:
    other commands of the same group are completed after it.
    """

    __slots__ = ("_completed", "_on_done", "_result", "command", "done", "error")

    def __init__(self, command: Command, on_done: Callable[["PendingCommand"], None] | None = None) -> None:
        self.command = command
        self.error: BaseException | None = None
        self.done = False
        self._result: Any = None
        self._on_done = on_done
        self._completed: threading.Lock | None = None
        if on_done is None:
            self._completed = threading.Lock()
            self._completed.acquire()

    def complete(self, result: Any = None, error: BaseException | None = None) -> None:
        self._result, self.error, self.done = result, error, True
        if self._completed is not None:
            self._completed.release()
        elif self._on_done is not None:
            self._on_done(self)

    def wait(self) -> Any:
        """Block until completed, then return `result()`. Only without `on_done`, and only once."""
        assert self._completed is not None
        self._completed.acquire()
        return self.result()

    def result(self) -> Any:
        """Return the result of a completed command, or raise its error."""
        if self.error is not None:
            raise self.error
        return self._result
