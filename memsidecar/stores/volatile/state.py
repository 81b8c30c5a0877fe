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
    Calibration,
    Claim,
    Command,
    CommitEvent,
    DeadLetter,
    DeleteDocument,
    DeleteRecord,
    DocumentDeleted,
    DocumentPut,
    Erase,
    Erased,
    ErasureCounts,
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
from memsidecar.stores.volatile.documents import DocumentTable
from memsidecar.stores.volatile.records import RecordTable, erase_derived, erasure_counts
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
        self.calibrations: dict[tuple[str, str], Calibration] = {}
        self.watermarks: dict[tuple[str, str], int] = {}
        self.dead_letters: dict[tuple[str, int, str], DeadLetter] = {}
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

    def erasure_counts(self, command: Erase) -> ErasureCounts:
        return erasure_counts(self._find(command.key, command.user_id), self.documents, self.records, command)

    def _erase(self, command: Erase) -> Erased:
        session, counts = self._find(command.key, command.user_id), self.erasure_counts(command)
        if session is None:
            return self._erase_unknown(command, counts)
        self._write_session_entry(session, EntryKind.ERASURE)
        del self.sessions[session.key]
        erase_derived(session, self.documents, self.records, command)
        if command.delete_session:
            self._delete(session)
            return Erased(None, counts)
        left = self._recreate(session, command.user_id)
        return Erased(self._publish(left, reload=True), counts)

    def _erase_unknown(self, command: Erase, counts: ErasureCounts) -> Erased:
        erase_derived(None, self.documents, self.records, command)
        if counts.facts + counts.summaries + counts.artifacts + counts.patterns:
            self._notify(CommitEvent(command.key, None, reload=True))
        return Erased(None, counts)

    def _recreate(self, before: Session, user_id: str) -> Session:
        """Return the same session, empty, under a new row id."""
        session = self._create(before.key)
        session.user_id, session.version = before.user_id or user_id, before.version
        session.last_sequence, session.create_time_us = before.last_sequence, before.create_time_us
        return session

    def _delete(self, session: Session) -> None:
        self.policies.pop(session.key, None)
        self._notify(CommitEvent(session.key, None, reload=True))

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

    def _calibrate(self, command: Calibrate) -> Calibration:
        place = (command.namespace, command.model)
        self.calibrations[place] = command.step(self.calibrations.get(place, Calibration()))
        return self.calibrations[place]

    def _advance_watermark(self, command: AdvanceWatermark) -> None:
        place = (command.task, command.namespace)
        self.watermarks[place] = max(command.lsn, self.watermarks.get(place, 0))

    def _add_dead_letter(self, command: AddDeadLetter) -> None:
        entry = DeadLetter(command.task, command.namespace, command.lsn, command.reason, self._now_us())
        self.dead_letters.setdefault((command.task, command.lsn, command.namespace), entry)

    def _put_document(self, command: PutDocument) -> DocumentPut:
        return self.documents.put(command)

    def _delete_document(self, command: DeleteDocument) -> DocumentDeleted:
        return self.documents.delete(command)

    def _upsert_records(self, command: UpsertRecords) -> RecordsUpserted:
        if command.derived_from is not None and command.derived_from not in self.by_row_id():
            raise NotFound("the source session was erased")
        upserted, progress = self.records.upsert(command), command.progress
        if progress is not None:
            self._advance_watermark(AdvanceWatermark(progress.task, command.owner.namespace, progress.lsn))
        return upserted

    def _delete_record(self, command: DeleteRecord) -> Record:
        return self.records.delete(command)

    _handlers: ClassVar[dict[type, Callable[["JournalState", Any], Any]]] = {
        Append: _append,
        UpdateMessage: _update_message,
        UpdateWindow: _update_window,
        UpdateWindowExclusive: _update_window_exclusive,
        Erase: _erase,
        Claim: _claim_session,
        SetPolicy: _set_policy,
        Calibrate: _calibrate,
        AdvanceWatermark: _advance_watermark,
        AddDeadLetter: _add_dead_letter,
        PutDocument: _put_document,
        DeleteDocument: _delete_document,
        UpsertRecords: _upsert_records,
        DeleteRecord: _delete_record,
    }
