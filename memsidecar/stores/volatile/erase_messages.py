"""What the erasures of messages of the RAM journal remove."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from memsidecar.domain.errors import NotFound
from memsidecar.domain.pruning import without_exchanges
from memsidecar.domain.session import SessionKey
from memsidecar.stores.contract import (
    Derivations,
    ErasedSources,
    ErasureCounts,
    ExpireMessages,
    ForgetMessages,
    Owner,
    Record,
    RecordKind,
    Tombstone,
)
from memsidecar.stores.tombstones import message_tombstones
from memsidecar.stores.volatile.records import RecordName, RecordTable
from memsidecar.stores.volatile.session import Message, Session


class MessagePlan(NamedTuple):
    """The messages to erase, the other messages of their exchanges in the window, and the records that go or change."""

    session: Session
    messages: Sequence[Message]
    pruned: Sequence[Message]
    deleted: Sequence[RecordName]
    replaced: Mapping[RecordName, Record]

    @property
    def counts(self) -> ErasureCounts:
        kinds = Counter(name.kind for name in self.deleted)
        return ErasureCounts(
            messages=len(self.messages),
            facts=kinds[RecordKind.FACT],
            summaries=kinds[RecordKind.SUMMARY],
            artifacts=kinds[RecordKind.ARTIFACT],
            patterns=kinds[RecordKind.PATTERNS],
        )

    @property
    def forgotten(self) -> Sequence[Tombstone]:
        return message_tombstones(self.session.key.session_id, [message.draft.id for message in self.messages])

    @property
    def newest_us(self) -> int:
        return max(message.original.time_us for message in self.messages)

    def remove(self, records: RecordTable) -> None:
        erased = {id(message) for message in self.messages}
        session = self.session
        session.messages = [message for message in session.messages if id(message) not in erased]
        session.open_calls = without_exchanges(session.open_calls, _exchanges(self.messages))
        records.remove(self.deleted)
        records.replace(self.replaced)


def plan_messages(
    sessions: Mapping[SessionKey, Session], records: RecordTable, command: ForgetMessages | ExpireMessages
) -> MessagePlan:
    session = sessions.get(command.key)
    if isinstance(command, ExpireMessages):
        if session is None or session.row_id != command.session:
            raise NotFound("the session was erased")
        messages, user_id = _expired(session, command), session.user_id
        return _plan(sessions, records, session, messages, derivations=command.derivations, user_id=user_id)
    if session is not None:
        session.check_user(command.user_id)
    messages = [_named(session, message_id) for message_id in dict.fromkeys(command.message_ids)]
    assert session is not None
    messages.sort(key=_sequence)
    user_id = session.user_id or command.user_id
    return _plan(sessions, records, session, messages, derivations=command.derivations, user_id=user_id)


def _named(session: Session | None, message_id: str) -> Message:
    message = session.find(message_id) if session else None
    if message is None:
        raise NotFound(f"there is no message {message_id!r} in this session")
    return message


def _expired(session: Session, command: ExpireMessages) -> list[Message]:
    named = [message for message in session.messages if message.original.sequence in command.sequences]
    is_held = command.is_held
    held = {_sequence(message) for message in named if is_held is not None and is_held(message.original.body)}
    free = {_sequence(message) for message in named} - held
    split = _exchanges([message for message in session.messages if _sequence(message) not in free])
    return [each for each in named if _sequence(each) in free and each.original.exchange not in split]


def _plan(
    sessions: Mapping[SessionKey, Session],
    records: RecordTable,
    session: Session,
    messages: Sequence[Message],
    *,
    derivations: Derivations,
    user_id: str,
) -> MessagePlan:
    if not messages:
        return MessagePlan(session, (), (), (), {})
    sources = _sources(sessions, session, messages)
    revised = {
        name: _revise(name, record, messages, sources, derivations) for name, record in records.by_source(session.key)
    }
    known = dict(records.by_source(session.key))
    deleted = [name for name, record in revised.items() if record is None]
    of_user = [name for name in records.of_owner(Owner(session.key.namespace, user_id)) if user_id]
    deleted += [name for name in of_user if name.kind == RecordKind.PATTERNS and name not in deleted]
    replaced = {name: record for name, record in revised.items() if record is not None and record != known[name]}
    erased, exchanges = {_sequence(message) for message in messages}, _exchanges(messages)
    pruned = [
        each
        for each in session.messages
        if each.original.exchange in exchanges and _sequence(each) not in erased and each.in_window
    ]
    return MessagePlan(session, messages, pruned, deleted, replaced)


def _revise(
    name: RecordName, record: Record, messages: Sequence[Message], sources: ErasedSources, derivations: Derivations
) -> Record | None:
    if name.kind == RecordKind.FACT:
        is_concerned = derivations.concerns(record.body, record.time_us, sources)
        return derivations.revise_fact(record, sources) if is_concerned else record
    if name.kind == RecordKind.SUMMARY:
        return None if any(derivations.covers(record, _sequence(message)) for message in messages) else record
    if name.kind == RecordKind.ARTIFACT:
        keys = {derivations.artifact_key(message.draft.id) for message in messages}
        return None if record.conflict_key in keys else record
    return None


def _sources(sessions: Mapping[SessionKey, Session], session: Session, messages: Sequence[Message]) -> ErasedSources:
    ids = frozenset(message.draft.id for message in messages)

    def exists(session_id: str, message_id: str) -> bool:
        if session_id == session.key.session_id and message_id in ids:
            return False
        other = sessions.get(SessionKey(session.key.namespace, session_id))
        return other is not None and other.find(message_id) is not None

    return ErasedSources(session.key.session_id, ids, frozenset(each.original.time_us for each in messages), exists)


def _sequence(message: Message) -> int:
    return message.original.sequence


def _exchanges(messages: Sequence[Message]) -> set[int]:
    return {message.original.exchange for message in messages if message.original.exchange}
