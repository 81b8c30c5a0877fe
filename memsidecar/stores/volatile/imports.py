"""Imports of the RAM journal: sessions, messages, records and documents that are not stored yet."""

from memsidecar.domain.errors import IdConflict
from memsidecar.domain.message import StoredMessage
from memsidecar.domain.pruning import link_exchange
from memsidecar.domain.quota import Usage
from memsidecar.domain.session import SessionKey
from memsidecar.stores.contract import (
    ImportCommand,
    ImportDocument,
    Imported,
    ImportMessages,
    ImportRecords,
    ImportSession,
    MessageImport,
    Origin,
    Outcome,
    PutDocument,
    Tombstone,
    UpsertRecords,
)
from memsidecar.stores.message_encoding import document_bytes, message_bytes, with_sequence
from memsidecar.stores.tombstones import is_forgotten
from memsidecar.stores.volatile.events import EntryKind
from memsidecar.stores.volatile.session import Message, Session
from memsidecar.stores.volatile.state import JournalState


def apply_import(state: JournalState, command: ImportCommand) -> Imported:
    if isinstance(command, ImportSession):
        return Imported([_import_session(state, command)])
    if isinstance(command, ImportMessages):
        return _MessageImporter(state, command).run()
    if isinstance(command, ImportRecords):
        return _import_records(state, command)
    return Imported([_import_document(state, command)])


def _is_forgotten(state: JournalState, origin: Origin, override_erasures: bool) -> bool:
    def find(namespace: str, tombstone: Tombstone) -> int | None:
        return state.tombstones.get((namespace, tombstone))

    return not override_erasures and is_forgotten(origin, find)


def _import_session(state: JournalState, command: ImportSession) -> Outcome:
    given = command.session
    if _is_forgotten(state, command.origin, command.override_erasures):
        return Outcome.FORGOTTEN
    known = state.find(given.key, given.user_id)
    state.check_quota(given.key.namespace, Usage(sessions=int(known is None)))
    changes_policy = given.policy is not None and given.key not in state.policies
    is_claim = known is not None and bool(given.user_id) and not known.user_id
    if known and not (changes_policy or is_claim or given.last_sequence > known.last_sequence):
        return Outcome.DUPLICATE
    session = _claim_quietly(state, given.key, given.user_id)
    if known is None:
        session.create_time_us = given.create_time_us or session.create_time_us
        session.last_active_us = given.last_active_us or session.last_active_us
    session.last_sequence = max(session.last_sequence, given.last_sequence)
    if given.policy is not None and changes_policy:
        state.policies[given.key] = given.policy
    state.publish(session)
    return Outcome.STORED


def _claim_quietly(state: JournalState, key: SessionKey, user_id: str) -> Session:
    """Claim a session; the time of its last activity stays."""
    known = state.sessions.get(key)
    active_us = known.last_active_us if known else 0
    session = state.claim(key, user_id)
    session.last_active_us = active_us or session.last_active_us
    return session


def _claim_owner(state: JournalState, key: SessionKey, user_id: str) -> None:
    """Create or claim the session of an imported record or document."""
    known = state.sessions.get(key)
    user_before = known.user_id if known else None
    session = _claim_quietly(state, key, user_id)
    if session.user_id != user_before:
        state.publish(session)


def _import_records(state: JournalState, command: ImportRecords) -> Imported:
    owner, kind = command.owner, command.kind
    forgotten = [_is_forgotten(state, each.origin, command.override_erasures) for each in command.records]
    new = {
        each.record.id: each.record
        for each, is_gone in zip(command.records, forgotten, strict=True)
        if not is_gone and state.records.get(owner, kind, each.record.id) is None
    }
    key = SessionKey(owner.namespace, owner.session_id)
    stored: set[str] = set()
    if new:
        known = state.find(key, command.user_id) if key.session_id else None
        state.check_quota(owner.namespace, Usage(sessions=int(bool(key.session_id) and known is None)))
        keys = sorted({record.conflict_key for record in new.values()})
        merge = UpsertRecords(owner, kind, keys, lambda found: command.merge(found, list(new.values())))
        stored = {record.id for record in state.records.upsert(merge).records} & new.keys()
        if key.session_id:
            _claim_owner(state, key, command.user_id)
    outcomes = []
    for each, is_gone in zip(command.records, forgotten, strict=True):
        is_stored = not is_gone and each.record.id in stored
        stored.discard(each.record.id if is_stored else "")
        outcomes.append(Outcome.FORGOTTEN if is_gone else Outcome.STORED if is_stored else Outcome.DUPLICATE)
    return Imported(outcomes)


