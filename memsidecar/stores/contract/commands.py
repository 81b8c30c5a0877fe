"""Commands, results, PendingCommand."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from memsidecar.domain.errors import SidecarError, Unavailable
from memsidecar.domain.message import Draft, StoredMessage
from memsidecar.domain.session import Policy, SessionHead, SessionKey
from memsidecar.stores.contract.documents import DeleteDocument, PutDocument
from memsidecar.stores.contract.records import DeleteRecord, UpsertRecords


class Predecessor(Protocol):
    """A command that was submitted before; `error` is set when it was refused."""

    error: BaseException | None


@dataclass(frozen=True, slots=True)
class Append:
    """Append messages of one session, all or nothing.

    Known ids with the same fingerprint are answered as duplicates, before `expected_sequence` is compared.
    An answer to a call that was pruned brings the call's exchange back into the window: they are never apart.
    Refused if the command that it comes `after` was refused, so that a stream has no holes.
    """

    key: SessionKey
    user_id: str
    drafts: Sequence[Draft]
    expected_sequence: int | None = None
    after: Predecessor | None = None

    def check_predecessor(self) -> None:
        if self.after is not None and self.after.error is not None:
            raise Unavailable("an earlier message of the same stream was refused")


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
    """A message's encoding after a change of what is known about it."""

    body: bytes
    flags: int
    score: float | None


@dataclass(frozen=True, slots=True)
class UpdateMessage:
    """Change what is known about one message. `revise` is pure; it is given each stored encoding of the message."""

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
    """Take messages out of the window, and show shortened ones in place of their originals.

    Only if the session still stands at `expected_version`; else Stale, and nothing is changed.
    """

    key: SessionKey
    expected_version: int
    removed: Sequence[int] = ()
    shortened: Sequence[StoredMessage] = ()


@dataclass(frozen=True, slots=True)
class UpdateWindowExclusive:
    """A Trim that is decided while nothing moves: `decide` is called when all before it is committed.

    It stands in everybody's way while it decides; for sessions that never hold still.
    """

    key: SessionKey
    decide: Callable[[], UpdateWindow]


@dataclass(frozen=True, slots=True)
class WindowUpdated:
    head: SessionHead


@dataclass(frozen=True, slots=True)
class Erase:
    """Erase a session's messages from every file; with `whole`, the session, its policy, documents and notes, too.

    In both cases with all notes that were made of it, whoever owns them: those with it as their source, and its user's
    patterns, which are made of all that user said.

    Without `whole` the sequences go on where they were. Settled only when nothing of it can be read from disk.
    """

    key: SessionKey
    user_id: str
    delete_session: bool = False


class ErasureCounts(NamedTuple):
    """How much goes with a session: messages pruned or not, notes current or superseded, documents and their chunks."""

    messages: int = 0
    facts: int = 0
    summaries: int = 0
    artifacts: int = 0
    patterns: int = 0
    documents: int = 0
    chunks: int = 0


@dataclass(frozen=True, slots=True)
class Erased:
    """`head` is where the session stands now; None where it is gone, or never was."""

    head: SessionHead | None
    counts: ErasureCounts


@dataclass(frozen=True, slots=True)
class Claim:
    """Make a session where there is none, and one that is nobody's this user's; its head is the answer.

    NotYourSession where it is another's. An empty `user_id` claims it for nobody.
    """

    key: SessionKey
    user_id: str


@dataclass(frozen=True, slots=True)
class SetPolicy:
    """Set a session's policy, or with an empty session id the namespace's default; None: back to none."""

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
    """Correct the estimates for a model. `step` is pure, so that two reports at once both count."""

    namespace: str
    model: str
    step: Callable[[Calibration], Calibration]


@dataclass(frozen=True, slots=True)
class AdvanceWatermark:
    """Remember up to which lsn a background task has come in a namespace; never moves back by itself."""

    task: str
    namespace: str
    lsn: int


@dataclass(frozen=True, slots=True)
class AddDeadLetter:
    """Remember that a task goes on without this entry of the log; the same again does nothing."""

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
    | Claim
    | SetPolicy
    | Calibrate
    | AdvanceWatermark
    | AddDeadLetter
    | PutDocument
    | DeleteDocument
    | UpsertRecords
    | DeleteRecord
)


class VersionConflict(SidecarError):
    """The session has moved on since the plan was made; plan again. Never leaves the layers."""


@dataclass(frozen=True, slots=True)
class CommitEvent:
    """What one committed command did to a session's window; `head` is None when the session is gone.

    `reload` says that the window changed in a way that is not told here. Every erasure is told so, that of a session of
    which there were only notes included. With an empty session id, a document of the namespace came, changed or went.
    """

    key: SessionKey
    head: SessionHead | None
    appended: Sequence[StoredMessage] = ()
    removed: Sequence[int] = ()
    replaced: Sequence[StoredMessage] = ()
    reload: bool = False


class PendingCommand:
    """A command on its way. `settled` is called once, on the journal's thread, when it is durable or refused.

    It must not raise: others wait behind it for their own answer.
    """

    __slots__ = ("_gate", "_settled", "command", "done", "error", "result")

    def __init__(self, command: Command, settled: Callable[["PendingCommand"], None] | None = None) -> None:
        self.command = command
        self.result: Any = None
        self.error: BaseException | None = None
        self.done = False
        self._settled = settled
        self._gate: threading.Lock | None = None
        if settled is None:
            self._gate = threading.Lock()
            self._gate.acquire()

    def complete(self, result: Any = None, error: BaseException | None = None) -> None:
        self.result, self.error, self.done = result, error, True
        if self._gate is not None:
            self._gate.release()
        elif self._settled is not None:
            self._settled(self)

    def wait(self) -> Any:
        """Block until settled. Only for tickets without a `settled` callback, and only once."""
        assert self._gate is not None
        self._gate.acquire()
        return self.outcome()

    def outcome(self) -> Any:
        if self.error is not None:
            raise self.error
        return self.result
