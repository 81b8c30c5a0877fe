"""What ReadChanges yields."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from memsidecar.domain.message import StoredMessage
from memsidecar.domain.session import SessionKey
from memsidecar.stores.contract.documents import StoredDocument


class MessageWritten(NamedTuple):
    """A message as it was written and as it is known now (its score and metadata included), never shortened.

    `lsn` is the entry that is told of: the message itself, or a later annotation of it; `first_lsn` is the message's
    own. `session` is the session's number. `vector` is the caller's own, as float32 bytes.
    """

    lsn: int
    first_lsn: int
    session: int
    key: SessionKey
    user_id: str
    message: StoredMessage
    vector: bytes | None


class SessionClaimed(NamedTuple):
    """A session that had messages and no user has one now."""

    lsn: int
    session: int
    key: SessionKey
    user_id: str


class RowsErased(NamedTuple):
    """Everything that stood under this number before this entry is erased: a session's, or (negative) a document's."""

    lsn: int
    session: int


class DocumentWritten(NamedTuple):
    """A document was put, or put again: what stood under its number is gone. Only the newest put is told."""

    lsn: int
    document: StoredDocument


class NoOp(NamedTuple):
    """An entry that says nothing to those who follow, or whose content is gone: only its number counts."""

    lsn: int


class EndOfLog(NamedTuple):
    """Where the log ended when it was read: told last, and only to those who listen to a part of it."""

    lsn: int


LogEntry = MessageWritten | SessionClaimed | RowsErased | DocumentWritten | NoOp | EndOfLog


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """An entry that a task could not take, and why; the task goes on without it."""

    task: str
    namespace: str
    lsn: int
    reason: str
    time_us: int


class LogFilter(NamedTuple):
    """What is listened to: a user's messages, or those of one session (its number), or with neither the documents."""

    user_id: str = ""
    session: int = 0

    @property
    def documents(self) -> bool:
        return not (self.user_id or self.session)


LogEntries = Sequence[LogEntry]
MAX_BATCH_BYTES = 4 << 20
"More is not told at once, but for the entry that passes it; and a chapter that is put together grows no further."


def entry_bytes(told: LogEntry) -> int:
    """How much of what was put it carries."""
    if isinstance(told, MessageWritten):
        return len(told.message.body) + len(told.vector or b"")
    if isinstance(told, DocumentWritten):
        return sum(len(chunk.text) for chunk in told.document.chunks)
    return 0
