"""What a journal promises. `tests/conformance/` holds every implementation to it.

The journal is a log: one number, the lsn, for each entry, whatever its kind, growing by the order of commits.
Writers hand in commands and wait; readers see every command that has been answered, at once, whole or not at all.
"""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from memsidecar.domain.errors import SidecarError
from memsidecar.domain.message import Draft, Stored
from memsidecar.domain.session import Head, Policy, SessionKey


@dataclass(frozen=True, slots=True)
class Append:
    """Append messages of one session, all or nothing.

    Known ids with the same fingerprint are answered as duplicates, before `expected_sequence` is compared.
    An answer to a call that was pruned brings the call's exchange back into the window: they are never apart.
    """

    key: SessionKey
    user_id: str
    drafts: Sequence[Draft]
    expected_sequence: int | None = None


class Added(NamedTuple):
    id: str
    sequence: int
    tokens: int
    duplicate: bool


@dataclass(frozen=True, slots=True)
class Appended:
    head: Head
    results: Sequence[Added]


@dataclass(frozen=True, slots=True)
class Revision:
    """A message's encoding after a change of what is known about it."""

    body: bytes
    flags: int
    score: float | None


@dataclass(frozen=True, slots=True)
class Rewrite:
    """Change what is known about one message. `revise` is pure; it is given each stored encoding of the message."""

    key: SessionKey
    user_id: str
    message_id: str
    revise: Callable[[Stored], Revision]


@dataclass(frozen=True, slots=True)
class Rewritten:
    head: Head
    message: Stored


@dataclass(frozen=True, slots=True)
class Trim:
    """Take messages out of the window, and show shortened ones in place of their originals.

    Only if the session still stands at `expected_version`; else Stale, and nothing is changed.
    """

    key: SessionKey
    expected_version: int
    removed: Sequence[int] = ()
    shortened: Sequence[Stored] = ()


@dataclass(frozen=True, slots=True)
class TrimNow:
    """A Trim that is decided while nothing moves: `decide` is called when all before it is committed.

    It stands in everybody's way while it decides; for sessions that never hold still.
    """

    key: SessionKey
    decide: Callable[[], Trim]


@dataclass(frozen=True, slots=True)
class Trimmed:
    head: Head


@dataclass(frozen=True, slots=True)
class Erase:
    """Erase a session's messages from every file; with `whole`, the session and its policy, too.

    Without `whole` the sequences go on where they were. Settled only when nothing of it can be read from disk.
    """

    key: SessionKey
    user_id: str
    whole: bool = False


@dataclass(frozen=True, slots=True)
class Erased:
    head: Head | None
    removed_count: int


@dataclass(frozen=True, slots=True)
class SetPolicy:
    """Set a session's policy, or with an empty session id the namespace's default; None: back to none."""

    key: SessionKey
    user_id: str
    policy: Policy | None


@dataclass(frozen=True, slots=True)
class PolicySet:
    head: Head | None


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
class Advance:
    """Remember up to which lsn a background task has come in a namespace; never moves back by itself."""

    task: str
    namespace: str
    lsn: int


Command = Append | Rewrite | Trim | TrimNow | Erase | SetPolicy | Calibrate | Advance


class Stale(SidecarError):
    """The session has moved on since the plan was made; plan again. Never leaves the layers."""


class Ticket:
    """A command on its way. `settled` is called once, on the journal's thread, when it is durable or refused.

    It must not raise: others wait behind it for their own answer.
    """

    __slots__ = ("_gate", "_settled", "command", "done", "error", "result")

    def __init__(self, command: Command, settled: Callable[["Ticket"], None] | None = None) -> None:
        self.command = command
        self.result: Any = None
        self.error: BaseException | None = None
        self.done = False
        self._settled = settled
        self._gate: threading.Lock | None = None
        if settled is None:
            self._gate = threading.Lock()
            self._gate.acquire()

    def settle(self, result: Any = None, error: BaseException | None = None) -> None:
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


@dataclass(frozen=True, slots=True)
class Change:
    """What one committed command did to a session's window; `head` is None when the session is gone.

    `reload` says that the window changed in a way that is not told here.
    """

    key: SessionKey
    head: Head | None
    appended: Sequence[Stored] = ()
    removed: Sequence[int] = ()
    replaced: Sequence[Stored] = ()
    reload: bool = False


@dataclass(frozen=True, slots=True)
class Selection:
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
class Page:
    """Messages as of one moment, with the session's head of the same moment (None: there is no such session).

    `cut` says that `max_bytes` ended the page before `limit` did.
    """

    head: Head | None
    messages: Sequence[Stored] = ()
    cut: bool = False


class Found(NamedTuple):
    """One message met by a scan: where it stands in the log, and as it was first written, never shortened."""

    lsn: int
    key: SessionKey
    message: Stored


@dataclass(frozen=True, slots=True)
class Scope:
    """Whose messages to scan: of a namespace, narrowed to a user, a session, or both."""

    namespace: str
    user_id: str = ""
    session_id: str = ""


@dataclass(frozen=True, slots=True)
class SessionPage:
    """Which sessions to list, newest activity first, after the one at (`last_active_us`, `number`)."""

    namespace: str
    user_id: str = ""
    limit: int = 100
    after: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class JournalFigures:
    """What a person who runs this wants to see."""

    last_lsn: int = 0
    wal_bytes: int = 0
    file_bytes: int = 0
    extra: dict[str, int] = field(default_factory=dict)


class Journal(Protocol):
    """The truth. Thread-safe: any method from any thread."""

    def submit(self, ticket: Ticket) -> None:
        """Take a command. Its ticket is settled once, in any case.

        Commands of one session take effect in the order of submission. When a ticket is settled without an
        error, its effect survives power loss and every later read sees it. When it is settled with one, nothing
        has changed; a refused command never spoils another. Raises ShuttingDown after close().
        """

    def listen(self, listener: Callable[[Sequence[Change]], None]) -> None:
        """Call `listener` on the journal's own thread with each change: after it is durable, before it is answered."""

    def head(self, key: SessionKey) -> Head | None:
        """Where the session stands; None when there is none."""

    def messages(self, key: SessionKey, selection: Selection) -> Page:
        """Read messages of one session as of one moment. Absent session: an empty page without a head."""

    def exchange_end(self, key: SessionKey, exchange: int) -> int:
        """The sequence of the last message of the exchange that is in the window; 0 when none is."""

    def scan(self, scope: Scope, before_lsn: int | None, limit: int) -> Sequence[Found]:
        """Messages of a scope, pruned ones included, newest first, below `before_lsn`."""

    def sessions(self, page: SessionPage) -> Sequence[Head]:
        """Sessions, newest activity first."""

    def default_policy(self, namespace: str) -> Policy | None:
        """The namespace's policy for sessions that have none of their own."""

    def calibration(self, namespace: str, model: str) -> Calibration:
        """What was learned about a model's estimates; factor 1 when nothing was."""

    def watermark(self, task: str, namespace: str) -> int:
        """Up to which lsn a task has come; 0 when it has not begun."""

    def figures(self) -> JournalFigures:
        """Sizes and counts, for logs and metrics."""

    def close(self) -> None:
        """Settle what was submitted, then close. Calling it again does nothing."""
