"""Expiry: one run over all sessions and owners erases what exceeds its limits, in small groups."""

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol, TypeVar

from memsidecar.domain.errors import NotFound, ShuttingDown, SidecarError
from memsidecar.domain.retention import Retention, RetentionLimit
from memsidecar.domain.session import SessionHead, SessionKey
from memsidecar.layers.retention.legal_hold import HoldCheck
from memsidecar.stores.contract import (
    DeleteDocument,
    Derivations,
    Erased,
    ExpireMessages,
    ExpiryQuery,
    Journal,
    Owner,
    Record,
    RecordChanges,
    RecordKind,
    UpsertRecords,
    submit_and_wait,
)

log = logging.getLogger(__name__)

T = TypeVar("T")

GROUP_MESSAGES = 256
"""Messages that one commit erases. Other writes wait for it, and for its purge. Both take a few fsyncs, whatever the
number is, so that few large groups delay fewer writes than many small ones."""
GROUP_RECORDS = 16
_PAGE_SESSIONS, _PAGE_OWNERS = 200, 200


class RetentionRules(Protocol):
    """The retention in force."""

    def retention_of(self, head: SessionHead) -> Retention: ...

    def retention_in(self, namespace: str) -> Retention:
        """Return the retention of what belongs to no session: of users and of the namespace itself."""


RecordEraser = Callable[[UpsertRecords], object]
"Applies a command that deletes records, and invalidates the caches of their layer."


@dataclass
class ExpiryCounts:
    """What a run has erased. Facts, summaries and artifacts of erased messages count, too."""

    messages: int = 0
    facts: int = 0
    summaries: int = 0
    artifacts: int = 0
    documents: int = 0

    def __bool__(self) -> bool:
        return any(vars(self).values())


@dataclass(frozen=True)
class Expiry:
    """Erases what exceeds its limits at a time. `pause` is called after each group; it raises ShuttingDown at the end.

    `erase` has the function for each kind of records; `is_kept` tells which records of a kind never expire.
    """

    journal: Journal
    rules: RetentionRules
    derivations: Derivations
    erase: Mapping[RecordKind, RecordEraser]
    is_kept: Callable[[RecordKind, Record], bool]
    is_held: HoldCheck | None
    pause: Callable[[], None] = lambda: None
    counts: ExpiryCounts = field(default_factory=ExpiryCounts)

    def run(self, now_us: int) -> ExpiryCounts:
        """Examine all sessions and owners once. What cannot be erased is left to the next run."""
        for head in self._sessions():
            self._attempt(self._expire_messages, head, now_us)
        for owner in self._owners(self.journal.record_owners):
            self._attempt(self._expire_records_of, owner, now_us)
        for owner in self._owners(self.journal.document_owners):
            self._attempt(self._expire_documents, owner, now_us)
        return self.counts

    def _attempt(self, expire: Callable[[T, int], None], owner: T, now_us: int) -> None:
        try:
            expire(owner, now_us)
        except ShuttingDown:
            raise
        except NotFound:
            log.debug("retention: erased meanwhile by a call")
        except SidecarError as error:
            log.warning("retention: a session or owner is left to the next run: %s", type(error).__name__)

    def _sessions(self) -> Iterator[SessionHead]:
        after = 0
        while page := self.journal.sessions_after(after, _PAGE_SESSIONS):
            yield from page
            after = page[-1].row_id
            self.pause()

    def _owners(self, read: Callable[[Owner | None, int], Sequence[Owner]]) -> Iterator[Owner]:
        after: Owner | None = None
        while page := read(after, _PAGE_OWNERS):
            yield from page
            after = page[-1]
            self.pause()

    def _expire_messages(self, head: SessionHead, now_us: int) -> None:
        limit = self.rules.retention_of(head).messages
        if not limit or not head.message_count + head.pruned_count:
            return
        boundary = self.journal.expiry_boundary(head.row_id, _query(limit, now_us))
        after, more = 0, boundary > 0
        while more and self._is_in_force(head, limit):
            page = self.journal.expired_messages(head.row_id, boundary, after, GROUP_MESSAGES)
            if page.sequences:
                self._erase_messages(head, page.sequences)
            after, more = page.last, page.last > 0

    def _is_in_force(self, head: SessionHead, limit: RetentionLimit) -> bool:
        """Tell whether no call has changed the limit since the session was listed; else the next run examines it."""
        current = self.journal.head(head.key)
        return current is not None and self.rules.retention_of(current).messages == limit

    def _erase_messages(self, head: SessionHead, sequences: Sequence[int]) -> None:
        command = ExpireMessages(head.key, head.row_id, sequences, self.derivations, self.is_held)
        erased: Erased = submit_and_wait(self.journal, command)
        for name in ("messages", "facts", "summaries", "artifacts"):
            setattr(self.counts, name, getattr(self.counts, name) + getattr(erased.counts, name))
        self.pause()

    def _expire_records_of(self, owner: Owner, now_us: int) -> None:
        retention = self._retention_of(owner)
        self.counts.facts += self._expire_records(owner, RecordKind.FACT, retention.facts, now_us)
        if owner.session_id:
            self.counts.artifacts += self._expire_records(owner, RecordKind.ARTIFACT, retention.artifacts, now_us)

    def _retention_of(self, owner: Owner) -> Retention:
        head = self.journal.head(SessionKey(owner.namespace, owner.session_id)) if owner.session_id else None
        return self.rules.retention_of(head) if head else self.rules.retention_in(owner.namespace)

    def _expire_records(self, owner: Owner, kind: RecordKind, limit: RetentionLimit, now_us: int) -> int:
        count, query = 0, replace(_query(limit, now_us), limit=GROUP_RECORDS)
        while limit and (page := self.journal.expired_records(owner, kind, query)):
            expired = {record.id: record for record in page if not self.is_kept(kind, record)}
            if expired:
                count += self._erase_records(owner, kind, expired)
            query = replace(query, after=(page[-1].time_us, page[-1].id))
        return count

    def _erase_records(self, owner: Owner, kind: RecordKind, expired: dict[str, Record]) -> int:
        deleted: list[str] = []

        def delete_unchanged(records: Sequence[Record]) -> RecordChanges:
            deleted[:] = [record.id for record in records if expired.get(record.id) == record]
            return RecordChanges(deletes=deleted)

        keys = sorted({record.conflict_key for record in expired.values()})
        self.erase[kind](UpsertRecords(owner, kind, keys, delete_unchanged))
        self.pause()
        return len(deleted)

    def _expire_documents(self, owner: Owner, now_us: int) -> None:
        limit = self._retention_of(owner).documents
        query = replace(_query(limit, now_us), limit=GROUP_RECORDS)
        while limit and (page := self.journal.expired_documents(owner, query)):
            for document in page:
                submit_and_wait(self.journal, DeleteDocument(owner, document.id, document.version))
                self.counts.documents += 1
                self.pause()
            query = replace(query, after=(page[-1].create_time_us, page[-1].id))


def _query(limit: RetentionLimit, now_us: int) -> ExpiryQuery:
    return ExpiryQuery(limit.cutoff_us(now_us), limit.max_count)
