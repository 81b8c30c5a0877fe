"""Reads of documents, records, retention and archives."""

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TypeVar

from psycopg import Connection

from memsidecar.domain.session import SessionHead
from memsidecar.stores.contract import (
    ArchivePage,
    ArchivePosition,
    ChunksByPlace,
    DocumentQuery,
    EraseUser,
    Erasure,
    ErasureCounts,
    ExpiredMessages,
    ExpiryQuery,
    Owner,
    Record,
    RecordKind,
    RecordQuery,
    Scope,
    StoredDocument,
)
from memsidecar.stores.postgres import archive, document_rows, record_rows, retention
from memsidecar.stores.postgres.connection import ReadPool
from memsidecar.stores.postgres.erase import read_erasure_counts
from memsidecar.stores.postgres.publication import Publication

T = TypeVar("T")


class KnowledgeReads:
    """The reads of `PostgresJournal` of what sessions and users own, each from one snapshot of the database.

    What retention and exports read is in no cache of this process: they do not wait for its publication.
    """

    _pool: ReadPool
    _publication: Publication

    def _read(self, namespace: str, read: Callable[[Connection], T]) -> T:
        """Return what one statement reads, when all that it may have seen of the namespace is published."""
        result = self._pool.read(read)
        self._publication.wait_for_current(namespace)
        return result

    def erasure_counts(self, command: Erasure) -> ErasureCounts:
        counts = self._pool.read_snapshot(lambda snapshot: read_erasure_counts(snapshot, command))
        self._publication.wait_for_current(
            command.namespace if isinstance(command, EraseUser) else command.key.namespace
        )
        return counts

    def owner_versions(self, owners: Collection[Owner]) -> Mapping[Owner, int]:
        return self._pool.read(lambda connection: record_rows.find_owner_versions(connection, owners))

    def document(self, owner: Owner, document_id: str) -> StoredDocument | None:
        return self._read(
            owner.namespace, lambda connection: document_rows.find_document(connection, owner, document_id)
        )

    def documents(self, query: DocumentQuery) -> Sequence[StoredDocument]:
        return self._read(query.owner.namespace, lambda connection: document_rows.list_documents(connection, query))

    def find_chunks(self, namespace: str, places: Sequence[tuple[int, int]]) -> ChunksByPlace:
        return self._read(namespace, lambda connection: document_rows.find_chunks(connection, namespace, places))

    def record(self, owner: Owner, kind: RecordKind, record_id: str) -> Record | None:
        found = self._read(
            owner.namespace, lambda connection: record_rows.find_record(connection, owner, kind, record_id)
        )
        return found.record if found else None

    def records(self, query: RecordQuery) -> Sequence[Record]:
        return self._read(query.owner.namespace, lambda connection: record_rows.list_records(connection, query))

    def sessions_after(self, row_id: int, limit: int) -> Sequence[SessionHead]:
        return self._pool.read(lambda connection: retention.find_sessions_after(connection, row_id, limit))

    def expiry_boundary(self, session: int, query: ExpiryQuery) -> int:
        return self._pool.read_snapshot(lambda snapshot: retention.find_boundary(snapshot, session, query))

    def expired_messages(self, session: int, boundary: int, after: int, limit: int) -> ExpiredMessages:
        return self._pool.read_snapshot(
            lambda snapshot: retention.find_expired_messages(snapshot, session, boundary, after, limit)
        )

    def record_owners(self, after: Owner | None, limit: int) -> Sequence[Owner]:
        return self._pool.read(lambda connection: retention.find_record_owners(connection, after, limit))

    def document_owners(self, after: Owner | None, limit: int) -> Sequence[Owner]:
        return self._pool.read(lambda connection: retention.find_document_owners(connection, after, limit))

    def expired_records(self, owner: Owner, kind: RecordKind, query: ExpiryQuery) -> Sequence[Record]:
        return self._pool.read_snapshot(lambda snapshot: retention.find_expired_records(snapshot, owner, kind, query))

    def expired_documents(self, owner: Owner, query: ExpiryQuery) -> Sequence[StoredDocument]:
        return self._pool.read_snapshot(lambda snapshot: retention.find_expired_documents(snapshot, owner, query))

    def has_retention_policies(self) -> bool:
        return self._pool.read(retention.has_retention_policies)

    def archive_position(self, namespace: str) -> ArchivePosition:
        now_us = time.time_ns() // 1000
        return self._read(namespace, lambda connection: archive.read_position(connection, namespace, now_us))

    def archived_sessions(
        self, scope: Scope, position: ArchivePosition, after_id: str, limit: int
    ) -> Sequence[SessionHead]:
        return self._pool.read(lambda connection: archive.read_sessions(connection, scope, position, after_id, limit))

    def archived_records(self, scope: Scope, position: ArchivePosition, after: int) -> ArchivePage:
        return self._pool.read(lambda connection: archive.read_records(connection, scope, position, after))

    def archived_messages(self, scope: Scope, position: ArchivePosition, after_lsn: int) -> ArchivePage:
        return self._pool.read(lambda connection: archive.read_messages(connection, scope, position, after_lsn))

    def archived_documents(self, scope: Scope, position: ArchivePosition, after: int) -> ArchivePage:
        return self._pool.read_snapshot(lambda snapshot: archive.read_document(snapshot, scope, position, after))
