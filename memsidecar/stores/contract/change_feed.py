"""Entries of the change feed, and the filter on it.

Each entry of the log carries its lsn. Tasks and searches consume the feed with `ChangeFeed.read_changes`.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from memsidecar.domain.message import StoredMessage
from memsidecar.domain.session import SessionKey
from memsidecar.stores.contract.documents import StoredDocument

MAX_BATCH_BYTES = 4 << 20
"Limit on the content of one batch of entries. The entry that exceeds it is the last of its batch."

ANY_SIZE = sys.maxsize


class MessageWritten(NamedTuple):
    """A message was appended or annotated. `message` is the original, never a shortened version.

    The score and metadata are the current ones. `lsn` is the lsn of this entry: that of the message, or of an
    annotation of it. `first_lsn` is always that of the message. `session` is the session's row id. `vector` is the
    vector that the client sent, as float32 bytes.
    """

    lsn: int
    first_lsn: int
    session: int
    key: SessionKey
    user_id: str
    message: StoredMessage
    vector: bytes | None


class SessionClaimed(NamedTuple):
    """A session that had messages and no user got a user. `session` is its row id."""

    lsn: int
    session: int
    key: SessionKey
    user_id: str


class RowsErased(NamedTuple):
    """All rows of `session` that are older than this entry were erased.

    `session` is the row id of a session, or the negative row id of a document.
    """

    lsn: int
    session: int


class MessageErased(NamedTuple):
    """One message was erased. `session` is the row id of its session; `key` is None if that session is gone, too."""

    lsn: int
    session: int
    sequence: int
    key: SessionKey | None


class DocumentWritten(NamedTuple):
    """A document was put; the chunks of its earlier versions were erased. The feed has the newest put only."""

    lsn: int
    document: StoredDocument


class NoOp(NamedTuple):
    """An entry without meaning for consumers, or one whose content was erased. Consumers advance past its lsn."""

    lsn: int


class EndOfLog(NamedTuple):
    """The last lsn of the log at the time of the read. Only a filtered read returns it, as the last entry."""

    lsn: int


LogEntry = MessageWritten | SessionClaimed | RowsErased | MessageErased | DocumentWritten | NoOp | EndOfLog
LogEntries = Sequence[LogEntry]


class LogFilter(NamedTuple):
    """Restricts a read of the feed to a user's messages, or to one session's (by row id), or else to documents."""

    user_id: str = ""
    session: int = 0

    @property
    def documents(self) -> bool:
        return not (self.user_id or self.session)


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """An entry that a task could not process and skips from now on, with the reason."""

    task: str
    namespace: str
    lsn: int
    reason: str
    time_us: int


def entry_bytes(entry: LogEntry) -> int:
    """Return the size of the content that the entry carries."""
    if isinstance(entry, MessageWritten):
        return len(entry.message.body) + len(entry.vector or b"")
    if isinstance(entry, DocumentWritten):
        return sum(len(chunk.text) for chunk in entry.document.chunks)
    return 0
