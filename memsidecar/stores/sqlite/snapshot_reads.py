"""Reads that see one snapshot of the journal file: the log, documents, records, retention and archives."""

import sqlite3
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from memsidecar.domain.session import SessionHead
from memsidecar.stores.contract import (
    ANY_SIZE,
    ArchivePage,
    ArchivePosition,
    ChunksByPlace,
    DeadLetter,
    DocumentQuery,
    Erasure,
    ErasureCounts,
    EventPage,
    ExpiredMessages,
    ExpiryQuery,
    LocatedMessage,
    LogEntries,
    LogFilter,
    MessageWritten,
    Owner,
    Record,
    RecordKind,
    RecordQuery,
    Scope,
    StoredDocument,
    UserActivity,
    UserQuery,
)
from memsidecar.stores.sqlite import archive, change_feed, documents, events, record_rows, retention
from memsidecar.stores.sqlite.erase import read_erasure_counts
from memsidecar.stores.sqlite.task_state import find_calibrated_models, find_dead_letters
from memsidecar.stores.sqlite.users import list_users

T = TypeVar("T")


class SnapshotReads(ABC):
    """The reads of `SqliteJournal` that are one function of a snapshot each."""

    _path: Path

    @abstractmethod
    def _read(self, read: Callable[[sqlite3.Connection], T]) -> T:
        """Read from one snapshot, and return when that snapshot is published to all readers."""

    def erasure_counts(self, command: Erasure) -> ErasureCounts:
        return self._read(lambda snapshot: read_erasure_counts(snapshot, command))

    def users(self, query: UserQuery) -> Sequence[UserActivity]:
        return self._read(lambda snapshot: list_users(snapshot, query))

    def sequences_at(self, places: Sequence[tuple[SessionHead, int]]) -> Sequence[int]:
        return self._read(lambda snapshot: change_feed.find_sequences_at(snapshot, places))

    def last_lsns(self) -> Mapping[str, int]:
        return self._read(change_feed.read_last_lsns)

    def read_changes(
        self,
        namespace: str,
        after_lsn: int,
        limit: int,
        log_filter: LogFilter | None = None,
        *,
        max_message_bytes: int = ANY_SIZE,
    ) -> LogEntries:
        next_lsn: int | None = after_lsn
        entries: LogEntries = ()
        while next_lsn is not None and not entries:
            request = change_feed.FeedRequest(namespace, next_lsn, limit, log_filter, max_message_bytes)
            entries, next_lsn = self._read_page(request)
        return entries

    def _read_page(self, request: change_feed.FeedRequest) -> change_feed.FeedPage:
        return self._read(lambda snapshot: change_feed.read_page(snapshot, self._path, request))

    def read_session(self, session: int, after_sequence: int, limit: int) -> Sequence[MessageWritten]:
        return self._read(
            lambda snapshot: change_feed.read_session(snapshot, self._path, session, after_sequence, limit)
        )

    def get_by_lsn(self, namespace: str, lsns: Sequence[int]) -> Mapping[int, LocatedMessage]:
        return self._read(lambda snapshot: change_feed.get_by_lsn(snapshot, self._path, namespace, lsns))

    def read_events(self, scope: Scope, after_lsn: int, limit: int) -> EventPage:
        return self._read(lambda snapshot: events.read_page(snapshot, scope, after_lsn, limit))

    def owner_versions(self, owners: Collection[Owner]) -> Mapping[Owner, int]:
        return dict.fromkeys(owners, 0)

    def document(self, owner: Owner, document_id: str) -> StoredDocument | None:
        row = self._read(lambda snapshot: documents.find_document(snapshot, owner, document_id, self._path))
        return row.document if row else None

    def documents(self, query: DocumentQuery) -> Sequence[StoredDocument]:
        return self._read(lambda snapshot: documents.list_documents(snapshot, query, self._path))

    def find_chunks(self, namespace: str, places: Sequence[tuple[int, int]]) -> ChunksByPlace:
        return self._read(lambda snapshot: documents.find_chunks(snapshot, namespace, places, self._path))

    def record(self, owner: Owner, kind: RecordKind, record_id: str) -> Record | None:
        row = self._read(lambda snapshot: record_rows.find_record(snapshot, owner, kind, record_id))
        return row.record(self._path) if row else None

    def records(self, query: RecordQuery) -> Sequence[Record]:
        return self._read(lambda snapshot: record_rows.list_records(snapshot, query, self._path))

    def sessions_after(self, row_id: int, limit: int) -> Sequence[SessionHead]:
        return self._read(lambda snapshot: retention.find_sessions_after(snapshot, row_id, limit))

    def expiry_boundary(self, session: int, query: ExpiryQuery) -> int:
        return self._read(lambda snapshot: retention.find_boundary(snapshot, session, query))

    def expired_messages(self, session: int, boundary: int, after: int, limit: int) -> ExpiredMessages:
        return self._read(lambda snapshot: retention.find_expired_messages(snapshot, session, boundary, after, limit))

    def record_owners(self, after: Owner | None, limit: int) -> Sequence[Owner]:
        return self._read(lambda snapshot: retention.find_owners(snapshot, "records", after, limit))

    def document_owners(self, after: Owner | None, limit: int) -> Sequence[Owner]:
        return self._read(lambda snapshot: retention.find_owners(snapshot, "documents", after, limit))

    def expired_records(self, owner: Owner, kind: RecordKind, query: ExpiryQuery) -> Sequence[Record]:
        return self._read(lambda snapshot: retention.find_expired_records(snapshot, owner, kind, query, self._path))

    def expired_documents(self, owner: Owner, query: ExpiryQuery) -> Sequence[StoredDocument]:
        return self._read(lambda snapshot: retention.find_expired_documents(snapshot, owner, query, self._path))

    def has_retention_policies(self) -> bool:
        return self._read(retention.has_retention_policies)

    def dead_letters(self, task: str) -> Sequence[DeadLetter]:
        return self._read(lambda snapshot: find_dead_letters(snapshot, task))

    def archive_position(self, _namespace: str) -> ArchivePosition:
        return self._read(lambda snapshot: archive.read_position(snapshot, time.time_ns() // 1000))

    def archived_sessions(
        self, scope: Scope, position: ArchivePosition, after_id: str, limit: int
    ) -> Sequence[SessionHead]:
        return self._read(lambda snapshot: archive.read_sessions(snapshot, scope, position, after_id, limit))

    def archived_records(self, scope: Scope, position: ArchivePosition, after: int) -> ArchivePage:
        return self._read(lambda snapshot: archive.read_records(snapshot, self._path, scope, position, after))

    def archived_messages(self, scope: Scope, position: ArchivePosition, after_lsn: int) -> ArchivePage:
        return self._read(lambda snapshot: archive.read_messages(snapshot, self._path, scope, position, after_lsn))

    def archived_documents(self, scope: Scope, position: ArchivePosition, after: int) -> ArchivePage:
        return self._read(lambda snapshot: archive.read_document(snapshot, self._path, scope, position, after))

    def calibrated_models(self, namespace: str) -> Sequence[str]:
        return self._read(lambda snapshot: find_calibrated_models(snapshot, namespace))
