"""The state of the RAM journal, and the application of commands to it."""

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from memsidecar.domain.errors import NotFound, SequenceMismatch
from memsidecar.domain.message import Draft, Flag, StoredMessage
from memsidecar.domain.pruning import link_exchange
from memsidecar.domain.quota import NO_QUOTA, QuotaLookup, Usage
from memsidecar.domain.session import SessionHead, SessionKey
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
    Erase,
    Erased,
    ErasedNames,
    EraseUser,
    Erasure,
    ErasureCounts,
    ExpireMessages,
    ForgetMessages,
    MessageUpdated,
    Owner,
    PolicySet,
    PutDocument,
    RecordsUpserted,
    SetPolicy,
    Tombstone,
    UpdateMessage,
    UpdateWindow,
    UpdateWindowExclusive,
    UpsertRecords,
    VersionConflict,
    WindowUpdated,
)
from memsidecar.stores.message_encoding import message_bytes, with_sequence
from memsidecar.stores.volatile.documents import DocumentTable
from memsidecar.stores.volatile.erase import ErasurePlan, plan_session, plan_user
from memsidecar.stores.volatile.erase_messages import plan_messages
from memsidecar.stores.volatile.events import EntryKind, EventReader
from memsidecar.stores.volatile.records import RecordTable
from memsidecar.stores.volatile.session import Message, Session
from memsidecar.stores.volatile.session_log import SessionLog
from memsidecar.stores.volatile.task_state import TaskState


