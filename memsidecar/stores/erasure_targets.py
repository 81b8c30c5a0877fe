"""What an erasure of a session or a user removes besides messages: documents and records, with the counts of all."""

from collections import Counter
from collections.abc import Sequence
from typing import Generic, NamedTuple, Protocol, TypeVar

from memsidecar.domain.errors import NotFound
from memsidecar.domain.session import SessionHead
from memsidecar.stores.contract import Erase, ErasureCounts, RecordKind
from memsidecar.stores.record_plan import RecordPlace


class ErasableDocument(Protocol):
    """The rows of a document, as a store finds them."""

    @property
    def chunk_count(self) -> int: ...


D = TypeVar("D", bound=ErasableDocument)
P = TypeVar("P", bound=RecordPlace)


class ErasureTargets(NamedTuple, Generic[D, P]):
    documents: Sequence[D]
    records: Sequence[P]
    counts: ErasureCounts


def session_targets(
    command: Erase, head: SessionHead | None, documents: Sequence[D], records: Sequence[P]
) -> ErasureTargets[D, P]:
    """Return the targets of an erasure of the session at `head`.

    Without a head there may still be documents and records that came before their session; NotFound if not.
    """
    if command.delete_session and head is None and not documents and not records:
        raise NotFound(f"there is no session {command.key.session_id!r}")
    messages = head.message_count + head.pruned_count if head else 0
    counts = count_erased(records, messages=messages, sessions=int(command.delete_session), documents=documents)
    return ErasureTargets(documents, records, counts)


class UserSession(NamedTuple):
    """A session of a user, with all its messages and what it counts for the quota."""

    row_id: int
    session_id: str
    bytes: int
    messages: int


def user_targets(sessions: Sequence[UserSession], documents: Sequence[D], records: Sequence[P]) -> ErasureTargets[D, P]:
    messages = sum(session.messages for session in sessions)
    counts = count_erased(records, messages=messages, sessions=len(sessions), documents=documents)
    return ErasureTargets(documents, records, counts)


def count_erased(
    records: Sequence[RecordPlace],
    *,
    messages: int,
    sessions: int = 0,
    documents: Sequence[ErasableDocument] = (),
) -> ErasureCounts:
    kinds = Counter(record.kind for record in records)
    return ErasureCounts(
        messages=messages,
        facts=kinds[RecordKind.FACT],
        summaries=kinds[RecordKind.SUMMARY],
        artifacts=kinds[RecordKind.ARTIFACT],
        patterns=kinds[RecordKind.PATTERNS],
        documents=len(documents),
        chunks=sum(document.chunk_count for document in documents),
        sessions=sessions,
    )


def cleared_head(head: SessionHead, empty: SessionHead) -> SessionHead:
    """Give the empty session, with a new row id, what a cleared one keeps: message ids are free, sequences continue."""
    empty.version, empty.last_sequence = head.version, head.last_sequence
    empty.window_start = head.last_sequence + 1
    empty.create_time_us = head.create_time_us
    empty.policy, empty.default_policy = head.policy, head.default_policy
    return empty
