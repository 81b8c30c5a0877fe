"""VolatileJournal: the reference implementation."""

import logging
import threading
from collections.abc import Callable, Mapping, Sequence

from memsidecar.domain.errors import ShuttingDown, SidecarError
from memsidecar.domain.quota import Quotas, Usage, without_quotas
from memsidecar.domain.session import Head, Policy, SessionKey
from memsidecar.stores.contract import (
    Belongings,
    Calibration,
    Change,
    Chapter,
    Chunk,
    DocumentPage,
    Erase,
    Found,
    Heard,
    JournalFigures,
    Note,
    NoteKind,
    NotePage,
    Owner,
    Page,
    Said,
    Scope,
    Selection,
    SessionPage,
    SetAsideEntry,
    StoredDocument,
    Ticket,
    TwoWays,
)
from memsidecar.stores.volatile import change_feed
from memsidecar.stores.volatile.session import Session
from memsidecar.stores.volatile.state import Ledger

log = logging.getLogger(__name__)


class VolatileJournal:
    """Keeps the promises of `stores.contract.Journal`, but for surviving the process."""

    def __init__(self, *, quotas: Quotas = without_quotas) -> None:
        self._lock = threading.RLock()
        self._ledger = Ledger(self._tell, quotas)
        self._listeners: list[Callable[[Sequence[Change]], None]] = []
        self._closed = False

    def submit(self, ticket: Ticket) -> None:
        with self._lock:
            self._refuse_when_closed()
            try:
                result = self._ledger.carry_out(ticket.command)
            except SidecarError as refusal:
                ticket.settle(error=refusal)
            except Exception as bug:  # commands carry code of their callers: what fails there is their answer
                log.exception("a command failed")
                ticket.settle(error=bug)
            else:
                ticket.settle(result)

    def listen(self, listener: Callable[[Sequence[Change]], None]) -> None:
        self._listeners.append(listener)

    def _tell(self, change: Change) -> None:
        for listener in self._listeners:
            try:
                listener([change])
            except Exception:  # one that fails must neither keep the others from it nor undo what was done
                log.exception("a listener failed")

    def head(self, key: SessionKey) -> Head | None:
        return self.messages(key, Selection(limit=0)).head

    def messages(self, key: SessionKey, selection: Selection) -> Page:
        with self._lock:
            self._refuse_when_closed()
            session = self._ledger.sessions.get(key)
            if session is None:
                return Page(None)
            return Page(self._ledger.head(session), *session.select(selection))

    def message(self, key: SessionKey, message_id: str) -> TwoWays | None:
        with self._lock:
            self._refuse_when_closed()
            session = self._ledger.sessions.get(key)
            found = session.find(message_id) if session else None
            if session is None or found is None:
                return None
            return TwoWays(self._ledger.head(session), found.written, found.shown)

    def exchange_end(self, key: SessionKey, exchange: int) -> int:
        window = self.messages(key, Selection(limit=1 << 62, max_bytes=1 << 62)).messages
        return max((one.sequence for one in window if exchange and one.exchange == exchange), default=0)

    def scan(self, scope: Scope, before_lsn: int | None, limit: int) -> Sequence[Found]:
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

    def sessions(self, page: SessionPage) -> Sequence[Head]:
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

    def belongings(self, command: Erase) -> Belongings:
        with self._lock:
            self._refuse_when_closed()
            return self._ledger.belongings(command)

    def sequences_at(self, places: Sequence[tuple[Head, int]]) -> Sequence[int]:
        with self._lock:
            self._refuse_when_closed()
            return [change_feed.sequence_at(self._ledger, head, lsn) for head, lsn in places]

    def tails(self) -> Mapping[str, int]:
        with self._lock:
            self._refuse_when_closed()
            return dict(self._ledger.tails)

    def news(self, namespace: str, after_lsn: int, limit: int, heard: Heard | None = None) -> Chapter:
        with self._lock:
            self._refuse_when_closed()
            return change_feed.news(self._ledger, namespace, after_lsn, limit, heard)

    def said(self, session: int, after_sequence: int, limit: int) -> Sequence[Said]:
        with self._lock:
            self._refuse_when_closed()
            return change_feed.said(self._ledger, session, after_sequence, limit)

    def find(self, lsns: Sequence[int]) -> Mapping[int, Found]:
        with self._lock:
            self._refuse_when_closed()
            return change_feed.find(self._ledger, lsns)

    def document(self, owner: Owner, document_id: str) -> StoredDocument | None:
        with self._lock:
            self._refuse_when_closed()
            return self._ledger.library.find(owner, document_id)

    def documents(self, page: DocumentPage) -> Sequence[StoredDocument]:
        with self._lock:
            self._refuse_when_closed()
            return self._ledger.library.page(page)

    def find_chunks(self, places: Sequence[tuple[int, int]]) -> Mapping[tuple[int, int], tuple[StoredDocument, Chunk]]:
        with self._lock:
            self._refuse_when_closed()
            return self._ledger.library.find_chunks(places)

    def note(self, owner: Owner, kind: NoteKind, note_id: str) -> Note | None:
        with self._lock:
            self._refuse_when_closed()
            return self._ledger.notebook.find(owner, kind, note_id)

    def notes(self, page: NotePage) -> Sequence[Note]:
        with self._lock:
            self._refuse_when_closed()
            return self._ledger.notebook.page(page)

    def set_aside(self, task: str) -> Sequence[SetAsideEntry]:
        with self._lock:
            self._refuse_when_closed()
            return [entry for place, entry in sorted(self._ledger.set_asides.items()) if place[0] == task]

    def usage(self, namespace: str) -> Usage:
        with self._lock:
            return self._ledger.usage(namespace)

    def figures(self) -> JournalFigures:
        return JournalFigures(last_lsn=len(self._ledger.log))

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


def _is_listed(head: Head, page: SessionPage) -> bool:
    return (
        head.key.namespace == page.namespace
        and page.user_id in ("", head.user_id)
        and (page.after is None or _activity(head) < page.after)
    )


def _activity(head: Head) -> tuple[int, str]:
    return head.last_active_us, head.key.session_id
