"""Plan of ImportMessages: the new messages of one command, checked before anything is written."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from memsidecar.domain.errors import IdConflict
from memsidecar.domain.message import Draft, Flag, Role, StoredMessage
from memsidecar.domain.pruning import link_exchange
from memsidecar.domain.quota import Usage
from memsidecar.domain.session import SessionHead, SessionKey, claimed_copy, is_claim
from memsidecar.stores.contract import MessageImport, Outcome
from memsidecar.stores.message_encoding import message_bytes, with_sequence


class ImportReader(Protocol):
    """The reads of a batch, in one snapshot."""

    def head(self, key: SessionKey) -> SessionHead | None: ...
    def new_session(self, key: SessionKey, user_id: str) -> SessionHead:
        """Return a session with a row id of its own."""

    def find_flags(self, session: int, sequence: int) -> int:
        """Return the flags of a message; 0 if there is none."""


class ImportedClaim(NamedTuple):
    """A session that had messages and no user gets a user."""

    lsn: int
    session: int


class ImportedMessage(NamedTuple):
    """A new message. `displayed` is the original, with the same lsn, unless another version is displayed."""

    lsn: int
    displayed_lsn: int
    session: int
    draft: Draft
    original: StoredMessage
    displayed: StoredMessage

    @property
    def is_shortened(self) -> bool:
        return self.displayed_lsn != self.lsn


class ImportedSession:
    """A session and its changes: messages of the window, bytes, and whether the session is new."""

    def __init__(self, head: SessionHead, *, is_new: bool) -> None:
        self.head = head
        self.is_new = self.is_changed = is_new
        self.appended: list[StoredMessage] = []
        self.bytes = 0


class MessageBatch:
    """The messages of one command, with lsns after `lsn`. `fingerprints` are those of known ids, by session and id."""

    def __init__(self, reader: ImportReader, lsn: int, now_us: int, fingerprints: Mapping[tuple[int, str], bytes]):
        self.lsn = lsn
        self.entries: list[ImportedMessage | ImportedClaim] = []
        self._reader = reader
        self._now_us = now_us
        self._sessions: dict[SessionKey, ImportedSession] = {}
        self._fingerprints = dict(fingerprints)
        self._flags: dict[tuple[int, int], int] = {}

    @property
    def changed_sessions(self) -> Sequence[ImportedSession]:
        return [session for session in self._sessions.values() if session.is_changed]

    @property
    def messages(self) -> Sequence[ImportedMessage]:
        return [entry for entry in self.entries if isinstance(entry, ImportedMessage)]

    @property
    def usage(self) -> Usage:
        changed = self.changed_sessions
        new, size = sum(session.is_new for session in changed), sum(session.bytes for session in changed)
        return Usage(new, len(self.messages), size)

    def add(self, message: MessageImport) -> Outcome:
        session = self._session(message)
        fingerprint = self._fingerprints.get((session.head.row_id, message.draft.id))
        if fingerprint is None:
            self._add_new(session, message)
            return Outcome.STORED
        if fingerprint != message.draft.fingerprint:
            raise IdConflict(message.draft.id)
        return Outcome.DUPLICATE

    def _session(self, message: MessageImport) -> ImportedSession:
        session = self._sessions.get(message.key)
        before = self._reader.head(message.key) if session is None else session.head
        if before is None:
            head = self._reader.new_session(message.key, message.user_id)
            session = self._sessions[message.key] = ImportedSession(head, is_new=True)
            return session
        head = claimed_copy(before, message.user_id)
        if session is None:
            session = self._sessions[message.key] = ImportedSession(head, is_new=False)
        session.head = head
        if is_claim(before, head):
            head.version, session.is_changed = self._next_lsn(), True
            self.entries.append(ImportedClaim(self.lsn, head.row_id))
        return session

    def _add_new(self, session: ImportedSession, message: MessageImport) -> None:
        draft, head = message.draft, session.head
        keeps_sequence = message.sequence > head.last_sequence
        sequence = message.sequence if keeps_sequence else head.last_sequence + 1
        exchange = 0
        if draft.calls or draft.answers:
            exchange, head.open_calls = link_exchange(head.open_calls, draft.calls, draft.answers, sequence)
        pruned = self._is_pruned(head.row_id, message, exchange, sequence)
        flags = draft.flags | (Flag.PRUNED if pruned else 0) | (Flag.SHORTENED if message.displayed else 0)
        original = displayed = StoredMessage(
            sequence,
            draft.role,
            draft.tokens,
            exchange,
            int(flags),
            draft.score,
            draft.time_us,
            with_sequence(draft.body, sequence),
        )
        lsn = displayed_lsn = self._next_lsn()
        if message.displayed is not None:
            body, tokens = message.displayed
            displayed = original._replace(body=with_sequence(body, sequence), tokens=tokens)
            displayed_lsn = self._next_lsn()
        self.entries.append(ImportedMessage(lsn, displayed_lsn, head.row_id, draft, original, displayed))
        self._fingerprints[head.row_id, draft.id] = draft.fingerprint
        self._flags[head.row_id, sequence] = original.flags
        session.bytes += message_bytes(original.body, draft.vector)
        session.is_changed = True
        _count(head, displayed)
        head.version, head.last_sequence = displayed_lsn, sequence
        if not keeps_sequence:
            head.last_active_us = self._now_us
        if not pruned:
            session.appended.append(displayed)

    def _is_pruned(self, session: int, message: MessageImport, exchange: int, sequence: int) -> bool:
        if exchange in (0, sequence):
            return message.pruned
        flags = self._flags.get((session, exchange))
        if flags is None:
            flags = self._reader.find_flags(session, exchange)
        return bool(flags & Flag.PRUNED)

    def _next_lsn(self) -> int:
        self.lsn += 1
        return self.lsn


def _count(head: SessionHead, displayed: StoredMessage) -> None:
    """Count a message that comes after all others of its session, in the window or as a pruned one."""
    is_first = not sum(head.counts[Role.USER - 1 :])
    in_window = not displayed.pruned
    if in_window:
        head.count(displayed.role, displayed.tokens)
    else:
        head.pruned_count += 1
    if is_first:
        starts_window = in_window and displayed.role != Role.SYSTEM
        head.window_start = displayed.sequence if starts_window else displayed.sequence + 1
