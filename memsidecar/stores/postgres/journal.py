"""PostgresJournal: the journal in a PostgreSQL database."""

import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing

from memsidecar.domain.quota import QuotaLookup, Usage, no_quotas
from memsidecar.domain.session import Policy, SessionHead, SessionKey
from memsidecar.stores.contract import (
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
from memsidecar.stores.postgres import namespaces, reader
from memsidecar.stores.postgres.connection import ConnectionString, ReadPool, connect, translated
from memsidecar.stores.postgres.knowledge_reads import KnowledgeReads
from memsidecar.stores.postgres.leases import SidecarLease
from memsidecar.stores.postgres.migrations import check_version
from memsidecar.stores.postgres.rows import find_head
from memsidecar.stores.postgres.snapshot_reads import PostgresSnapshotReads
from memsidecar.stores.postgres.writer import PostgresWriter

log = logging.getLogger(__name__)

MIN_CONNECTIONS = 4
CONNECTIONS_BESIDE_READS = 3
"The committer's, that of deletions, and that of the lease."


class PostgresJournal(KnowledgeReads, PostgresSnapshotReads):
    """Implements `stores.contract.Journal` on a database that `memsidecar migrate` has prepared.

    `on_close` is called once, after everything else is closed, also if the journal cannot be opened. `exclusive` takes
    the lease of the sidecar, so that no other process can write to the database.
    """

    is_shared = True

    def __init__(
        self,
        connection_string: ConnectionString,
        *,
        connections: int = 10,
        prepare: bool = True,
        max_commit_delay_seconds: float = 0.004,
        quotas: QuotaLookup = no_quotas,
        on_close: Callable[[], None] = lambda: None,
        exclusive: bool = True,
    ) -> None:
        self.statistics = JournalStatistics()
        with ExitStack() as opened:
            opened.callback(on_close)
            with translated(), closing(connect(connection_string)) as connection:
                check_version(connection)
            lease = opened.enter_context(closing(SidecarLease(connection_string))) if exclusive else None
            self._writer = PostgresWriter(
                connection_string, lease, quotas=quotas, commits=self.statistics.commits, prepare=prepare
            )
            opened.callback(self._writer.close)
            opened.enter_context(closing(self._writer.deletions))
            self._publication = self._writer.publication
            read_connections = connections - CONNECTIONS_BESIDE_READS
            pool = ReadPool(connection_string, read_connections, self.statistics.read_seconds, prepare=prepare)
            self._pool = opened.enter_context(closing(pool))
            sizes = self.statistics.group_commands
            committer = Committer(
                self._writer.write, self._writer.deletions.step, log.critical, max_commit_delay_seconds, sizes
            )
            self._committer = opened.enter_context(closing(committer))
            self._opened = opened.pop_all()

    def submit(self, pending: PendingCommand) -> None:
        self._committer.submit(pending)

    def subscribe(self, listener: CommitListener, only_invalidations: bool = False) -> None:
        self._writer.listeners.subscribe(listener, only_invalidations)

    def subscribe_log(self, listener: LogListener) -> Callable[[], None]:
        return self._writer.listeners.subscribe_log(listener)

    def head(self, key: SessionKey) -> SessionHead | None:
        head = self._pool.read(lambda connection: find_head(connection, key))
        self._wait_until_published(key, head)
        return head

    def messages(self, key: SessionKey, query: MessageQuery) -> MessagePage:
        if query.unless_version is not None:  # most copies are current: one round trip confirms them
            head = self.head(key)
            if head is None or head.version == query.unless_version:
                return MessagePage(head)
        page = self._pool.read_snapshot(lambda snapshot: reader.read_page(snapshot, key, query))
        self._wait_until_published(key, page.head)
        return page

    def message(self, key: SessionKey, message_id: str) -> MessageVersions | None:
        versions = self._pool.read_snapshot(lambda snapshot: reader.read_message(snapshot, key, message_id))
        self._wait_until_published(key, versions.head if versions else None)
        return versions

    def _wait_until_published(self, key: SessionKey, head: SessionHead | None) -> None:
        if head is not None:
            self._publication.wait_for(key.namespace, head.version)

    def exchange_end(self, key: SessionKey, exchange: int) -> int:
        return self._pool.read(lambda connection: reader.read_exchange_end(connection, key, exchange))

    def scan(self, scope: Scope, before_lsn: int | None, limit: int) -> Sequence[LocatedMessage]:
        found = self._pool.read(lambda connection: reader.scan(connection, scope, before_lsn, limit))
        if found:
            self._publication.wait_for(scope.namespace, found[0].lsn)
        return found

    def sessions(self, query: SessionQuery) -> Sequence[SessionHead]:
        heads = self._pool.read(lambda connection: reader.read_sessions(connection, query))
        if heads:
            self._publication.wait_for(query.namespace, max(head.version for head in heads))
        return heads

    def default_policies(self) -> Mapping[str, Policy]:
        return self._pool.read(reader.read_default_policies)

    def usage(self, namespace: str) -> Usage:
        return self._pool.read(lambda connection: namespaces.read_usage(connection, namespace))

    def stats(self) -> JournalStats:
        """Return no sizes: the database's own monitoring has them."""
        return JournalStats()

    def close(self) -> None:
        self._opened.close()
