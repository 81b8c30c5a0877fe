"""Commands that erase sessions and users, and what they report."""

from dataclasses import dataclass
from typing import NamedTuple

from memsidecar.domain.session import SessionHead, SessionKey


@dataclass(frozen=True, slots=True)
class Erase:
    """Erase a session's messages from every file. Result: Erased, when nothing of them can be read from disk.

    Records derived from the session are erased too: those with it as their source, and its user's patterns.
    With `delete_session` also the session, its policy, documents and records (NotFound if there is nothing).
    Without it the session stays and its sequences continue.
    """

    key: SessionKey
    user_id: str
    delete_session: bool = False


@dataclass(frozen=True, slots=True)
class EraseUser:
    """Erase a user from every file, all or nothing: sessions as `Erase` deletes them, documents, records.

    Result: Erased without a head, when nothing of it can be read from disk. An unknown user is no error.
    """

    namespace: str
    user_id: str


class ErasureCounts(NamedTuple):
    """What an erasure removes: messages pruned or not, records current or not, documents and their chunks.

    `sessions` are those that are deleted; a session of which there were only documents and records counts, too.
    """

    messages: int = 0
    facts: int = 0
    summaries: int = 0
    artifacts: int = 0
    patterns: int = 0
    documents: int = 0
    chunks: int = 0
    sessions: int = 0


@dataclass(frozen=True, slots=True)
class Erased:
    """`head` is the session's new head; None if the session was deleted or did not exist."""

    head: SessionHead | None
    counts: ErasureCounts