def _import_document(state: JournalState, command: ImportDocument) -> Outcome:
    draft = command.document
    if _is_forgotten(state, command.origin, command.override_erasures):
        return Outcome.FORGOTTEN
    if state.documents.get(draft.owner, draft.id) is not None:
        return Outcome.DUPLICATE
    key = SessionKey(draft.owner.namespace, draft.owner.session_id)
    known = state.find(key, command.user_id) if key.session_id else None
    is_new = bool(key.session_id) and known is None
    state.check_quota(key.namespace, Usage(sessions=int(is_new), bytes=document_bytes(draft)))
    state.documents.put(PutDocument(draft))
    if key.session_id:
        _claim_owner(state, key, command.user_id)
    return Outcome.STORED


class _MessageImporter:
    """One command: first every check, then every change."""

    def __init__(self, state: JournalState, command: ImportMessages) -> None:
        self._state = state
        self._wanted = [
            None if _is_forgotten(state, message.origin, command.override_erasures) else message
            for message in command.messages
        ]
        self._appended: dict[SessionKey, list[StoredMessage]] = {}

    def run(self) -> Imported:
        self._check()
        outcomes = [Outcome.FORGOTTEN if message is None else self._store(message) for message in self._wanted]
        for key, appended in self._appended.items():
            self._state.publish(self._state.sessions[key], appended=appended)
        return Imported(outcomes)

    def _check(self) -> None:
        """Raise what refuses the command: a foreign user, an id with another body, the quota."""
        fingerprints: dict[tuple[SessionKey, str], bytes] = {}
        users: dict[SessionKey, str] = {}
        last_sequences: dict[SessionKey, int] = {}
        growth = Usage()
        for message in self._wanted:
            if message is None:
                continue
            key, draft = message.key, message.draft
            known = self._state.find(key, message.user_id)
            owner = Session(key, 0, 0, 0, users.get(key) or (known.user_id if known else ""))
            owner.check_user(message.user_id)
            users[key] = owner.user_id or message.user_id
            stored, is_repeated = known.find(draft.id) if known else None, (key, draft.id) in fingerprints
            first = fingerprints.setdefault((key, draft.id), stored.draft.fingerprint if stored else draft.fingerprint)
            if first != draft.fingerprint:
                raise IdConflict(draft.id)
            if stored is not None or is_repeated:
                continue
            last = last_sequences.get(key, known.last_sequence if known else 0)
            last_sequences[key] = sequence = message.sequence if message.sequence > last else last + 1
            size = message_bytes(with_sequence(draft.body, sequence), draft.vector)
            growth = growth.plus(Usage(0, 1, size))
        new = sum(key not in self._state.sessions for key in last_sequences)
        namespace = next((message.key.namespace for message in self._wanted if message), "")
        self._state.check_quota(namespace, growth.plus(Usage(sessions=new)))

    def _store(self, message: MessageImport) -> Outcome:
        state, draft = self._state, message.draft
        known = state.sessions.get(message.key)
        is_claim = known is not None and bool(message.user_id) and not known.user_id
        session = _claim_quietly(state, message.key, message.user_id)
        if is_claim:
            self._appended.setdefault(message.key, [])
        if session.find(draft.id) is not None:
            return Outcome.DUPLICATE
        keeps_sequence = message.sequence > session.last_sequence
        sequence = message.sequence if keeps_sequence else session.last_sequence + 1
        stored = self._add(session, message, sequence)
        if not keeps_sequence:
            session.last_active_us = state.now_us()
        if stored.in_window:
            self._appended.setdefault(message.key, []).append(stored.displayed)
        else:
            self._appended.setdefault(message.key, [])
        return Outcome.STORED

    def _add(self, session: Session, message: MessageImport, sequence: int) -> Message:
        draft, active_us = message.draft, session.last_active_us
        exchange, session.open_calls = link_exchange(session.open_calls, draft.calls, draft.answers, sequence)
        call = session.at(exchange) if exchange not in (0, sequence) else None
        pruned = message.pruned if call is None else not call.in_window
        original = StoredMessage(
            sequence,
            draft.role,
            draft.tokens,
            exchange,
            draft.flags,
            draft.score,
            draft.time_us,
            with_sequence(draft.body, sequence),
        )
        self._state.write_session_entry(session, EntryKind.MESSAGE, sequence, draft.id)
        stored = Message(draft, session.version, original, original, session.last_active_us)
        if message.displayed is not None:
            body, tokens = message.displayed
            stored.shorten(original._replace(body=with_sequence(body, sequence), tokens=tokens))
            self._state.write_session_entry(session, EntryKind.SHORTENING)
        if pruned:
            stored.prune()
        session.messages.append(stored)
        session.last_sequence, session.last_active_us = sequence, active_us
        return stored