class JournalState(SessionLog):
    """All data of the journal. Not thread-safe: the journal locks."""

    def __init__(self, notify: Callable[[CommitEvent], None], quotas: QuotaLookup) -> None:
        super().__init__(notify)
        self.documents = DocumentTable(self._write_document_entry, self.check_quota)
        self.records = RecordTable(self.check_quota, self.log.write_record)
        self.events = EventReader(self.log, self.sessions, self.records)
        self.task_state = TaskState()
        self.tombstones: dict[tuple[str, Tombstone], int] = {}
        self._quotas = quotas

    def apply(self, command: Command) -> Any:
        return self._handlers[type(command)](self, command)

    def usage(self, namespace: str) -> Usage:
        sessions = [session for session in self.sessions.values() if session.key.namespace == namespace]
        messages = [message for session in sessions for message in session.messages]
        size = (
            sum(message.bytes for message in messages) + self.documents.bytes(namespace) + self.records.bytes(namespace)
        )
        return Usage(len(sessions), len(messages), size)

    def check_quota(self, namespace: str, change: Usage) -> None:
        """Raise QuotaExceeded if the change exceeds the quota. Usage is recounted: only where there is a quota."""
        quota = self._quotas(namespace)
        if quota != NO_QUOTA:
            quota.check(self.usage(namespace).plus(change), change)

    def _append(self, command: Append) -> Appended:
        command.check_predecessor()
        known = self.find(command.key, command.user_id) or Session(command.key, 0, 0, 0)
        new = known.new_drafts(command.drafts)
        if new and command.expected_sequence not in (None, known.last_sequence):
            raise SequenceMismatch(command.expected_sequence or 0, known.last_sequence)
        self.check_quota(command.key.namespace, self._growth(known, new))
        session = self.claim(command.key, command.user_id)
        appended = [self._append_one(session, draft) for draft in new]
        revived = session.revive({message.exchange for message in appended if message.exchange})
        head = self.publish(session, appended=appended, reload=revived)
        return Appended(head, list(session.added(command.drafts, new)))

    def _growth(self, known: Session, new: Sequence[Draft]) -> Usage:
        places = enumerate(new, known.last_sequence + 1)
        size = sum(message_bytes(with_sequence(draft.body, sequence), draft.vector) for sequence, draft in places)
        return Usage(int(known.key not in self.sessions), len(new), size)

    def _append_one(self, session: Session, draft: Draft) -> StoredMessage:
        sequence = session.last_sequence + 1
        exchange, session.open_calls = link_exchange(session.open_calls, draft.calls, draft.answers, sequence)
        body = with_sequence(draft.body, sequence)
        stored = StoredMessage(
            sequence, draft.role, draft.tokens, exchange, draft.flags, draft.score, draft.time_us, body
        )
        self.write_session_entry(session, EntryKind.MESSAGE, sequence, draft.id)
        session.messages.append(Message(draft, session.version, stored, stored, session.last_active_us))
        session.last_sequence = sequence
        return stored

    def _update_message(self, command: UpdateMessage) -> MessageUpdated:
        session = self.find(command.key, command.user_id)
        message = session.find(command.message_id) if session else None
        if session is None or message is None:
            raise NotFound(f"there is no message {command.message_id!r} in this session")
        original, displayed = command.revise(message.original), command.revise(message.displayed)
        self.check_quota(command.key.namespace, Usage(bytes=len(original.body) - len(message.original.body)))
        message.revise(original, displayed)
        self.claim(command.key, command.user_id)
        self.write_session_entry(session, EntryKind.ANNOTATION, message.original.sequence, command.message_id)
        if message.displayed.flags & Flag.SHORTENED:
            self.write_session_entry(session, EntryKind.SHORTENING)
        return MessageUpdated(self.publish(session, replaced=(message.displayed,)), message.displayed)

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
            self.write_session_entry(session, EntryKind.SHORTENING)
        replaced = [window[shortened.sequence].displayed for shortened in command.shortened]
        for sequence in removed:
            window[sequence].prune()
        if removed:
            self.write_session_entry(session, EntryKind.PRUNE, removed[-1])
        return WindowUpdated(self.publish(session, removed=removed, replaced=replaced), command.result)

    def _update_window_exclusive(self, command: UpdateWindowExclusive) -> WindowUpdated:
        return self._update_window(command.decide())

    def erasure_counts(self, command: Erasure) -> ErasureCounts:
        if isinstance(command, ForgetMessages | ExpireMessages):
            return plan_messages(self.sessions, self.records, command).counts
        return self.plan_erasure(command).counts

    def _erase_messages(self, command: ForgetMessages | ExpireMessages) -> Erased:
        plan = plan_messages(self.sessions, self.records, command)
        session, active_us = plan.session, plan.session.last_active_us
        if isinstance(command, ForgetMessages):
            self.claim(command.key, command.user_id)
            self._add_tombstones(command.key.namespace, plan.forgotten, plan.newest_us)
        if not plan.messages:
            return Erased(self.head(session), plan.counts)
        for message in plan.pruned:
            message.prune()
        if plan.pruned:
            self.write_session_entry(session, EntryKind.PRUNE, max(each.original.sequence for each in plan.pruned))
        for message in plan.messages:
            self.write_session_entry(session, EntryKind.MESSAGE_ERASURE, message.original.sequence)
        plan.remove(self.records)
        session.last_active_us = active_us  # an erasure is no activity of the session
        return Erased(self.publish(session, reload=True), plan.counts)

    def plan_erasure(self, command: Erase | EraseUser) -> ErasurePlan:
        if isinstance(command, Erase):
            return plan_session(self.find(command.key, command.user_id), self.documents, self.records, command)
        user = (command.namespace, command.user_id)
        sessions = [each for each in self.sessions.values() if (each.key.namespace, each.user_id) == user]
        return plan_user(sessions, self.documents, self.records, command)

    def _erase(self, command: Erase) -> Erased:
        plan = self.plan_erasure(command)
        self._add_tombstones(command.key.namespace, plan.forgotten, plan.newest_us)
        self._remove(plan, command.user_id, command.delete_session)
        if command.delete_session and not plan.sessions:
            self.log.write_deletion(0, Owner(command.key.namespace, "", command.key.session_id))
        if plan.sessions and not command.delete_session:
            return Erased(self._recreate(plan.sessions[0], command.user_id), plan.counts)
        if plan.sessions or plan.records:
            self.policies.pop(command.key, None)
            self._notify(CommitEvent(command.key, None, reload=True))
        return Erased(None, plan.counts)

    def _erase_user(self, command: EraseUser) -> Erased:
        plan = self.plan_erasure(command)
        self._add_tombstones(command.namespace, plan.forgotten, plan.newest_us)
        self._remove(plan, command.user_id, delete_sessions=True)
        owner = Owner(command.namespace, command.user_id)
        if any(plan.counts) or (command.user_id and self.log.has_owner(owner)):
            self.log.write_deletion(0, owner)
        for session in plan.sessions:
            self.policies.pop(session.key, None)
            self._notify(CommitEvent(session.key, None, reload=True))
        if any(plan.counts):
            self._notify(CommitEvent(SessionKey(command.namespace, ""), None, reload=True))
        return Erased(None, plan.counts)

    def _add_tombstones(self, namespace: str, tombstones: Sequence[Tombstone], newest_us: int) -> None:
        for tombstone in tombstones:
            before_us = self.tombstones.get((namespace, tombstone), 0)
            self.tombstones[namespace, tombstone] = max(before_us, self.now_us(), newest_us)

    def _remove(self, plan: ErasurePlan, user_id: str, delete_sessions: bool) -> None:
        for session in plan.sessions:
            owner = Owner(session.key.namespace, session.user_id or user_id, session.key.session_id)
            if delete_sessions:
                self.log.write_deletion(session.row_id, owner)
            else:
                self.write_session_entry(session, EntryKind.CLEAR, self.next_session)
                self.log.erasures.append(ErasedNames(session.version, owner))
            del self.sessions[session.key]
        self.records.remove(plan.records)
        self.documents.remove(plan.documents)

    def _recreate(self, before: Session, user_id: str) -> SessionHead:
        """Create the same session, empty, under a new row id."""
        session = self.create(before.key)
        session.user_id, session.version = before.user_id or user_id, before.version
        session.last_sequence, session.create_time_us = before.last_sequence, before.create_time_us
        return self.publish(session, reload=True)

    def _claim_session(self, command: Claim) -> SessionHead:
        known = self.find(command.key, command.user_id)
        self.check_quota(command.key.namespace, Usage(sessions=int(known is None)))
        user_before = known.user_id if known else None
        session = self.claim(command.key, command.user_id)
        return self.head(session) if session.user_id == user_before else self.publish(session)

    def _set_policy(self, command: SetPolicy) -> PolicySet:
        known = self.find(command.key, command.user_id)
        if known is None and command.key.session_id:
            self.check_quota(command.key.namespace, Usage(sessions=1))
        self.policies.pop(command.key, None)
        if command.policy is not None:
            self.policies[command.key] = command.policy
        if not command.key.session_id:
            return PolicySet(None)
        return PolicySet(self.publish(self.claim(command.key, command.user_id)))

    def _add_dead_letter(self, command: AddDeadLetter) -> None:
        self.task_state.add_dead_letter(command, self.now_us())

    def _upsert_records(self, command: UpsertRecords) -> RecordsUpserted:
        if command.derived_from is not None:
            session = self.by_row_id().get(command.derived_from)
            if session is None:
                raise NotFound("the source session was erased")
            if not all(session.at(sequence) for sequence in command.derived_sequences):
                raise NotFound("a source message was erased")
        upserted, progress = self.records.upsert(command), command.progress
        if progress is not None:
            self.task_state.advance(AdvanceWatermark(progress.task, command.owner.namespace, progress.lsn))
        return upserted

    _handlers: ClassVar[dict[type, Callable[["JournalState", Any], Any]]] = {
        Append: _append,
        UpdateMessage: _update_message,
        UpdateWindow: _update_window,
        UpdateWindowExclusive: _update_window_exclusive,
        Erase: _erase,
        EraseUser: _erase_user,
        ForgetMessages: _erase_messages,
        ExpireMessages: _erase_messages,
        Claim: _claim_session,
        SetPolicy: _set_policy,
        Calibrate: lambda state, command: state.task_state.calibrate(command),
        AdvanceWatermark: lambda state, command: state.task_state.advance(command),
        AddDeadLetter: _add_dead_letter,
        PutDocument: lambda state, command: state.documents.put(command),
        DeleteDocument: lambda state, command: state.documents.delete(command),
        UpsertRecords: _upsert_records,
        DeleteRecord: lambda state, command: state.records.delete(command),
    }
