"""SqliteJournal: the journal in one SQLite file on a local disk."""

import logging
import sqlite3
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import TypeVar

from memsidecar.domain.errors import FatalStoreError, ShuttingDown
from memsidecar.domain.quota import QuotaLookup, Usage, no_quotas
from memsidecar.domain.session import Policy, SessionHead, SessionKey
from memsidecar.stores.contract import (
    ANY_SIZE,
    ArchivePage,
    ArchivePosition,
    Calibration,
    Chunk,
    CommitListener,
    DeadLetter,
    DocumentQuery,
    Erasure,
    ErasureCounts,
    EventPage,
    ExpiredMessages,
    ExpiryQuery,
    JournalStatistics,
    JournalStats,
    LocatedMessage,
    LogEntries,
    LogFilter,
    LogListener,
    MessagePage,
    MessageQuery,
    MessageVersions,
    MessageWritten,
    Owner,
    PendingCommand,
    Record,
    RecordKind,
    RecordQuery,
    Scope,
    SessionQuery,
    StoredDocument,
)
from memsidecar.stores.sqlite import archive, change_feed, documents, events, record_rows, retention
from memsidecar.stores.sqlite.bookkeeping import find_calibrated_models, find_dead_letters
from memsidecar.stores.sqlite.connection import translated
from memsidecar.stores.sqlite.data_dir import (
    Ballast,
    DirectoryLock,
    HighWaterMark,
    make_directory,
    warn_of_unsafe_filesystem,
)
from memsidecar.stores.sqlite.erase import read_erasure_counts
from memsidecar.stores.sqlite.group_commit import Committer
from memsidecar.stores.sqlite.integrity import FILE_NAME, open_with_room
from memsidecar.stores.sqlite.page_slack import SlackCleaner
from memsidecar.stores.sqlite.reader import Reader
from memsidecar.stores.sqlite.rows import last_lsn
from memsidecar.stores.sqlite.writer import Writer

log = logging.getLogger(__name__)

T = TypeVar("T")


def log_fatal(error: FatalStoreError) -> None:
    log.critical("the journal cannot continue: %s", error)


