"""VolatileJournal: the reference implementation."""

import logging
import threading
from collections.abc import Callable, Mapping, Sequence

from memsidecar.domain.errors import ShuttingDown, SidecarError
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
from memsidecar.stores.volatile import change_feed
from memsidecar.stores.volatile.session import Session
from memsidecar.stores.volatile.state import JournalState

log = logging.getLogger(__name__)


class VolatileJournal:
    """Keeps the promises of `stores.contract.Journal`, but for surviving the process."""

    def __init__(self, *, quotas: QuotaLookup = no_quotas) -> None:
        self._lock = threading.RLock()
        self._ledger = JournalState(self._tell, quotas)
        self._listeners: list[Callable[[Sequence[CommitEvent]], None]] = []
        self._closed = False

    def submit(self, ticket: PendingCommand) -> None:
        with self._lock:
            self._refuse_when_closed()
            try:
                result = self._ledger.carry_out(ticket.command)
            except SidecarError as refusal:
                ticket.complete(error=refusal)
            except Exception as bug:  # commands carry code of their callers: what fails there is their answer
                log.exception("a command failed")
                ticket.complete(error=bug)
            else:
                ticket.complete(result)

    def listen(self, listener: Callable[[Sequence[CommitEvent]], None]) -> None:
        self._listeners.append(listener)

    def _tell(self, change: CommitEvent) -> None:
        for listener in self._listeners:
            try:
                listener([change])
            except Exception:  # one that fails must neither keep the others from it nor undo what was done
                log.exception("a listener failed")

    def head(self, key: SessionKey) -> SessionHead | None:
        return self.messages(key, MessageQuery(limit=0)).head

    def messages(self, key: SessionKey, selection: MessageQuery) -> MessagePage:
        with self._lock:
            self._refuse_when_closed()
            session = self._ledger.sessions.get(key)
            if session is None:
                return MessagePage(None)
            return MessagePage(self._ledger.head(session), *session.select(selection))

    def message(self, key: SessionKey, message_id: str) -> MessageVersions | None:
        with self._lock:
            self._refuse_when_closed()
            session = self._ledger.sessions.get(key)
            found = session.find(message_id) if session else None
            if session is None or found is None:
                return None
            return MessageVersions(self._ledger.head(session), found.original, found.displayed)

    def exchange_end(self, key: SessionKey, exchange: int) -> int:
        window = self.messages(key, MessageQuery(limit=1 << 62, max_bytes=1 << 62)).messages
        return max((one.sequence for one in window if exchange and one.exchange == exchange), default=0)

    def scan(self, scope: Scope, before_lsn: int | None, limit: int) -> Sequence[LocatedMessage]:
        with self._lock:
            self._refuse_when_closed()
            found = [
                session.found(message)
                for session in self._ledger.sessions.values()
                if _is_within(session, scope)
                for message in session.messages
                if before_lsn is None or message.lsn < before_lsn
            ]
        return sorted(found, key=lambda one: one.lsn, reverse=True)[:limit]

    def sessions(self, page: SessionQuery) -> Sequence[SessionHead]:
        with self._lock:
            self._refuse_when_closed()
            heads = [self._ledger.head(session) for session in self._ledger.sessions.values()]
        listed = [head for head in heads if _is_listed(head, page)]
        return sorted(listed, key=_activity, reverse=True)[: page.limit]

    def default_policies(self) -> Mapping[str, Policy]:
        with self._lock:
            self._refuse_when_closed()
            return {key.namespace: policy for key, policy in self._ledger.policies.items() if not key.session_id}

    def calibration(self, namespace: str, model: str) -> Calibration:
        with self._lock:
            self._refuse_when_closed()
            return self._ledger.calibrations.get((namespace, model), Calibration())

    def watermark(self, task: str, namespace: str) -> int:
        with self._lock:
            self._refuse_when_closed()
            return self._ledger.watermarks.get((task, namespace), 0)

    def erasure_counts(self, command: Erase) -> ErasureCounts:
        with self._lock:
            self._refuse_when_closed()
            return self._ledger.erasure_counts(command)

    def sequences_at(self, places: Sequence[tuple[SessionHead, int]]) -> Sequence[int]:
        with self._lock:
            self._refuse_when_closed()
            return [change_feed.sequence_at(self._ledger, head, lsn) for head, lsn in places]

    def tails(self) -> Mapping[str, int]:
        with self._lock:
            self._refuse_when_closed()
            return dict(self._ledger.tails)

    def read_changes(
        self, namespace: str, after_lsn: int, limit: int, log_filter: LogFilter | None = None
    ) -> LogEntries:
        with self._lock:
            self._refuse_when_closed()
            return change_feed.read_changes(self._ledger, namespace, after_lsn, limit, log_filter)

    def read_session(self, session: int, after_sequence: int, limit: int) -> Sequence[MessageWritten]:
        with self._lock:
            self._refuse_when_closed()
            return change_feed.said(self._ledger, session, after_sequence, limit)

    def find(self, lsns: Sequence[int]) -> Mapping[int, LocatedMessage]:
        with self._lock:
            self._refuse_when_closed()
            return change_feed.find(self._ledger, lsns)

    def document(self, owner: Owner, document_id: str) -> StoredDocument | None:
        with self._lock:
            self._refuse_when_closed()
            return self._ledger.library.find(owner, document_id)

    def documents(self, page: DocumentQuery) -> Sequence[StoredDocument]:
        with self._lock:
            self._refuse_when_closed()
            return self._ledger.library.page(page)

    def find_chunks(self, places: Sequence[tuple[int, int]]) -> Mapping[tuple[int, int], tuple[StoredDocument, Chunk]]:
        with self._lock:
            self._refuse_when_closed()
            return self._ledger.library.find_chunks(places)

    def note(self, owner: Owner, kind: RecordKind, record_id: str) -> Record | None:
        with self._lock:
            self._refuse_when_closed()
            return self._ledger.notebook.find(owner, kind, record_id)

    def notes(self, page: RecordQuery) -> Sequence[Record]:
        with self._lock:
            self._refuse_when_closed()
            return self._ledger.notebook.page(page)

    def set_aside(self, task: str) -> Sequence[DeadLetter]:
        with self._lock:
            self._refuse_when_closed()
            return [entry for place, entry in sorted(self._ledger.set_asides.items()) if place[0] == task]

    def usage(self, namespace: str) -> Usage:
        with self._lock:
            return self._ledger.usage(namespace)

    def figures(self) -> JournalStats:
        return JournalStats(last_lsn=len(self._ledger.log))

    def close(self) -> None:
        with self._lock:
            self._closed = True

    def _refuse_when_closed(self) -> None:
        if self._closed:
            raise ShuttingDown()


def _is_within(session: Session, scope: Scope) -> bool:
    return (
        session.key.namespace == scope.namespace
        and scope.user_id in ("", session.user_id)
        and scope.session_id in ("", session.key.session_id)
    )


def _is_listed(head: SessionHead, page: SessionQuery) -> bool:
    return (
        head.key.namespace == page.namespace
        and page.user_id in ("", head.user_id)
        and (page.after is None or _activity(head) < page.after)
    )


def _activity(head: SessionHead) -> tuple[int, str]:
    return head.last_active_us, head.key.session_id
