"""What can be asked of a journal, and how it answers."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from memsidecar.domain.message import Stored
from memsidecar.domain.session import Head, SessionKey


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


class TwoWays(NamedTuple):
    """One message as it was written and as the window shows it, with the session's head of the same moment."""

    head: Head
    written: Stored
    shown: Stored


class Found(NamedTuple):
    """One message: where it first stood in the log, whose it is, and its whole text, never shortened."""

    lsn: int
    key: SessionKey
    message: Stored
    session: int
    user_id: str


@dataclass(frozen=True, slots=True)
class Scope:
    """Whose messages to scan: of a namespace, narrowed to a user, a session, or both."""

    namespace: str
    user_id: str = ""
    session_id: str = ""


@dataclass(frozen=True, slots=True)
class SessionPage:
    """Which sessions to list, newest activity first, after the one at (`last_active_us`, `session_id`)."""

    namespace: str
    user_id: str = ""
    limit: int = 100
    after: tuple[int, str] | None = None


@dataclass(frozen=True, slots=True)
class JournalFigures:
    """What a person who runs this wants to see."""

    last_lsn: int = 0
    wal_bytes: int = 0
    file_bytes: int = 0
