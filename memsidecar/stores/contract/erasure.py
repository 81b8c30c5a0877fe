"""Commands that erase messages, sessions and users, and what they report."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from memsidecar.domain.session import SessionHead, SessionKey
from memsidecar.stores.contract.records import Record


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


class ErasedSources(NamedTuple):
    """The messages of a session that a command erases: their ids and times.

    `exists` tells whether a message, by session id and message id, is stored and not erased by this command.
    """

    session_id: str
    ids: frozenset[str]
    times_us: frozenset[int]
    exists: Callable[[str, str], bool]


@dataclass(frozen=True, slots=True)
class Derivations:
    """How records rest on messages. The layers know it; the journal calls these pure functions when it erases.

    `concerns` tells whether a fact, by its body and time, may rest on an erased message. `revise_fact` returns a fact
    without the erased messages, the same fact if it rests on none of them, and None if it rests on nothing else.
    `covers` tells whether a summary was made from the message of a sequence. `artifact_key` is the conflict key of the
    artifacts that hold a message.
    """

    concerns: Callable[[bytes, int, ErasedSources], bool]
    revise_fact: Callable[[Record, ErasedSources], Record | None]
    covers: Callable[[Record, int], bool]
    artifact_key: Callable[[str], int]


@dataclass(frozen=True, slots=True)
class ForgetMessages:
    """Erase messages of a session from every file, all or nothing. Result: Erased, when none can be read from disk.

    NotFound if the session has no message with one of the ids. Sequences are not used again; the ids may be. The other
    messages of their exchanges are pruned, and no later result joins these exchanges. Records that rest on the
    messages alone are erased too, and the patterns of the session's user. The session counts as active no later than
    before.
    """

    key: SessionKey
    user_id: str
    message_ids: Sequence[str]
    derivations: Derivations


@dataclass(frozen=True, slots=True)
class ExpireMessages:
    """Erase messages of a session, by its row id and their sequences, as ForgetMessages does. Result: Erased.

    An exchange stays whole if one of its messages is not named, or `is_held` returns True for the body of one. So does
    a message for which it returns True. Messages that are gone are ignored. NotFound if the session is gone.
    """

    key: SessionKey
    session: int
    sequences: Sequence[int]
    derivations: Derivations
    is_held: Callable[[bytes], bool] | None = None


Erasure = Erase | EraseUser | ForgetMessages | ExpireMessages


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
