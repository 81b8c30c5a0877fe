"""Expiry: one run over all sessions and owners erases what exceeds its limits, in small groups."""

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from memsidecar.domain.errors import NotFound, ShuttingDown, SidecarError
from memsidecar.domain.retention import Retention, RetentionLimit
from memsidecar.domain.session import SessionHead, SessionKey
from memsidecar.layers.retention.legal_hold import HoldCheck
from memsidecar.stores.contract import (
    Command,
    DeleteDocument,
    Derivations,
    Erased,
    ExpireMessages,
    ExpiryQuery,
    Journal,
    Owner,
    PendingCommand,
    Record,
    RecordChanges,
    RecordKind,
    UpsertRecords,
)

log = logging.getLogger(__name__)

GROUP_MESSAGES = 256
"""Messages that are erased between two pauses. Other writes wait for the commit, and for its purge. Both take a few
fsyncs, whatever the number is, so that few large groups delay fewer writes than many small ones."""
GROUP_SESSIONS = 8
"""Sessions whose messages are erased between two pauses: each in a commit of its own, all with one purge. Other writes
wait for all of these commits."""
GROUP_RECORDS = {RecordKind.FACT: 64, RecordKind.ARTIFACT: 16}
"Records that one commit erases. An artifact may be large."
GROUP_DOCUMENTS = 8
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
    _due: list[ExpireMessages] = field(default_factory=list)

    def run(self, now_us: int) -> ExpiryCounts:
        """Examine all sessions and owners once. What cannot be erased is left to the next run."""
        for heads in self._session_pages():
            for head in heads:
                self._attempt(self._expire_messages, head, now_us)
            self._erase_due_messages()
            self.pause()
        for owner in self._owners(self.journal.record_owners):
            self._attempt(self._expire_records_of, owner, now_us)
        for owner in self._owners(self.journal.document_owners):
            self._attempt(self._expire_documents, owner, now_us)
        return self.counts

    def _attempt(self, expire: Callable[..., None], *arguments: Any) -> None:
        try:
            expire(*arguments)
        except ShuttingDown:
            raise
        except NotFound:
            log.debug("retention: erased meanwhile by a call")
        except SidecarError as error:
            log.warning("retention: a session or owner is left to the next run: %s", type(error).__name__)

    def _session_pages(self) -> Iterator[Sequence[SessionHead]]:
        after = 0
        while page := self.journal.sessions_after(after, _PAGE_SESSIONS):
            yield page
            after = page[-1].row_id

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
        while more:
            page = self.journal.expired_messages(head.row_id, boundary, after, GROUP_MESSAGES)
            if page.sequences:
                self._make_room(len(page.sequences))
                if not self._is_in_force(head, limit):
                    return
                self._due.append(ExpireMessages(head.key, head.row_id, page.sequences, self.derivations, self.is_held))
            after, more = page.last, page.last > 0

    def _is_in_force(self, head: SessionHead, limit: RetentionLimit) -> bool:
        """Tell whether no call has changed the limit since the session was listed; else the next run examines it."""
        current = self.journal.head(head.key)
        return current is not None and self.rules.retention_of(current).messages == limit

    def _make_room(self, count: int) -> None:
        """Erase the messages that are due, if as many more would be too large a group."""
        messages = sum(len(command.sequences) for command in self._due)
        if len(self._due) == GROUP_SESSIONS or messages + count > GROUP_MESSAGES:
            self._erase_due_messages()

    def _erase_due_messages(self) -> None:
        self._erase_together(self._due, self._count_messages)
        self._due.clear()

    def _count_messages(self, erased: Erased) -> None:
        for name in ("messages", "facts", "summaries", "artifacts"):
            setattr(self.counts, name, getattr(self.counts, name) + getattr(erased.counts, name))

    def _erase_together(self, commands: Sequence[Command], count: Callable[[Any], None]) -> None:
        """Submit the commands at once, so that they share a purge; count the results, and pause."""
        pending = [PendingCommand(command) for command in commands]
        for each in pending:
            self.journal.submit(each)
        for each in pending:
            self._attempt(lambda erasure: count(erasure.wait()), each)
        if pending:
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
        count, query = 0, replace(_query(limit, now_us), limit=GROUP_RECORDS[kind])
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
        query = replace(_query(limit, now_us), limit=GROUP_DOCUMENTS)
        while limit and (page := self.journal.expired_documents(owner, query)):
            deletions = [DeleteDocument(owner, document.id, document.version) for document in page]
            self._erase_together(deletions, self._count_document)
            query = replace(query, after=(page[-1].create_time_us, page[-1].id))

    def _count_document(self, _: object) -> None:
        self.counts.documents += 1


def _query(limit: RetentionLimit, now_us: int) -> ExpiryQuery:
    return ExpiryQuery(limit.cutoff_us(now_us), limit.max_count)
