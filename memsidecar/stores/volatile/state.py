"""The state of the RAM journal, and the application of commands to it."""

import time
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from memsidecar.domain.errors import NotFound, SequenceMismatch
from memsidecar.domain.message import Draft, Flag, StoredMessage
from memsidecar.domain.pruning import link_exchange
from memsidecar.domain.quota import NO_QUOTA, QuotaLookup, Usage
from memsidecar.domain.session import Policy, SessionHead, SessionKey
from memsidecar.stores.contract import (
    AddDeadLetter,
    AdvanceWatermark,
    Append,
    Appended,
    Calibrate,
    Claim,
    Command,
    CommitEvent,
    DeleteDocument,
    DeleteRecord,
    DocumentDeleted,
    DocumentPut,
    Erase,
    Erased,
    EraseUser,
    MessageUpdated,
    PolicySet,
    PutDocument,
    Record,
    RecordsUpserted,
    SetPolicy,
    UpdateMessage,
    UpdateWindow,
    UpdateWindowExclusive,
    UpsertRecords,
    VersionConflict,
    WindowUpdated,
)
from memsidecar.stores.message_encoding import message_bytes, with_sequence
from memsidecar.stores.volatile.bookkeeping import Bookkeeping
from memsidecar.stores.volatile.documents import DocumentTable
from memsidecar.stores.volatile.erase import ErasurePlan, plan_session, plan_user
from memsidecar.stores.volatile.records import RecordTable
from memsidecar.stores.volatile.session import EntryKind, LogRow, Message, Session


