"""VolatileJournal: the journal in RAM, the reference implementation of the contract."""

import logging
import sys
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from memsidecar.domain.errors import ShuttingDown, SidecarError
from memsidecar.domain.quota import QuotaLookup, Usage, no_quotas
from memsidecar.domain.session import Policy, SessionHead, SessionKey
from memsidecar.stores.contract import (
    ANY_SIZE,
    ArchivePage,
    ArchivePosition,
    Calibration,
    ChunksByPlace,
    Command,
    CommitListener,
    DeadLetter,
    DocumentQuery,
    Erasure,
    ErasureCounts,
    EventPage,
    ExpiredMessages,
    ExpiryQuery,
    ImportCommand,
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
    UserActivity,
    UserQuery,
)
from memsidecar.stores.listeners import Listeners
from memsidecar.stores.volatile import archive, change_feed, retention, users
from memsidecar.stores.volatile.events import changes_since
from memsidecar.stores.volatile.imports import apply_import
from memsidecar.stores.volatile.session import activity, is_listed
from memsidecar.stores.volatile.state import JournalState

log = logging.getLogger(__name__)


class VolatileJournal:
    """Implements `stores.contract.Journal`, except that nothing survives the process."""

    is_shared = False

    def __init__(self, *, quotas: QuotaLookup = no_quotas) -> None:
        self.statistics = JournalStatistics()
        self._lock = threading.RLock()
        self._listeners = Listeners()
        self._state = JournalState(lambda event: self._listeners.notify_of_commit([event]), quotas)
        self._closed = False

    def submit(self, pending: PendingCommand) -> None:
        with self._opened() as state:
            last_lsn = len(state.log.rows)
            try:
                result = _apply(state, pending.command)
            except SidecarError as refusal:
                pending.complete(error=refusal)
            except Exception as bug:  # commands carry callbacks of their callers: a failure there is their result
                log.exception("a command failed")
                pending.complete(error=bug)
            else:
                self._listeners.notify_of_log(changes_since(state.log, last_lsn, pending.command))
                pending.complete(result)

    def subscribe(self, listener: CommitListener, only_invalidations: bool = False) -> None:
        self._listeners.subscribe(listener, only_invalidations)

    def subscribe_log(self, listener: LogListener) -> Callable[[], None]:
        return self._listeners.subscribe_log(listener)

    def head(self, key: SessionKey) -> SessionHead | None:
        return self.messages(key, MessageQuery(limit=0)).head

    def messages(self, key: SessionKey, query: MessageQuery) -> MessagePage:
        with self._opened() as state:
            session = state.sessions.get(key)
            if session is None:
                return MessagePage(None)
            return MessagePage(state.head(session), *session.select(query))

    def message(self, key: SessionKey, message_id: str) -> MessageVersions | None:
        with self._opened() as state:
            session = state.sessions.get(key)
            message = session.find(message_id) if session else None
            if session is None or message is None:
                return None
            return MessageVersions(state.head(session), message.original, message.displayed)

    def exchange_end(self, key: SessionKey, exchange: int) -> int:
        window = self.messages(key, MessageQuery(limit=sys.maxsize, max_bytes=sys.maxsize)).messages
        return max((message.sequence for message in window if exchange and message.exchange == exchange), default=0)

    def scan(self, scope: Scope, before_lsn: int | None, limit: int) -> Sequence[LocatedMessage]:
        with self._opened() as state:
            found = [
                session.located(message)
                for session in state.sessions.values()
                if session.is_in(scope)
                for message in session.messages
                if before_lsn is None or message.lsn < before_lsn
            ]
        return sorted(found, key=lambda located: located.lsn, reverse=True)[:limit]

    def sessions(self, query: SessionQuery) -> Sequence[SessionHead]:
        with self._opened() as state:
            heads = [state.head(session) for session in state.sessions.values()]
        listed = [head for head in heads if is_listed(head, query)]
        return sorted(listed, key=activity, reverse=True)[: query.limit]

    def users(self, query: UserQuery) -> Sequence[UserActivity]:
        with self._opened() as state:
            return users.list_users(state, query)

    def default_policies(self) -> Mapping[str, Policy]:
        with self._opened() as state:
            return {key.namespace: policy for key, policy in state.policies.items() if not key.session_id}

    def calibration(self, namespace: str, model: str) -> Calibration:
        with self._opened() as state:
            return state.task_state.calibration(namespace, model)

    def watermark(self, task: str, namespace: str) -> int:
        with self._opened() as state:
            return state.task_state.watermark(task, namespace)

    def erasure_counts(self, command: Erasure) -> ErasureCounts:
        with self._opened() as state:
            return state.erasure_counts(command)

    def sequences_at(self, places: Sequence[tuple[SessionHead, int]]) -> Sequence[int]:
        with self._opened() as state:
            return [change_feed.sequence_at(state, head, lsn) for head, lsn in places]

    def log_end(self, _namespace: str) -> int:
        with self._opened() as state:
            return len(state.log.rows)

    def last_lsns(self) -> Mapping[str, int]:
        with self._opened() as state:
            return dict(state.log.last_lsns)

    def read_changes(
        self,
        namespace: str,
        after_lsn: int,
        limit: int,
        log_filter: LogFilter | None = None,
        *,
        max_message_bytes: int = ANY_SIZE,
    ) -> LogEntries:
        with self._opened() as state:
            return change_feed.read_changes(
                state, namespace, after_lsn, limit, log_filter, max_message_bytes=max_message_bytes
            )

    def read_session(self, session: int, after_sequence: int, limit: int) -> Sequence[MessageWritten]:
        with self._opened() as state:
            return change_feed.read_session(state, session, after_sequence, limit)

    def get_by_lsn(self, namespace: str, lsns: Sequence[int]) -> Mapping[int, LocatedMessage]:
        with self._opened() as state:
            return change_feed.get_by_lsn(state, namespace, lsns)

    def read_events(self, scope: Scope, after_lsn: int, limit: int) -> EventPage:
        with self._opened() as state:
            return state.events.read(scope, after_lsn, limit)

    def owner_versions(self, owners: Collection[Owner]) -> Mapping[Owner, int]:
        return dict.fromkeys(owners, 0)

    def document(self, owner: Owner, document_id: str) -> StoredDocument | None:
        with self._opened() as state:
            return state.documents.get(owner, document_id)

    def documents(self, query: DocumentQuery) -> Sequence[StoredDocument]:
        with self._opened() as state:
            return state.documents.list(query)

    def find_chunks(self, namespace: str, places: Sequence[tuple[int, int]]) -> ChunksByPlace:
        with self._opened() as state:
            return state.documents.find_chunks(namespace, places)

    def record(self, owner: Owner, kind: RecordKind, record_id: str) -> Record | None:
        with self._opened() as state:
            return state.records.get(owner, kind, record_id)

    def records(self, query: RecordQuery) -> Sequence[Record]:
        with self._opened() as state:
            return state.records.list(query)

    def sessions_after(self, row_id: int, limit: int) -> Sequence[SessionHead]:
        with self._opened() as state:
            return retention.sessions_after(state, row_id, limit)

    def expiry_boundary(self, session: int, query: ExpiryQuery) -> int:
        with self._opened() as state:
            return retention.expiry_boundary(state, session, query)

    def expired_messages(self, session: int, boundary: int, after: int, limit: int) -> ExpiredMessages:
        with self._opened() as state:
            return retention.expired_messages(state, session, boundary, after, limit)

    def record_owners(self, after: Owner | None, limit: int) -> Sequence[Owner]:
        with self._opened() as state:
            return retention.next_owners(state.records.owners(), after, limit)

    def document_owners(self, after: Owner | None, limit: int) -> Sequence[Owner]:
        with self._opened() as state:
            return retention.next_owners(state.documents.owners(), after, limit)

    def expired_records(self, owner: Owner, kind: RecordKind, query: ExpiryQuery) -> Sequence[Record]:
        with self._opened() as state:
            return retention.expired_records(state, owner, kind, query)

    def expired_documents(self, owner: Owner, query: ExpiryQuery) -> Sequence[StoredDocument]:
        with self._opened() as state:
            return retention.expired_documents(state, owner, query)

    def has_retention_policies(self) -> bool:
        with self._opened() as state:
            return any(policy.retention is not None for policy in state.policies.values())

    def dead_letters(self, task: str) -> Sequence[DeadLetter]:
        with self._opened() as state:
            return state.task_state.dead_letters(task)

    def archive_position(self, _namespace: str) -> ArchivePosition:
        with self._opened() as state:
            return archive.read_position(state)

    def archived_sessions(
        self, scope: Scope, position: ArchivePosition, after_id: str, limit: int
    ) -> Sequence[SessionHead]:
        with self._opened() as state:
            return archive.read_sessions(state, scope, position, after_id, limit)

    def archived_records(self, scope: Scope, position: ArchivePosition, after: int) -> ArchivePage:
        with self._opened() as state:
            return archive.read_records(state, scope, position, after)

    def archived_messages(self, scope: Scope, position: ArchivePosition, after_lsn: int) -> ArchivePage:
        with self._opened() as state:
            return archive.read_messages(state, scope, position, after_lsn)

    def archived_documents(self, scope: Scope, position: ArchivePosition, after: int) -> ArchivePage:
        with self._opened() as state:
            return archive.read_documents(state, scope, position, after)

    def calibrated_models(self, namespace: str) -> Sequence[str]:
        with self._opened() as state:
            return state.task_state.calibrated_models(namespace)

    def usage(self, namespace: str) -> Usage:
        with self._lock:
            return self._state.usage(namespace)

    def stats(self) -> JournalStats:
        return JournalStats()

    def close(self) -> None:
        with self._lock:
            self._closed = True

    @contextmanager
    def _opened(self) -> Iterator[JournalState]:
        with self._lock:
            if self._closed:
                raise ShuttingDown()
            yield self._state


def _apply(state: JournalState, command: Command) -> Any:
    return apply_import(state, command) if isinstance(command, ImportCommand) else state.apply(command)
