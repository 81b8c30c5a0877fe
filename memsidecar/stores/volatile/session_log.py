"""Sessions and the log of the RAM journal: lookups, new entries, claims, commit events."""

import time
from collections.abc import Callable
from typing import Any

from memsidecar.domain.session import Policy, SessionHead, SessionKey
from memsidecar.stores.contract import CommitEvent
from memsidecar.stores.volatile.events import EntryKind, Log
from memsidecar.stores.volatile.session import Session


class SessionLog:
    """The log, the sessions that it made, and their policies. Not thread-safe: the journal locks."""

    def __init__(self, notify: Callable[[CommitEvent], None]) -> None:
        self.log = Log()
        self.sessions: dict[SessionKey, Session] = {}
        self.policies: dict[SessionKey, Policy] = {}
        self._notify = notify
        self.next_session = 1
        self._last_us = 0

    def head(self, session: Session) -> SessionHead:
        return session.head(self.policies.get(session.key))

    def by_row_id(self) -> dict[int, Session]:
        return {session.row_id: session for session in self.sessions.values()}

    def _write_document_entry(self, kind: EntryKind, namespace: str, row_id: int) -> int:
        self._notify(CommitEvent(SessionKey(namespace, ""), None))
        return self.log.write(kind, namespace, row_id)

    def write_session_entry(self, session: Session, kind: EntryKind, sequence: int = 0, message_id: str = "") -> None:
        """Add a log entry of the session; its lsn becomes the session's version."""
        session.version = self.log.write(kind, session.key.namespace, session.row_id, sequence, message_id)
        session.last_active_us = self.now_us()

    def now_us(self) -> int:
        """Return a strictly increasing time, so that the order of activity is the order of commands."""
        self._last_us = max(time.time_ns() // 1000, self._last_us + 1)
        return self._last_us

    def find(self, key: SessionKey, user_id: str) -> Session | None:
        session = self.sessions.get(key)
        if session is not None:
            session.check_user(user_id)
        return session

    def claim(self, key: SessionKey, user_id: str) -> Session:
        """Return the session, created if absent; the first user named becomes its user."""
        known = self.sessions.get(key)
        session = known or self.create(key)
        if user_id and not session.user_id:
            session.user_id = user_id
            if known:
                self.write_session_entry(session, EntryKind.CLAIM)
        return session

    def create(self, key: SessionKey) -> Session:
        row_id, self.next_session, now_us = self.next_session, self.next_session + 1, self.now_us()
        self.sessions[key] = Session(key, row_id, now_us, now_us)
        return self.sessions[key]

    def publish(self, session: Session, **event: Any) -> SessionHead:
        head = self.head(session)
        self._notify(CommitEvent(session.key, head, **event))
        return head
