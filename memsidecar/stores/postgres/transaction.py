"""A transaction in the making: what a group of commands reads under its locks, and what its commit writes.

The commit takes the lsns in its last round trip, under the locks of the namespaces. Until then an lsn is a guess: it
follows the one that was read. The commit stores each entry relative to what the namespace has then, and corrects the
heads and results where another process has committed in between.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from psycopg import Connection

from memsidecar.domain.message import Draft, StoredMessage
from memsidecar.domain.quota import QuotaLookup, Usage
from memsidecar.domain.session import SessionHead, SessionKey, is_claim
from memsidecar.stores.contract import CommitEvent, DocumentPut, ErasedNames, PendingCommand
from memsidecar.stores.log_kinds import LogKind
from memsidecar.stores.postgres.locks import LockedRows
from memsidecar.stores.postgres.namespaces import LOCK_NAMESPACES, UPDATE_NAMESPACE, NamespaceChanges
from memsidecar.stores.postgres.new_messages import INSERT_MESSAGES, NewMessageRow, message_columns
from memsidecar.stores.postgres.rows import columns, find_head
from memsidecar.stores.session_rows import saved_columns

NEW_LSN = "coalesce((SELECT lsn - %s::bigint FROM namespaces WHERE number = %s), %s)"
"The place of a parameter `NewLsn` in a statement."

_SAVED = """user_id, version, last_sequence, window_start, pruned_count, count_1, count_2, count_3, count_4,
  tokens_1, tokens_2, tokens_3, tokens_4, create_time_us, last_active_us, open_calls"""
_VALUES = f"%s, {NEW_LSN}, {', '.join(['%s'] * 14)}"
_INSERT_SESSION = f"""INSERT INTO sessions({_SAVED}, bytes, row_id, namespace, session_id)
  VALUES ({_VALUES}, %s, %s, %s, %s)"""
_UPDATE_SESSION = f"UPDATE sessions SET ({_SAVED}, bytes) = ROW({_VALUES}, bytes + %s) WHERE row_id = %s"
_INSERT_EVENTS = """INSERT INTO events(namespace, lsn, kind, session, sequence, time_us)
  SELECT e.namespace, n.lsn - e.back, e.kind, e.session, e.sequence, e.time_us
  FROM unnest(%b::bigint[], %b::bigint[], %b::bigint[], %b::bigint[], %b::bigint[], %b::bigint[])
  AS e(namespace, back, kind, session, sequence, time_us) JOIN namespaces n ON n.number = e.namespace"""
_CHANGE_OWNERS = """UPDATE owners o SET version = nextval('owner_versions')
  FROM namespaces n JOIN unnest(%b::text[], %b::text[], %b::text[]) AS k(name, user_id, session_id) ON n.name = k.name
  WHERE o.namespace = n.number AND o.user_id = k.user_id AND o.session_id = k.session_id"""
_LOCK_SESSION = """SELECT FROM sessions s JOIN namespaces n ON n.number = s.namespace
  WHERE n.name = %s AND s.session_id = %s FOR NO KEY UPDATE OF s"""
_NEXT_ROW_ID = "SELECT nextval(%s)"


class NewLsn(NamedTuple):
    """A parameter in the place of NEW_LSN: an lsn of this transaction, or one that was read."""

    namespace: str
    lsn: int


class _NewEvent(NamedTuple):
    namespace: str
    lsn: int
    kind: LogKind
    session: int
    sequence: int | None


class PostgresTransaction:
    """One transaction. Command handlers add to it; the writer commits it."""

    def __init__(self, connection: Connection, rows: LockedRows, quotas: QuotaLookup) -> None:
        self.connection = connection
        self.now_us = time.time_ns() // 1000
        self.existing = rows.existing
        self.revived: set[tuple[int, int]] = set()
        self.events: list[CommitEvent] = []
        self.erasures: list[ErasedNames] = []
        self.results: list[tuple[PendingCommand, Any]] = []
        self.id = rows.transaction_id
        self.locked = rows.targets
        self.deleted_records: set[int] = set()
        self._rows = rows
        self._read_versions = {key: head.version for key, head in rows.heads.items() if head is not None}
        self._quotas = quotas
        self._statements: list[tuple[str, Sequence[Any]]] = []
        self._messages: list[NewMessageRow] = []
        self._log_events: list[_NewEvent] = []
        self._saved: dict[SessionKey, SessionHead] = {}
        self._new_sessions: set[int] = set()
        self._session_bytes: dict[int, int] = {}
        self._versioned: list[SessionHead] = []

    @property
    def namespaces(self) -> Sequence[NamespaceChanges]:
        return list(self._rows.namespaces.values())

    @property
    def logged_namespaces(self) -> set[str]:
        return {changes.name for changes in self.namespaces if changes.lsn > changes.read_lsn}

    @property
    def has_changes(self) -> bool:
        return bool(self._statements or self._saved or self._messages or self._log_events)

    @property
    def only_appends(self) -> bool:
        """Whether the transaction only adds messages: to sessions that exist, have their users, and prune no less."""
        return bool(self._messages) and not (self._statements or self._log_events or self._new_sessions)

    @property
    def heads(self) -> Mapping[SessionKey, SessionHead | None]:
        """Return the heads that were read, as the transaction leaves them."""
        return self._rows.heads

    @property
    def saved_heads(self) -> Sequence[SessionHead]:
        return list(self._saved.values())

    @property
    def last_messages(self) -> Mapping[str, tuple[int, int, str]]:
        """Return session, sequence and id of the last message in each namespace."""
        return {new.namespace: (new.session, new.message.sequence, new.draft.id) for new in self._messages}

    def namespace(self, name: str) -> NamespaceChanges:
        return self._rows.namespaces[name]

    def number(self, name: str) -> int:
        return self._rows.namespaces[name].number

    def head(self, key: SessionKey) -> SessionHead | None:
        """Return the session's head, and lock the session if the group has not."""
        if key not in self._rows.heads:
            self.connection.execute(_LOCK_SESSION, key)
            head = self._rows.heads[key] = find_head(self.connection, key)
            self._read_versions[key] = head.version if head else 0
        return self._rows.heads[key]

    def new_session(self, key: SessionKey, user_id: str) -> SessionHead:
        row_id = self._rows.new_row_ids.get(key) or self.next_row_id("session_row_ids")
        self._new_sessions.add(row_id)
        head = SessionHead(key, row_id, user_id, create_time_us=self.now_us, last_active_us=self.now_us)
        head.default_policy = self.namespace(key.namespace).default_policy
        return head

    def next_row_id(self, sequence: str) -> int:
        ((row_id,),) = self.connection.execute(_NEXT_ROW_ID, (sequence,)).fetchall()
        return int(row_id)

    def reserve_quota(self, namespace: str, change: Usage, *, refusable: bool = True) -> None:
        """Add a change to the namespace's usage; QuotaExceeded, and nothing is added, if it grows beyond the quota.

        A handler calls it after all other checks and before it adds anything.
        """
        self.namespace(namespace).reserve(change, self._quotas, refusable=refusable)

    def add_statement(self, statement: str, *parameters: Any) -> None:
        """Add a statement. A parameter NewLsn stands in the place of NEW_LSN."""
        self._statements.append((statement, parameters))

    def write_entry(self, namespace: str, kind: LogKind, session: int, sequence: int | None = None) -> int:
        """Add a log entry that is no message, and return its lsn."""
        lsn = self.namespace(namespace).next_lsn()
        self._log_events.append(_NewEvent(namespace, lsn, kind, session, sequence))
        return lsn

    def log_entry(self, head: SessionHead, kind: LogKind, sequence: int | None = None) -> int:
        """Add a log entry of the session; its lsn becomes the head's version."""
        head.version = self.write_entry(head.key.namespace, kind, head.row_id, sequence)
        head.last_active_us = self.now_us
        return head.version

    def log_claim(self, before: SessionHead, head: SessionHead) -> None:
        """Log that the session has a user now, for the consumers of the change feed."""
        if is_claim(before, head):
            self.log_entry(head, LogKind.CLAIM)

    def add_message(
        self, head: SessionHead, lsn: int, draft: Draft, message: StoredMessage, displayed: StoredMessage | None = None
    ) -> None:
        """Add a message at an lsn that `namespace` has given, and the version in the window if it is another one."""
        new = NewMessageRow(head.key.namespace, head.row_id, lsn, self.now_us, draft, message, displayed)
        self._messages.append(new)

    def add_bytes(self, session: int, growth: int) -> None:
        self._session_bytes[session] = self._session_bytes.get(session, 0) + growth

    def growth(self, session: int) -> int:
        return self._session_bytes.get(session, 0)

    def save_session(self, head: SessionHead) -> None:
        """Write the whole row of the session."""
        self._rows.heads[head.key] = self._saved[head.key] = head
        self._versioned.append(head)

    def remove_session(self, key: SessionKey) -> None:
        """Forget the head of a session that a statement deletes."""
        self._rows.heads[key] = None
        self._saved.pop(key, None)

    def commit(self) -> None:
        """Take the lsns, write and commit in one round trip, and correct what was guessed."""
        changed = [changes for changes in self.namespaces if changes.is_changed]
        with self.connection.pipeline():
            self.connection.execute(LOCK_NAMESPACES, ([changes.number for changes in self.namespaces],))
            updates = [self.connection.execute(UPDATE_NAMESPACE, changes.parameters()) for changes in changed]
            for statement, parameters in self._all_statements():
                self.connection.execute(statement, parameters)
            self.connection.execute("COMMIT")
        self.correct_lsns({changes.name: row[0] for changes, (row,) in zip(changed, updates, strict=True)})

    def _all_statements(self) -> Iterator[tuple[str, Sequence[Any]]]:
        for statement, parameters in self._statements:
            yield statement, self._expanded(parameters)
        if self.locked.owners:
            yield _CHANGE_OWNERS, columns(iter(self.locked.owners))
        for head in self._saved.values():
            yield self._session_statement(head)
        if self._messages:
            yield INSERT_MESSAGES.format("namespaces"), self.message_columns()
        if self._log_events:
            yield _INSERT_EVENTS, columns(map(self._event_row, self._log_events))

    def _session_statement(self, head: SessionHead) -> tuple[str, Sequence[Any]]:
        user_id, version, *rest = saved_columns(head)
        number = self.number(head.key.namespace)
        saved = (user_id, NewLsn(head.key.namespace, version), *rest, self.growth(head.row_id), head.row_id)
        if head.row_id in self._new_sessions:
            return _INSERT_SESSION, self._expanded((*saved, number, head.key.session_id))
        return _UPDATE_SESSION, self._expanded(saved)

    def _expanded(self, parameters: Sequence[Any]) -> list[Any]:
        expanded: list[Any] = []
        for parameter in parameters:
            if isinstance(parameter, NewLsn):
                changes = self.namespace(parameter.namespace)
                expanded += (changes.back(parameter.lsn), changes.number, parameter.lsn)
            else:
                expanded.append(parameter)
        return expanded

    def message_columns(self) -> Sequence[Any]:
        """Return the parameters of INSERT_MESSAGES."""
        return message_columns((new, self.namespace(new.namespace)) for new in self._messages)

    def _event_row(self, event: _NewEvent) -> Sequence[Any]:
        changes = self.namespace(event.namespace)
        return changes.number, changes.back(event.lsn), int(event.kind), event.session, event.sequence, self.now_us

    def correct_lsns(self, stored: dict[str, int]) -> None:
        """Replace the guessed lsns, given the last one of each changed namespace after the commit."""
        for name, lsn in stored.items():
            self.namespace(name).lsn_shift = lsn - self.namespace(name).lsn
        if any(changes.lsn_shift for changes in self.namespaces):
            self._shift_lsns()
        self.events = list(self._events_with_previous_versions())

    def _shift_lsns(self) -> None:
        for head in {id(head): head for head in self._versioned}.values():
            head.version = self.namespace(head.key.namespace).stored_lsn(head.version)
        self.erasures = [
            ErasedNames(self.namespace(owner.namespace).stored_lsn(lsn), owner) for lsn, owner in self.erasures
        ]
        self.results = [(pending, self._corrected(result)) for pending, result in self.results]

    def _events_with_previous_versions(self) -> Iterator[CommitEvent]:
        versions = dict(self._read_versions)
        for event in self.events:
            yield replace(event, previous_version=versions.get(event.key, 0))
            versions[event.key] = event.head.version if event.head else 0

    def _corrected(self, result: Any) -> Any:
        if not isinstance(result, DocumentPut):
            return result
        document = result.document
        version = self.namespace(document.owner.namespace).stored_lsn(document.version)
        return replace(result, document=replace(document, version=version))
