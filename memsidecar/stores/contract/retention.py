"""Reads that find what exceeds the limits of a retention, oldest first and in small pages."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from memsidecar.domain.session import SessionHead
from memsidecar.stores.contract.documents import Owner, StoredDocument
from memsidecar.stores.contract.records import Record, RecordKind


@dataclass(frozen=True, slots=True)
class ExpiryQuery:
    """Items before `cutoff_us`, and all but the newest `keep` (0: no limit), after the place `after` (time, id)."""

    cutoff_us: int | None = None
    keep: int = 0
    after: tuple[int, str] | None = None
    limit: int = 100


class ExpiredMessages(NamedTuple):
    """Sequences of messages, whole exchanges only. The next page begins after the sequence `last`; 0 for no more."""

    sequences: Sequence[int]
    last: int


class RetentionReader(Protocol):
    def sessions_after(self, row_id: int, limit: int) -> Sequence[SessionHead]:
        """Return sessions of all namespaces in the order of their row ids."""

    def expiry_boundary(self, session: int, query: ExpiryQuery) -> int:
        """Return the sequence below which the messages of a session, by its row id, exceed the limits.

        The age of a message counts from its commit, because clients choose their own times. Sequences and commit times
        grow together. 0 if no message exceeds the limits.
        """

    def expired_messages(self, session: int, boundary: int, after: int, limit: int) -> ExpiredMessages:
        """Return messages after a sequence and below the boundary, oldest first, pruned ones included.

        An exchange is left out if its newest message is not below the boundary. About `limit` messages: all messages
        of their exchanges are added.
        """

    def record_owners(self, after: Owner | None, limit: int) -> Sequence[Owner]:
        """Return the owners of records, in the order of namespace, session and user."""

    def document_owners(self, after: Owner | None, limit: int) -> Sequence[Owner]:
        """Return the owners of documents, in the same order."""

    def expired_records(self, owner: Owner, kind: RecordKind, query: ExpiryQuery) -> Sequence[Record]:
        """Return an owner's records that exceed the limits by (time_us, id), oldest first, superseded ones included."""

    def expired_documents(self, owner: Owner, query: ExpiryQuery) -> Sequence[StoredDocument]:
        """Return an owner's documents that exceed the limits by (create_time_us, id), oldest first, without chunks."""

    def has_retention_policies(self) -> bool:
        """Return whether the policy of a session or a namespace has a retention."""