class SqliteJournal:
    """Implements `stores.contract.Journal` on one local disk."""

    def __init__(
        self,
        directory: Path,
        *,
        read_connections: int = 4,
        max_commit_delay_seconds: float = 0.004,
        checkpoint_bytes: int = 4 << 20,
        ballast_bytes: int = 8 << 20,
        quotas: QuotaLookup = no_quotas,
        on_fatal: Callable[[FatalStoreError], None] = log_fatal,
    ) -> None:
        make_directory(directory)
        warn_of_unsafe_filesystem(directory)
        self._path = directory / FILE_NAME
        self._on_fatal = on_fatal
        self.statistics = JournalStatistics()
        with ExitStack() as opened:
            lock = DirectoryLock(directory / "lock")
            opened.callback(lock.release)
            ballast = Ballast(directory / "ballast", ballast_bytes)
            mark = opened.enter_context(closing(HighWaterMark(directory / "journal.mark")))
            slack = opened.enter_context(closing(SlackCleaner(self._path)))
            connection = open_with_room(self._path, mark, ballast)
            opened.callback(ballast.restore)  # after the write-ahead log is deleted, so that the next start has room
            opened.enter_context(closing(connection))
            with translated(self._path):
                self._writer = Writer(
                    connection,
                    self._path,
                    mark,
                    ballast,
                    slack,
                    checkpoint_bytes=checkpoint_bytes,
                    quotas=quotas,
                    commits=self.statistics.commits,
                )
                reader = Reader(self._path, read_connections, self.statistics.read_seconds)
                self._reader = opened.enter_context(closing(reader))
            step, sizes = self._writer.purges.step, self.statistics.group_commands
            committer = Committer(self._writer.write, step, self._fail, max_commit_delay_seconds, sizes)
            self._committer = opened.enter_context(closing(committer))
            self._opened = opened.pop_all()

    def _fail(self, error: FatalStoreError) -> None:
        self._writer.fail(error)
        self._on_fatal(error)

    def submit(self, pending: PendingCommand) -> None:
        self._committer.submit(pending)

    def subscribe(self, listener: CommitListener, only_invalidations: bool = False) -> None:
        self._writer.listeners.subscribe(listener, only_invalidations)

    def subscribe_log(self, listener: LogListener) -> Callable[[], None]:
        return self._writer.listeners.subscribe_log(listener)

    def head(self, key: SessionKey) -> SessionHead | None:
        head = self._reader.head(key)
        self._wait_until_published(head)
        return head

    def messages(self, key: SessionKey, query: MessageQuery) -> MessagePage:
        page = self._reader.messages(key, query)
        self._wait_until_published(page.head)
        return page

    def message(self, key: SessionKey, message_id: str) -> MessageVersions | None:
        versions = self._reader.message(key, message_id)
        self._wait_until_published(versions.head if versions else None)
        return versions

    def _wait_until_published(self, head: SessionHead | None) -> None:
        if head is not None:
            self._writer.wait_until_published(head.version)

    def exchange_end(self, key: SessionKey, exchange: int) -> int:
        return self._reader.exchange_end(key, exchange)

    def scan(self, scope: Scope, before_lsn: int | None, limit: int) -> Sequence[LocatedMessage]:
        found = self._reader.scan(scope, before_lsn, limit)
        if found:
            self._writer.wait_until_published(found[0].lsn)
        return found

    def sessions(self, query: SessionQuery) -> Sequence[SessionHead]:
        heads = self._reader.sessions(query)
        if heads:
            self._writer.wait_until_published(max(head.version for head in heads))
        return heads

    def default_policies(self) -> Mapping[str, Policy]:
        return self._reader.default_policies()

    def calibration(self, namespace: str, model: str) -> Calibration:
        return self._reader.calibration(namespace, model)

    def watermark(self, task: str, namespace: str) -> int:
        return self._reader.watermark(task, namespace)

    def _read(self, read: Callable[[sqlite3.Connection], T]) -> T:
        """Read from one snapshot, and return when that snapshot is published to all readers."""
        with self._reader.snapshot() as snapshot:
            last, result = last_lsn(snapshot), read(snapshot)
        self._writer.wait_until_published(last)
        return result

    def erasure_counts(self, command: Erasure) -> ErasureCounts:
        return self._read(lambda snapshot: read_erasure_counts(snapshot, command))

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

    def get_by_lsn(self, lsns: Sequence[int]) -> Mapping[int, LocatedMessage]:
        return self._read(lambda snapshot: change_feed.get_by_lsn(snapshot, self._path, lsns))

    def read_events(self, scope: Scope, after_lsn: int, limit: int) -> EventPage:
        return self._read(lambda snapshot: events.read_page(snapshot, scope, after_lsn, limit))

    def document(self, owner: Owner, document_id: str) -> StoredDocument | None:
        row = self._read(lambda snapshot: documents.find_document(snapshot, owner, document_id, self._path))
        return row.document if row else None

    def documents(self, query: DocumentQuery) -> Sequence[StoredDocument]:
        return self._read(lambda snapshot: documents.list_documents(snapshot, query, self._path))

    def find_chunks(self, places: Sequence[tuple[int, int]]) -> Mapping[tuple[int, int], tuple[StoredDocument, Chunk]]:
        return self._read(lambda snapshot: documents.find_chunks(snapshot, places, self._path))

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

    def archive_position(self) -> ArchivePosition:
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

    def usage(self, namespace: str) -> Usage:
        return self._writer.quota_usage.usage(namespace)

    def stats(self) -> JournalStats:
        wal = self._path.with_name(f"{FILE_NAME}-wal")
        return JournalStats(
            last_lsn=self._writer.published_lsn,
            wal_bytes=wal.stat().st_size if wal.exists() else 0,
            file_bytes=self._path.stat().st_size,
        )

    def close(self) -> None:
        self._opened.close()
        # The next start continues the purges that are left; the commands that wait for them are refused.
        self._writer.purges.refuse_all(ShuttingDown())
