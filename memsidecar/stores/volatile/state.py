"""Command application."""

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
from memsidecar.stores.volatile.records import RecordTable, count_belongings, drop_belongings
from memsidecar.stores.volatile.session import Entry, EntryKind, Message, Session


class JournalState:
    """All that the journal knows. Not thread-safe by itself."""

    def __init__(self, tell: Callable[[CommitEvent], None], quotas: QuotaLookup) -> None:
        self.log: list[Entry] = []
        self.tails: dict[str, int] = {}
        self.library = DocumentTable(self._write_of_document, self._refuse_growth)
        self.notebook = RecordTable(self._refuse_growth)
        self.sessions: dict[SessionKey, Session] = {}
        self.policies: dict[SessionKey, Policy] = {}
        self.calibrations: dict[tuple[str, str], Calibration] = {}
        self.watermarks: dict[tuple[str, str], int] = {}
        self.set_asides: dict[tuple[str, int, str], DeadLetter] = {}
        self._tell_all = tell
        self._quotas = quotas
        self._number = 0
        self._last_us = 0

    def carry_out(self, command: Command) -> Any:
        return self._verbs[type(command)](self, command)

    def head(self, session: Session) -> SessionHead:
        return session.head(self.policies.get(session.key))

    def by_number(self) -> dict[int, Session]:
        return {session.number: session for session in self.sessions.values()}

    def usage(self, namespace: str) -> Usage:
        mine = [session for session in self.sessions.values() if session.key.namespace == namespace]
        said = [message for session in mine for message in session.messages]
        size = sum(message.bytes for message in said) + self.library.bytes(namespace) + self.notebook.bytes(namespace)
        return Usage(len(mine), len(said), size)

    def _refuse_growth(self, namespace: str, change: Usage) -> None:
        """If it is more than the namespace's quota allows. All is counted again for that: only where there is one."""
        quota = self._quotas(namespace)
        if quota != NO_QUOTA:
            quota.check(self.usage(namespace).plus(change), change)

    def _write(self, about: EntryKind, namespace: str, number: int, sequence: int = 0) -> int:
        lsn = len(self.log) + 1
        self.log.append(Entry(lsn, about, namespace, number, sequence))
        self.tails[namespace] = lsn
        return lsn

    def _write_of_document(self, about: EntryKind, namespace: str, number: int) -> int:
        self._tell_all(CommitEvent(SessionKey(namespace, ""), None))
        return self._write(about, namespace, number)

    def _write_of(self, session: Session, about: EntryKind, sequence: int = 0) -> None:
        """An entry of the session, which is then its version."""
        session.version = self._write(about, session.key.namespace, session.number, sequence)
        session.last_active_us = self._now_us()

    def _now_us(self) -> int:
        """Never the same twice, so that the order of activity is the order of commands."""
        self._last_us = max(time.time_ns() // 1000, self._last_us + 1)
        return self._last_us

    def _find(self, key: SessionKey, user_id: str) -> Session | None:
        session = self.sessions.get(key)
        if session is not None:
            session.refuse_stranger(user_id)
        return session

    def _claim(self, key: SessionKey, user_id: str) -> Session:
        """The session, made where there is none; the first user named makes it theirs."""
        known = self.sessions.get(key)
        session = known or self._begin(key)
        if user_id and not session.user_id:
            session.user_id = user_id
            if known:
                self._write_of(session, EntryKind.CLAIM)
        return session

    def _begin(self, key: SessionKey) -> Session:
        self._number += 1
        now_us = self._now_us()
        self.sessions[key] = Session(key, self._number, now_us, now_us)
        return self.sessions[key]

    def _tell(self, session: Session, **change: Any) -> SessionHead:
        head = self.head(session)
        self._tell_all(CommitEvent(session.key, head, **change))
        return head

    def _append(self, command: Append) -> Appended:
        command.check_predecessor()
        known = self._find(command.key, command.user_id) or Session(command.key, 0, 0, 0)
        fresh = known.fresh(command.drafts)
        if fresh and command.expected_sequence not in (None, known.last_sequence):
            raise SequenceMismatch(command.expected_sequence or 0, known.last_sequence)
        self._refuse_growth(command.key.namespace, self._growth(known, fresh))
        session = self._claim(command.key, command.user_id)
        appended = [self._append_one(session, draft) for draft in fresh]
        revived = session.revive({one.exchange for one in appended if one.exchange})
        head = self._tell(session, appended=appended, reload=revived)
        return Appended(head, list(session.answers(command.drafts, fresh)))

    def _growth(self, known: Session, fresh: Sequence[Draft]) -> Usage:
        places = enumerate(fresh, known.last_sequence + 1)
        size = sum(message_bytes(with_sequence(draft.body, sequence), draft.vector) for sequence, draft in places)
        return Usage(int(known.key not in self.sessions), len(fresh), size)

    def _append_one(self, session: Session, draft: Draft) -> StoredMessage:
        sequence = session.last_sequence + 1
        exchange, _ = link_exchange(session.open_calls(), draft.calls, draft.answers, sequence)
        body = with_sequence(draft.body, sequence)
        stored = StoredMessage(
            sequence, draft.role, draft.tokens, exchange, draft.flags, draft.score, draft.time_us, body
        )
        self._write_of(session, EntryKind.MESSAGE, sequence)
        session.messages.append(Message(draft, session.version, stored, stored))
        session.last_sequence = sequence
        return stored

    def _rewrite(self, command: UpdateMessage) -> MessageUpdated:
        session = self._find(command.key, command.user_id)
        message = session.find(command.message_id) if session else None
        if session is None or message is None:
            raise NotFound(f"there is no message {command.message_id!r} in this session")
        written, shown = command.revise(message.original), command.revise(message.displayed)
        self._refuse_growth(command.key.namespace, Usage(bytes=len(written.body) - len(message.original.body)))
        message.revise(written, shown)
        self._claim(command.key, command.user_id)
        self._write_of(session, EntryKind.ANNOTATION, message.original.sequence)
        if message.displayed.flags & Flag.SHORTENED:
            self._write_of(session, EntryKind.WINDOW)
        return MessageUpdated(self._tell(session, replaced=(message.displayed,)), message.displayed)

    def _trim(self, command: UpdateWindow) -> WindowUpdated:
        session = self.sessions.get(command.key)
        if session is None or session.version != command.expected_version:
            raise VersionConflict("the session has moved on")
        window = {message.displayed.sequence: message for message in session.messages if message.in_window}
        removed = sorted(set(command.removed))
        for sequence in (*removed, *(one.sequence for one in command.shortened)):
            if sequence not in window:
                raise NotFound(f"message {sequence} is not in the window")
        for one in command.shortened:
            window[one.sequence].shorten(one)
            self._write_of(session, EntryKind.WINDOW)
        replaced = [window[one.sequence].displayed for one in command.shortened]
        for sequence in removed:
            window[sequence].prune()
        if removed:
            self._write_of(session, EntryKind.WINDOW)
        return WindowUpdated(self._tell(session, removed=removed, replaced=replaced))

    def _trim_now(self, command: UpdateWindowExclusive) -> WindowUpdated:
        return self._trim(command.decide())

    def erasure_counts(self, command: Erase) -> ErasureCounts:
        return count_belongings(self._find(command.key, command.user_id), self.library, self.notebook, command)

    def _erase(self, command: Erase) -> Erased:
        session, gone = self._find(command.key, command.user_id), self.erasure_counts(command)
        if session is None:
            return self._erase_unknown(command, gone)
        self._write_of(session, EntryKind.ERASURE)
        del self.sessions[session.key]
        drop_belongings(session, self.library, self.notebook, command)
        if command.delete_session:
            self._forget(session)
            return Erased(None, gone)
        left = self._begin_again(session, command.user_id)
        return Erased(self._tell(left, reload=True), gone)

    def _erase_unknown(self, command: Erase, gone: ErasureCounts) -> Erased:
        drop_belongings(None, self.library, self.notebook, command)
        if gone.facts + gone.summaries + gone.artifacts + gone.patterns:
            self._tell_all(CommitEvent(command.key, None, reload=True))
        return Erased(None, gone)

    def _begin_again(self, before: Session, user_id: str) -> Session:
        """The same session under a new number."""
        session = self._begin(before.key)
        session.user_id, session.version = before.user_id or user_id, before.version
        session.last_sequence, session.create_time_us = before.last_sequence, before.create_time_us
        return session

    def _forget(self, session: Session) -> None:
        self.policies.pop(session.key, None)
        self._tell_all(CommitEvent(session.key, None, reload=True))

    def _claim_session(self, command: Claim) -> SessionHead:
        known = self._find(command.key, command.user_id)
        self._refuse_growth(command.key.namespace, Usage(sessions=int(known is None)))
        was_whose = known.user_id if known else None
        session = self._claim(command.key, command.user_id)
        return self.head(session) if session.user_id == was_whose else self._tell(session)

    def _set_policy(self, command: SetPolicy) -> PolicySet:
        known = self._find(command.key, command.user_id)
        if known is None and command.key.session_id:
            self._refuse_growth(command.key.namespace, Usage(sessions=1))
        self.policies.pop(command.key, None)
        if command.policy is not None:
            self.policies[command.key] = command.policy
        if not command.key.session_id:
            return PolicySet(None)
        return PolicySet(self._tell(self._claim(command.key, command.user_id)))

    def _calibrate(self, command: Calibrate) -> Calibration:
        place = (command.namespace, command.model)
        self.calibrations[place] = command.step(self.calibrations.get(place, Calibration()))
        return self.calibrations[place]

    def _advance(self, command: AdvanceWatermark) -> None:
        place = (command.task, command.namespace)
        self.watermarks[place] = max(command.lsn, self.watermarks.get(place, 0))

    def _set_aside(self, command: AddDeadLetter) -> None:
        entry = DeadLetter(command.task, command.namespace, command.lsn, command.reason, self._now_us())
        self.set_asides.setdefault((command.task, command.lsn, command.namespace), entry)

    def _put_document(self, command: PutDocument) -> DocumentPut:
        return self.library.put(command)

    def _drop_document(self, command: DeleteDocument) -> DocumentDeleted:
        return self.library.drop(command)

    def _revise_notes(self, command: UpsertRecords) -> RecordsUpserted:
        if command.derived_from is not None and command.derived_from not in self.by_number():
            raise NotFound("what this was made of is erased")
        revised, progress = self.notebook.revise(command), command.progress
        if progress is not None:
            self._advance(AdvanceWatermark(progress.task, command.owner.namespace, progress.lsn))
        return revised

    def _drop_note(self, command: DeleteRecord) -> Record:
        return self.notebook.drop(command)

    _verbs: ClassVar[dict[type, Callable[["JournalState", Any], Any]]] = {
        Append: _append,
        UpdateMessage: _rewrite,
        UpdateWindow: _trim,
        UpdateWindowExclusive: _trim_now,
        Erase: _erase,
        Claim: _claim_session,
        SetPolicy: _set_policy,
        Calibrate: _calibrate,
        AdvanceWatermark: _advance,
        AddDeadLetter: _set_aside,
        PutDocument: _put_document,
        DeleteDocument: _drop_document,
        UpsertRecords: _revise_notes,
        DeleteRecord: _drop_note,
    }
