"""The journal in RAM: the exact twin of the one on disk, and its oracle. Gone with the process.

Naive on purpose: lists, one lock, and every figure counted again from the messages each time, so that what it says can
be believed by reading it.
"""

import logging
import threading
from collections.abc import Callable, Mapping, Sequence

from memsidecar.domain.errors import ShuttingDown, SidecarError
from memsidecar.domain.session import Head, Policy, SessionKey
from memsidecar.stores.contract import (
    Calibration,
    Change,
    Found,
    JournalFigures,
    Page,
    Scope,
    Selection,
    SessionPage,
    Ticket,
)
from memsidecar.stores.volatile.ledger import Ledger
from memsidecar.stores.volatile.session import Session

log = logging.getLogger(__name__)


class VolatileJournal:
    """Keeps the promises of `stores.contract.Journal`, but for surviving the process."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._ledger = Ledger()
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
        self._ledger.listener = listener

    def head(self, key: SessionKey) -> Head | None:
        return self.messages(key, Selection(limit=0)).head

    def messages(self, key: SessionKey, selection: Selection) -> Page:
        with self._lock:
            self._refuse_when_closed()
            session = self._ledger.sessions.get(key)
            if session is None:
                return Page(None)
            return Page(self._ledger.head(session), *session.select(selection))

    def exchange_end(self, key: SessionKey, exchange: int) -> int:
        window = self.messages(key, Selection(limit=1 << 62, max_bytes=1 << 62)).messages
        return max((one.sequence for one in window if exchange and one.exchange == exchange), default=0)

    def scan(self, scope: Scope, before_lsn: int | None, limit: int) -> Sequence[Found]:
        with self._lock:
            self._refuse_when_closed()
            found = [
                Found(message.lsn, session.key, message.written)
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

    def figures(self) -> JournalFigures:
        return JournalFigures(last_lsn=self._ledger.lsn)

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


def _activity(head: Head) -> tuple[int, int]:
    return head.last_active_us, head.number
