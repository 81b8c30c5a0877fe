"""SqliteJournal: the journal in one SQLite file on a local disk."""

import logging
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import TypeVar

from memsidecar.domain.errors import FatalStoreError, ShuttingDown
from memsidecar.domain.quota import QuotaLookup, Usage, no_quotas
from memsidecar.domain.session import Policy, SessionHead, SessionKey
from memsidecar.stores.contract import (
    Calibration,
    CommitListener,
    JournalStatistics,
    JournalStats,
    LocatedMessage,
    LogListener,
    MessagePage,
    MessageQuery,
    MessageVersions,
    PendingCommand,
    Scope,
    SessionQuery,
)
from memsidecar.stores.group_commit import Committer
from memsidecar.stores.sqlite.connection import translated
from memsidecar.stores.sqlite.data_dir import (
    Ballast,
    DirectoryLock,
    HighWaterMark,
    make_directory,
    warn_of_unsafe_filesystem,
)
from memsidecar.stores.sqlite.integrity import FILE_NAME, open_with_room
from memsidecar.stores.sqlite.page_slack import SlackCleaner
from memsidecar.stores.sqlite.reader import Reader
from memsidecar.stores.sqlite.rows import last_lsn
from memsidecar.stores.sqlite.snapshot_reads import SnapshotReads
from memsidecar.stores.sqlite.writer import Writer

log = logging.getLogger(__name__)

T = TypeVar("T")


def log_fatal(error: FatalStoreError) -> None:
    log.critical("the journal cannot continue: %s", error)


class SqliteJournal(SnapshotReads):
    """Implements `stores.contract.Journal` on one local disk."""

    is_shared = False

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
        with self._reader.snapshot() as snapshot:
            last, result = last_lsn(snapshot), read(snapshot)
        self._writer.wait_until_published(last)
        return result

    def log_end(self, _namespace: str) -> int:
        return self._writer.published_lsn

    def usage(self, namespace: str) -> Usage:
        return self._writer.quota_usage.usage(namespace)

    def stats(self) -> JournalStats:
        wal = self._path.with_name(f"{FILE_NAME}-wal")
        return JournalStats(
            wal_bytes=wal.stat().st_size if wal.exists() else 0,
            file_bytes=self._path.stat().st_size,
        )

    def close(self) -> None:
        self._opened.close()
        # The next start continues the purges that are left; the commands that wait for them are refused.
        self._writer.purges.refuse_all(ShuttingDown())
