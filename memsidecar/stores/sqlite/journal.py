"""SqliteJournal."""

import logging
import sqlite3
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import TypeVar

from memsidecar.domain.errors import DataCorrupted, DiskFull, FatalStoreError, ShuttingDown
from memsidecar.domain.quota import QuotaLookup, Usage, no_quotas
from memsidecar.domain.session import Policy, SessionHead, SessionKey
from memsidecar.stores.contract import (
    Calibration,
    Chunk,
    CommitEvent,
    DeadLetter,
    DocumentQuery,
    Erase,
    ErasureCounts,
    JournalStats,
    LocatedMessage,
    LogEntries,
    LogFilter,
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
from memsidecar.stores.sqlite import change_feed, documents, records
from memsidecar.stores.sqlite.bookkeeping import find_set_aside
from memsidecar.stores.sqlite.connection import (
    WRITER_CACHE_KIB,
    closing_on_error,
    connect,
    connect_readonly,
    translated,
)
from memsidecar.stores.sqlite.data_dir import (
    Ballast,
    DirectoryLock,
    HighWaterMark,
    LogPosition,
    make_directory,
    sync_directory,
    warn_of_doubtful_filesystem,
)
from memsidecar.stores.sqlite.erase import read_belongings
from memsidecar.stores.sqlite.group_commit import Committer
from memsidecar.stores.sqlite.reader import Reader
from memsidecar.stores.sqlite.rows import extent_of, last_lsn
from memsidecar.stores.sqlite.schema import migrate, version_of
from memsidecar.stores.sqlite.writer import Writer

log = logging.getLogger(__name__)

FILE_NAME = "journal.db"
CHECK_AT_OPEN_SECONDS = 0.25
T = TypeVar("T")


def stop_here(error: FatalStoreError) -> None:
    log.critical("the journal cannot go on: %s", error)


class SqliteJournal:
    """Keeps the promises of `stores.contract.Journal` on one local disk."""

    def __init__(
        self,
        directory: Path,
        *,
        read_connections: int = 4,
        max_commit_delay_seconds: float = 0.004,
        checkpoint_bytes: int = 4 << 20,
        ballast_bytes: int = 8 << 20,
        quotas: QuotaLookup = no_quotas,
        on_fatal: Callable[[FatalStoreError], None] = stop_here,
    ) -> None:
        make_directory(directory)
        warn_of_doubtful_filesystem(directory)
        self._path = directory / FILE_NAME
        self._on_fatal = on_fatal
        with ExitStack() as opened:
            lock = DirectoryLock(directory / "lock")
            opened.callback(lock.release)
            ballast = Ballast(directory / "ballast", ballast_bytes)
            mark = opened.enter_context(closing(HighWaterMark(directory / "journal.mark")))
            connection = open_finding_room(self._path, mark, ballast)
            opened.callback(ballast.restore)  # when the write-ahead log is gone, so that the next start finds room
            opened.enter_context(closing(connection))
            with translated(self._path):
                self._writer = Writer(
                    connection, self._path, mark, ballast, checkpoint_bytes=checkpoint_bytes, quotas=quotas
                )
                self._reader = opened.enter_context(closing(Reader(self._path, read_connections)))
            self._committer = opened.enter_context(
                closing(Committer(self._writer.write, self._writer.erasures.step, self._fail, max_commit_delay_seconds))
            )
            self._opened = opened.pop_all()

    def _fail(self, error: FatalStoreError) -> None:
        self._writer.fail(error)
        self._on_fatal(error)

    def submit(self, ticket: PendingCommand) -> None:
        self._committer.submit(ticket)

    def listen(self, listener: Callable[[Sequence[CommitEvent]], None]) -> None:
        self._writer.listen(listener)

    def head(self, key: SessionKey) -> SessionHead | None:
        head = self._reader.head(key)
        self._published(head)
        return head

    def messages(self, key: SessionKey, selection: MessageQuery) -> MessagePage:
        page = self._reader.messages(key, selection)
        self._published(page.head)
        return page

    def message(self, key: SessionKey, message_id: str) -> MessageVersions | None:
        found = self._reader.message(key, message_id)
        self._published(found.head if found else None)
        return found

    def _published(self, head: SessionHead | None) -> None:
        if head is not None:
            self._writer.wait_until_published(head.version)

    def exchange_end(self, key: SessionKey, exchange: int) -> int:
        return self._reader.exchange_end(key, exchange)

    def scan(self, scope: Scope, before_lsn: int | None, limit: int) -> Sequence[LocatedMessage]:
        found = self._reader.scan(scope, before_lsn, limit)
        if found:
            self._writer.wait_until_published(found[0].lsn)
        return found

    def sessions(self, page: SessionQuery) -> Sequence[SessionHead]:
        heads = self._reader.sessions(page)
        if heads:
            self._writer.wait_until_published(max(head.version for head in heads))
        return heads

    def default_policies(self) -> Mapping[str, Policy]:
        return self._reader.default_policies()

    def calibration(self, namespace: str, model: str) -> Calibration:
        return self._reader.calibration(namespace, model)

    def watermark(self, task: str, namespace: str) -> int:
        return self._reader.watermark(task, namespace)

    def _at_once(self, read: Callable[[sqlite3.Connection], T]) -> T:
        """Read in one moment; answered when everybody else sees that moment, too."""
        with self._reader.moment() as connection:
            last, answer = last_lsn(connection), read(connection)
        self._writer.wait_until_published(last)
        return answer

    def erasure_counts(self, command: Erase) -> ErasureCounts:
        return self._at_once(lambda moment: read_belongings(moment, command))

    def sequences_at(self, places: Sequence[tuple[SessionHead, int]]) -> Sequence[int]:
        return self._at_once(lambda moment: change_feed.find_sequences_at(moment, places))

    def tails(self) -> Mapping[str, int]:
        return self._at_once(change_feed.read_tails)

    def read_changes(
        self, namespace: str, after_lsn: int, limit: int, log_filter: LogFilter | None = None
    ) -> LogEntries:
        next_lsn: int | None = after_lsn
        news: LogEntries = ()
        while next_lsn is not None and not news:
            news, next_lsn = self._stretch(change_feed.Asked(namespace, next_lsn, limit, log_filter))
        return news

    def _stretch(self, asked: change_feed.Asked) -> change_feed.Stretch:
        return self._at_once(lambda moment: change_feed.read_stretch(moment, self._path, asked))

    def read_session(self, session: int, after_sequence: int, limit: int) -> Sequence[MessageWritten]:
        return self._at_once(lambda moment: change_feed.read_said(moment, self._path, session, after_sequence, limit))

    def find(self, lsns: Sequence[int]) -> Mapping[int, LocatedMessage]:
        return self._at_once(lambda moment: change_feed.find_first_said(moment, self._path, lsns))

    def document(self, owner: Owner, document_id: str) -> StoredDocument | None:
        kept = self._at_once(lambda moment: documents.find_document(moment, owner, document_id, self._path))
        return kept.document if kept else None

    def documents(self, page: DocumentQuery) -> Sequence[StoredDocument]:
        return self._at_once(lambda moment: documents.list_documents(moment, page, self._path))

    def find_chunks(self, places: Sequence[tuple[int, int]]) -> Mapping[tuple[int, int], tuple[StoredDocument, Chunk]]:
        return self._at_once(lambda moment: documents.find_chunks(moment, places, self._path))

    def note(self, owner: Owner, kind: RecordKind, record_id: str) -> Record | None:
        kept = self._at_once(lambda moment: records.find_note(moment, owner, kind, record_id))
        return kept.note(self._path) if kept else None

    def notes(self, page: RecordQuery) -> Sequence[Record]:
        return self._at_once(lambda moment: records.list_notes(moment, page, self._path))

    def set_aside(self, task: str) -> Sequence[DeadLetter]:
        return self._at_once(lambda moment: find_set_aside(moment, task))

    def usage(self, namespace: str) -> Usage:
        return self._writer.meter.usage(namespace)

    def figures(self) -> JournalStats:
        wal = self._path.with_name(f"{FILE_NAME}-wal")
        return JournalStats(
            last_lsn=self._writer.published_lsn,
            wal_bytes=wal.stat().st_size if wal.exists() else 0,
            file_bytes=self._path.stat().st_size,
        )

    def close(self) -> None:
        self._opened.close()
        # What could not be erased now goes on at the next start; nobody is left waiting.
        self._writer.erasures.refuse_all(ShuttingDown())


def open_finding_room(path: Path, mark: HighWaterMark, ballast: Ballast) -> sqlite3.Connection:
    """Open the journal; on a full disk at the ballast's expense, because the write-ahead log has to be made."""
    try:
        return open_checked(path, mark)
    except DiskFull:
        if not ballast.drop():
            raise
        return open_checked(path, mark)


def open_checked(path: Path, mark: HighWaterMark) -> sqlite3.Connection:
    with translated(path):
        verify_before_open(path, mark)
        return open_file(path)


def verify_before_open(path: Path, mark: HighWaterMark) -> None:
    """Refuse a file that is not ours or not whole while nothing of it has been changed.

    To open it for writing would already start its write-ahead log over, and with it what might still be saved.
    """
    if not path.exists() or path.stat().st_size == 0:
        mark.check(LogPosition(), path)
        return
    with closing(connect_readonly(path)) as connection:
        version = version_of(connection, str(path))
        mark.check(extent_of(connection) if version else LogPosition(), path)
        check_structure(connection, path, CHECK_AT_OPEN_SECONDS)


def open_file(path: Path) -> sqlite3.Connection:
    new = not path.exists()
    connection = connect(path, WRITER_CACHE_KIB)
    with closing_on_error(connection):
        migrate(connection)
    if new:
        sync_directory(path.parent)
    return connection


def check_structure(connection: sqlite3.Connection, path: Path, seconds: float) -> None:
    """Look for broken pages, as far as the time allows; each message's checksum is compared when it is read."""
    give_up = time.monotonic() + seconds
    connection.set_progress_handler(lambda: int(time.monotonic() > give_up), 10_000)
    try:
        (verdict,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode != sqlite3.SQLITE_INTERRUPT:
            raise
        verdict = "ok"
    finally:
        connection.set_progress_handler(None, 0)
    if verdict != "ok":
        raise DataCorrupted(f"{path.name} is damaged: {verdict}", file=str(path))
