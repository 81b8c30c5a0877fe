"""Pages of a session's messages: which ranges of sequences a query reads, and where it ends."""

from collections.abc import Callable, Iterable, Sequence
from enum import Enum, auto
from typing import NamedTuple

from memsidecar.domain.message import StoredMessage
from memsidecar.domain.session import SessionHead
from memsidecar.stores.contract import MessageQuery


class RangeContent(Enum):
    """Which messages of a range are read: all, those in the window, or those of the system in the window."""

    ALL = auto()
    WINDOW = auto()
    SYSTEM = auto()


class SequenceRange(NamedTuple):
    """Messages with sequences strictly between `after` and `before`."""

    content: RangeContent
    after: int
    before: int


def read_ranges(
    head: SessionHead, query: MessageQuery, read: Callable[[SequenceRange], Iterable[StoredMessage]]
) -> tuple[list[StoredMessage], bool]:
    """Read the ranges of the session in order until the page is full; return whether `max_bytes` ended it."""
    if head.version == query.unless_version:
        return [], False
    found: list[StoredMessage] = []
    size = 0
    for sequences in _ranges(head, query):
        for message in read(sequences):
            size += len(message.body)
            if found and size > query.max_bytes:
                return found, True
            found.append(message)
            if len(found) == query.limit:
                return found, False
    return found, False


def _ranges(head: SessionHead, query: MessageQuery) -> Sequence[SequenceRange]:
    """Return the ranges to read: for the window, its system messages and what follows `window_start`.

    So the pruned past of a long session is not read.
    """
    before = head.last_sequence + 1 if query.before is None else query.before
    if query.include_pruned or not head.pruned_count:
        return (SequenceRange(RangeContent.ALL, query.after, before),)
    start = head.window_start
    old = SequenceRange(RangeContent.SYSTEM, query.after, min(before, start))
    recent = SequenceRange(RangeContent.WINDOW, max(query.after, start - 1), before)
    return (recent, old) if query.newest_first else (old, recent)
