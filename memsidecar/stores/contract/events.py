"""Events: the entries of the log as `EventFeed.read_events` returns them, without the content of messages."""

from collections.abc import Callable, Collection, Sequence
from enum import Enum, auto
from typing import NamedTuple

from memsidecar.stores.contract.documents import Owner


class EventKind(Enum):
    ADDED = auto()
    PRUNED = auto()
    CLEARED = auto()
    ANNOTATED = auto()
    FACT = auto()
    SUMMARY = auto()
    FORGOTTEN = auto()


class Event(NamedTuple):
    """A change of a session, a user or a namespace. `time_us` is when it was committed.

    ADDED and ANNOTATED have the message's sequence and id, PRUNED the newest sequence, SUMMARY the sequence up to which
    the summary goes. FACT and SUMMARY have the record's id while the record exists. Other events have neither.

    The user is that of the session at the time of the read. FORGOTTEN has no names, because the log keeps none of what
    was erased; CLEARED has them unless the session was cleared again, or deleted, later.
    """

    lsn: int
    kind: EventKind
    user_id: str
    session_id: str
    sequence: int
    id: str
    time_us: int

    @property
    def is_nameless_erasure(self) -> bool:
        return self.kind in (EventKind.CLEARED, EventKind.FORGOTTEN) and not (self.user_id or self.session_id)


class EventPage(NamedTuple):
    """Events in commit order. The next page begins after `lsn`; `is_last` if there was nothing after it."""

    events: Sequence[Event]
    lsn: int
    is_last: bool


class ErasedNames(NamedTuple):
    """The names that the log entry of an erasure does not have. `owner` is a session with its user, or a user."""

    lsn: int
    owner: Owner


class LogChanges(NamedTuple):
    """The namespaces in which one commit may have added entries to the log, and its erasures, by lsn.

    `erases` if one of its commands is an erasure: events that were read before may name what was erased.
    """

    namespaces: Collection[str]
    erasures: Sequence[ErasedNames]
    erases: bool


LogListener = Callable[[LogChanges], None]