class JournalState:
    """All data of the journal. Not thread-safe: the journal locks."""

    def __init__(self, notify: Callable[[CommitEvent], None], quotas: QuotaLookup) -> None:
        self.log: list[LogRow] = []
        self.last_lsns: dict[str, int] = {}
        self.documents = DocumentTable(self._write_document_entry, self._check_quota)
        self.records = RecordTable(self._check_quota)
        self.sessions: dict[SessionKey, Session] = {}
        self.policies: dict[SessionKey, Policy] = {}
        self.bookkeeping = Bookkeeping()
        self._notify = notify
        self._quotas = quotas
        self._last_row_id = 0
        self._last_us = 0

    def apply(self, command: Command) -> Any:
        return self._handlers[type(command)](self, command)

    def head(self, session: Session) -> SessionHead:
        return session.head(self.policies.get(session.key))

    def by_row_id(self) -> dict[int, Session]:
        return {session.row_id: session for session in self.sessions.values()}

    def usage(self, namespace: str) -> Usage:
        sessions = [session for session in self.sessions.values() if session.key.namespace == namespace]
        messages = [message for session in sessions for message in session.messages]
        size = (
            sum(message.bytes for message in messages) + self.documents.bytes(namespace) + self.records.bytes(namespace)
        )
        return Usage(len(sessions), len(messages), size)

    def _check_quota(self, namespace: str, change: Usage) -> None:
        """Raise QuotaExceeded if the change exceeds the quota. Usage is recounted: only where there is a quota."""
        quota = self._quotas(namespace)
        if quota != NO_QUOTA:
            quota.check(self.usage(namespace).plus(change), change)

    def _write(self, kind: EntryKind, namespace: str, row_id: int, sequence: int = 0) -> int:
        lsn = len(self.log) + 1
        self.log.append(LogRow(lsn, kind, namespace, row_id, sequence))
        self.last_lsns[namespace] = lsn
        return lsn

    def _write_document_entry(self, kind: EntryKind, namespace: str, row_id: int) -> int:
        self._notify(CommitEvent(SessionKey(namespace, ""), None))
        return self._write(kind, namespace, row_id)

    def _write_session_entry(self, session: Session, kind: EntryKind, sequence: int = 0) -> None:
        """Add a log entry of the session; its lsn becomes the session's version."""
        session.version = self._write(kind, session.key.namespace, session.row_id, sequence)
        session.last_active_us = self._now_us()

    def _now_us(self) -> int:
        """Return a strictly increasing time, so that the order of activity is the order of commands."""
        self._last_us = max(time.time_ns() // 1000, self._last_us + 1)
        return self._last_us

    def _find(self, key: SessionKey, user_id: str) -> Session | None:
        session = self.sessions.get(key)
        if session is not None:
            session.check_user(user_id)
        return session

    def _claim(self, key: SessionKey, user_id: str) -> Session:
        """Return the session, created if absent; the first user named becomes its user."""
        known = self.sessions.get(key)
        session = known or self._create(key)
        if user_id and not session.user_id:
            session.user_id = user_id
            if known:
                self._write_session_entry(session, EntryKind.CLAIM)
        return session

    def _create(self, key: SessionKey) -> Session:
        self._last_row_id += 1
        now_us = self._now_us()
        self.sessions[key] = Session(key, self._last_row_id, now_us, now_us)
        return self.sessions[key]

    def _publish(self, session: Session, **event: Any) -> SessionHead:
        head = self.head(session)
        self._notify(CommitEvent(session.key, head, **event))
        return head

    def _append(self, command: Append) -> Appended:
        command.check_predecessor()
        known = self._find(command.key, command.user_id) or Session(command.key, 0, 0, 0)
        new = known.new_drafts(command.drafts)
        if new and command.expected_sequence not in (None, known.last_sequence):
            raise SequenceMismatch(command.expected_sequence or 0, known.last_sequence)
        self._check_quota(command.key.namespace, self._growth(known, new))
        session = self._claim(command.key, command.user_id)
        appended = [self._append_one(session, draft) for draft in new]
        revived = session.revive({message.exchange for message in appended if message.exchange})
        head = self._publish(session, appended=appended, reload=revived)
        return Appended(head, list(session.added(command.drafts, new)))

    def _growth(self, known: Session, new: Sequence[Draft]) -> Usage:
        places = enumerate(new, known.last_sequence + 1)
        size = sum(message_bytes(with_sequence(draft.body, sequence), draft.vector) for sequence, draft in places)
        return Usage(int(known.key not in self.sessions), len(new), size)

    def _append_one(self, session: Session, draft: Draft) -> StoredMessage:
        sequence = session.last_sequence + 1
        exchange, _ = link_exchange(session.open_calls(), draft.calls, draft.answers, sequence)
        body = with_sequence(draft.body, sequence)
        stored = StoredMessage(
            sequence, draft.role, draft.tokens, exchange, draft.flags, draft.score, draft.time_us, body
        )
        self._write_session_entry(session, EntryKind.MESSAGE, sequence)
        session.messages.append(Message(draft, session.version, stored, stored))
        session.last_sequence = sequence
        return stored

    def _update_message(self, command: UpdateMessage) -> MessageUpdated:
        session = self._find(command.key, command.user_id)
        message = session.find(command.message_id) if session else None
        if session is None or message is None:
            raise NotFound(f"there is no message {command.message_id!r} in this session")
        original, displayed = command.revise(message.original), command.revise(message.displayed)
        self._check_quota(command.key.namespace, Usage(bytes=len(original.body) - len(message.original.body)))
        message.revise(original, displayed)
        self._claim(command.key, command.user_id)
        self._write_session_entry(session, EntryKind.ANNOTATION, message.original.sequence)
        if message.displayed.flags & Flag.SHORTENED:
            self._write_session_entry(session, EntryKind.WINDOW)
        return MessageUpdated(self._publish(session, replaced=(message.displayed,)), message.displayed)

    def _update_window(self, command: UpdateWindow) -> WindowUpdated:
        session = self.sessions.get(command.key)
        if session is None or session.version != command.expected_version:
            raise VersionConflict("the session has changed")
        window = {message.displayed.sequence: message for message in session.messages if message.in_window}
        removed = sorted(set(command.removed))
        for sequence in (*removed, *(message.sequence for message in command.shortened)):
            if sequence not in window:
                raise NotFound(f"message {sequence} is not in the window")
        for shortened in command.shortened:
            window[shortened.sequence].shorten(shortened)
            self._write_session_entry(session, EntryKind.WINDOW)
        replaced = [window[shortened.sequence].displayed for shortened in command.shortened]
        for sequence in removed:
            window[sequence].prune()
        if removed:
            self._write_session_entry(session, EntryKind.WINDOW)
        return WindowUpdated(self._publish(session, removed=removed, replaced=replaced), command.result)

    def _update_window_exclusive(self, command: UpdateWindowExclusive) -> WindowUpdated:
        return self._update_window(command.decide())

    def plan_erasure(self, command: Erase | EraseUser) -> ErasurePlan:
        if isinstance(command, Erase):
            return plan_session(self._find(command.key, command.user_id), self.documents, self.records, command)
        user = (command.namespace, command.user_id)
        sessions = [each for each in self.sessions.values() if (each.key.namespace, each.user_id) == user]
        return plan_user(sessions, self.documents, self.records, command)

    def _erase(self, command: Erase) -> Erased:
        plan = self.plan_erasure(command)
        self._remove(plan)
        if plan.sessions and not command.delete_session:
            return Erased(self._recreate(plan.sessions[0], command.user_id), plan.counts)
        if plan.sessions or plan.records:
            self.policies.pop(command.key, None)
            self._notify(CommitEvent(command.key, None, reload=True))
        return Erased(None, plan.counts)

    def _erase_user(self, command: EraseUser) -> Erased:
        plan = self.plan_erasure(command)
        self._remove(plan)
        for session in plan.sessions:
            self.policies.pop(session.key, None)
            self._notify(CommitEvent(session.key, None, reload=True))
        if any(plan.counts):
            self._notify(CommitEvent(SessionKey(command.namespace, ""), None, reload=True))
        return Erased(None, plan.counts)

    def _remove(self, plan: ErasurePlan) -> None:
        for session in plan.sessions:
            self._write_session_entry(session, EntryKind.ERASURE)
            del self.sessions[session.key]
        self.records.remove(plan.records)
        self.documents.remove(plan.documents)

    def _recreate(self, before: Session, user_id: str) -> SessionHead:
        """Create the same session, empty, under a new row id."""
        session = self._create(before.key)
        session.user_id, session.version = before.user_id or user_id, before.version
        session.last_sequence, session.create_time_us = before.last_sequence, before.create_time_us
        return self._publish(session, reload=True)

    def _claim_session(self, command: Claim) -> SessionHead:
        known = self._find(command.key, command.user_id)
        self._check_quota(command.key.namespace, Usage(sessions=int(known is None)))
        user_before = known.user_id if known else None
        session = self._claim(command.key, command.user_id)
        return self.head(session) if session.user_id == user_before else self._publish(session)

    def _set_policy(self, command: SetPolicy) -> PolicySet:
        known = self._find(command.key, command.user_id)
        if known is None and command.key.session_id:
            self._check_quota(command.key.namespace, Usage(sessions=1))
        self.policies.pop(command.key, None)
        if command.policy is not None:
            self.policies[command.key] = command.policy
        if not command.key.session_id:
            return PolicySet(None)
        return PolicySet(self._publish(self._claim(command.key, command.user_id)))

    def _add_dead_letter(self, command: AddDeadLetter) -> None:
        self.bookkeeping.add_dead_letter(command, self._now_us())

    def _put_document(self, command: PutDocument) -> DocumentPut:
        return self.documents.put(command)

    def _delete_document(self, command: DeleteDocument) -> DocumentDeleted:
        return self.documents.delete(command)

    def _upsert_records(self, command: UpsertRecords) -> RecordsUpserted:
        if command.derived_from is not None and command.derived_from not in self.by_row_id():
            raise NotFound("the source session was erased")
        upserted, progress = self.records.upsert(command), command.progress
        if progress is not None:
            self.bookkeeping.advance(AdvanceWatermark(progress.task, command.owner.namespace, progress.lsn))
        return upserted

    def _delete_record(self, command: DeleteRecord) -> Record:
        return self.records.delete(command)

    _handlers: ClassVar[dict[type, Callable[["JournalState", Any], Any]]] = {
        Append: _append,
        UpdateMessage: _update_message,
        UpdateWindow: _update_window,
        UpdateWindowExclusive: _update_window_exclusive,
        Erase: _erase,
        EraseUser: _erase_user,
        Claim: _claim_session,
        SetPolicy: _set_policy,
        Calibrate: lambda state, command: state.bookkeeping.calibrate(command),
        AdvanceWatermark: lambda state, command: state.bookkeeping.advance(command),
        AddDeadLetter: _add_dead_letter,
        PutDocument: _put_document,
        DeleteDocument: _delete_document,
        UpsertRecords: _upsert_records,
        DeleteRecord: _delete_record,
    }
