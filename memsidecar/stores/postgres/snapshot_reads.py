"""Reads of the log, of tasks and of users: each is one function of a snapshot."""

from abc import ABC
from collections.abc import Mapping, Sequence

from memsidecar.domain.session import SessionHead
from memsidecar.stores.contract import (
    ANY_SIZE,
    Calibration,
    DeadLetter,
    EventPage,
    LocatedMessage,
    LogEntries,
    LogFilter,
    MessageWritten,
    Scope,
    UserActivity,
    UserQuery,
)
from memsidecar.stores.postgres import change_feed, events, namespaces, task_state, users
from memsidecar.stores.postgres.connection import ReadPool
from memsidecar.stores.postgres.publication import Publication


class PostgresSnapshotReads(ABC):
    """The reads of `PostgresJournal` that are one function of a snapshot each.

    A read of the log returns when what it has read is published to the listeners of this process.
    """

    _pool: ReadPool
    _publication: Publication

    def log_end(self, namespace: str) -> int:
        row = self._pool.read(lambda connection: namespaces.find_row(connection, namespace))
        self._publication.wait_for(namespace, row.lsn if row else 0)
        return row.lsn if row else 0

    def last_lsns(self) -> Mapping[str, int]:
        lsns = self._pool.read(namespaces.read_lsns)
        for namespace, lsn in lsns.items():
            self._publication.wait_for(namespace, lsn)
        return lsns

    def read_changes(
        self,
        namespace: str,
        after_lsn: int,
        limit: int,
        log_filter: LogFilter | None = None,
        *,
        max_message_bytes: int = ANY_SIZE,
    ) -> LogEntries:
        entries = self._pool.read_snapshot(
            lambda snapshot: change_feed.read_page(
                snapshot, namespace, after_lsn, limit, log_filter=log_filter, max_message_bytes=max_message_bytes
            )
        )
        if entries:
            self._publication.wait_for(namespace, entries[-1].lsn)
        return entries

    def read_session(self, session: int, after_sequence: int, limit: int) -> Sequence[MessageWritten]:
        messages = self._pool.read(
            lambda connection: change_feed.read_session(connection, session, after_sequence, limit)
        )
        if messages:
            self._publication.wait_for(messages[0].key.namespace, messages[-1].lsn)
        return messages

    def get_by_lsn(self, namespace: str, lsns: Sequence[int]) -> Mapping[int, LocatedMessage]:
        found = self._pool.read(lambda connection: change_feed.get_by_lsn(connection, namespace, lsns))
        self._publication.wait_for(namespace, max(found, default=0))
        return found

    def sequences_at(self, places: Sequence[tuple[SessionHead, int]]) -> Sequence[int]:
        if all(lsn >= head.version for head, lsn in places):
            return [head.last_sequence for head, _ in places]
        return self._pool.read_snapshot(lambda snapshot: change_feed.find_sequences_at(snapshot, places))

    def read_events(self, scope: Scope, after_lsn: int, limit: int) -> EventPage:
        page = self._pool.read_snapshot(lambda snapshot: events.read_event_page(snapshot, scope, after_lsn, limit))
        self._publication.wait_for(scope.namespace, page.lsn)
        return page

    def users(self, query: UserQuery) -> Sequence[UserActivity]:
        return self._pool.read_snapshot(lambda snapshot: users.list_users(snapshot, query))

    def watermark(self, task: str, namespace: str) -> int:
        return self._pool.read(lambda connection: task_state.find_watermark(connection, task, namespace))

    def dead_letters(self, task: str) -> Sequence[DeadLetter]:
        return self._pool.read(lambda connection: task_state.find_dead_letters(connection, task))

    def calibration(self, namespace: str, model: str) -> Calibration:
        return self._pool.read(lambda connection: task_state.find_calibration(connection, namespace, model))

    def calibrated_models(self, namespace: str) -> Sequence[str]:
        return self._pool.read(lambda connection: task_state.find_calibrated_models(connection, namespace))
