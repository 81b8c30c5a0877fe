"""Plans of ForgetMessages and ExpireMessages: which messages and records go, which records change."""

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Generic, NamedTuple, Protocol, TypeVar

from memsidecar.domain.errors import NotFound
from memsidecar.domain.message import Flag
from memsidecar.domain.pruning import without_exchanges
from memsidecar.domain.session import SessionHead, SessionKey, claimed_copy
from memsidecar.stores.contract import (
    Derivations,
    ErasedSources,
    ErasureCounts,
    ExpireMessages,
    ForgetMessages,
    Record,
    RecordKind,
)
from memsidecar.stores.erasure_targets import count_erased
from memsidecar.stores.record_plan import LocatedRecord, RecordPlace


class ErasableMessage(Protocol):
    """The row of a message, as a store finds it. `tokens` are those of the version in the window."""

    @property
    def sequence(self) -> int: ...
    @property
    def role(self) -> int: ...
    @property
    def tokens(self) -> int: ...
    @property
    def exchange(self) -> int: ...
    @property
    def flags(self) -> int: ...
    @property
    def time_us(self) -> int: ...
    @property
    def id(self) -> str: ...
    @property
    def bytes(self) -> int: ...


class ExchangePart(NamedTuple):
    sequence: int
    role: int
    tokens: int
    exchange: int
    flags: int


M = TypeVar("M", bound=ErasableMessage)
P = TypeVar("P", bound=RecordPlace)
M_co = TypeVar("M_co", bound=ErasableMessage, covariant=True)
P_co = TypeVar("P_co", bound=RecordPlace, covariant=True)


class MessageErasureReader(Protocol[M_co, P_co]):
    """The reads of a plan, in one snapshot."""

    def head(self, key: SessionKey) -> SessionHead | None: ...
    def find_sequence(self, session: int, message_id: str) -> int | None: ...
    def find_messages(self, session: int, sequences: Collection[int]) -> Sequence[M_co]: ...
    def find_bodies(self, session: int, sequences: Collection[int]) -> Iterable[tuple[int, bytes | None]]: ...
    def find_exchange_parts(self, session: int, exchanges: Collection[int]) -> Sequence[ExchangePart]: ...
    def find_by_source(
        self, key: SessionKey, kind: RecordKind, matches: Callable[[bytes, int], bool]
    ) -> Sequence[LocatedRecord[P_co]]:
        """Return the records, of any owner, that were derived from the session's messages and match by body and time.

        A damaged one cannot be judged. It is returned.
        """

    def find_artifacts_of_messages(self, key: SessionKey, conflict_keys: Sequence[int]) -> Sequence[P_co]: ...
    def find_patterns(self, key: SessionKey, user_id: str) -> Sequence[P_co]: ...


class MessageErasurePlan(NamedTuple, Generic[M, P]):
    """The messages to erase, the other messages of their exchanges in the window, and the records that go or change."""

    messages: Sequence[M]
    pruned: Sequence[ExchangePart]
    deleted: Sequence[P]
    replaced: Sequence[tuple[P, Record]]

    @property
    def bytes(self) -> int:
        return sum(message.bytes for message in self.messages)

    @property
    def counts(self) -> ErasureCounts:
        return count_erased(self.deleted, messages=len(self.messages))

    def prune(self, head: SessionHead) -> None:
        """Take the other messages of the exchanges from the window's sums: an exchange is never split."""
        for part in self.pruned:
            head.count(part.role, part.tokens, sign=-1)
        head.pruned_count += len(self.pruned)

    def erase(self, head: SessionHead) -> None:
        """Take the messages from the sums, and their exchanges from the open calls."""
        for message in self.messages:
            if message.flags & Flag.PRUNED:
                head.pruned_count -= 1
            else:
                head.count(message.role, message.tokens, sign=-1)
        if exchanges := _exchanges(self.messages):
            head.open_calls = without_exchanges(head.open_calls, exchanges)


def claimed_session(head: SessionHead | None, command: ForgetMessages) -> SessionHead:
    """Return a copy of the session with the user of the command."""
    if head is None:
        raise _missing(command.message_ids[0])
    return claimed_copy(head, command.user_id)


def current_session(head: SessionHead | None, command: ExpireMessages) -> SessionHead:
    if head is None or head.row_id != command.session:
        raise NotFound("the session was erased")
    return head.copy()


def plan_forgotten(
    reader: MessageErasureReader[M, P], command: ForgetMessages, head: SessionHead
) -> MessageErasurePlan[M, P]:
    sequences: list[int] = []
    for message_id in command.message_ids:
        sequence = reader.find_sequence(head.row_id, message_id)
        if sequence is None:
            raise _missing(message_id)
        sequences.append(sequence)
    return _plan(reader, head, reader.find_messages(head.row_id, sequences), command.derivations)


def plan_expired(
    reader: MessageErasureReader[M, P], command: ExpireMessages, head: SessionHead
) -> MessageErasurePlan[M, P]:
    messages = reader.find_messages(head.row_id, command.sequences)
    named = {message.sequence for message in messages}
    held = _held(reader, command, head)
    parts = _find_parts(reader, head, messages)
    split = {part.exchange for part in parts if part.sequence not in named or part.sequence in held}
    expired = [each for each in messages if each.sequence not in held and each.exchange not in split]
    return _plan(reader, head, expired, command.derivations)


def count_erased_messages(
    reader: MessageErasureReader[M, P], command: ForgetMessages | ExpireMessages
) -> ErasureCounts:
    head = reader.head(command.key)
    if isinstance(command, ForgetMessages):
        return plan_forgotten(reader, command, claimed_session(head, command)).counts
    return plan_expired(reader, command, current_session(head, command)).counts


def _missing(message_id: str) -> NotFound:
    return NotFound(f"there is no message {message_id!r} in this session")


def _held(reader: MessageErasureReader[M, P], command: ExpireMessages, head: SessionHead) -> set[int]:
    """Return the sequences that are held. A message without a body is damaged, and cannot be asked for a hold."""
    if command.is_held is None:
        return set()
    found = reader.find_bodies(head.row_id, command.sequences)
    return {sequence for sequence, body in found if body is None or command.is_held(body)}


def _exchanges(messages: Sequence[ErasableMessage]) -> set[int]:
    return {message.exchange for message in messages if message.exchange}


def _find_parts(reader: MessageErasureReader[M, P], head: SessionHead, messages: Sequence[M]) -> Sequence[ExchangePart]:
    exchanges = _exchanges(messages)
    return reader.find_exchange_parts(head.row_id, exchanges) if exchanges else []


def _plan(
    reader: MessageErasureReader[M, P], head: SessionHead, messages: Sequence[M], derivations: Derivations
) -> MessageErasurePlan[M, P]:
    if not messages:
        return MessageErasurePlan((), (), (), ())
    erased = {message.sequence for message in messages}
    parts = _find_parts(reader, head, messages)
    pruned = [part for part in parts if part.sequence not in erased and not part.flags & Flag.PRUNED]
    changes = _revise_records(reader, head, messages, derivations)
    keys = [derivations.artifact_key(message.id) for message in messages]
    deleted = [
        *(location for location, revised in changes if revised is None),
        *reader.find_artifacts_of_messages(head.key, keys),
        *reader.find_patterns(head.key, head.user_id),
    ]
    replaced = [(location, revised) for location, revised in changes if revised is not None]
    return MessageErasurePlan(messages, pruned, deleted, replaced)


def _revise_records(
    reader: MessageErasureReader[M, P], head: SessionHead, messages: Sequence[M], derivations: Derivations
) -> list[tuple[P, Record | None]]:
    """Return the facts and summaries that change, each with its new content; None if it is erased.

    A damaged one cannot be judged. It is erased.
    """
    erased = _sources(reader, head.key, messages)
    facts = reader.find_by_source(
        head.key, RecordKind.FACT, lambda body, time_us: derivations.concerns(body, time_us, erased)
    )
    changes: list[tuple[P, Record | None]] = []
    for row in facts:
        record = row.intact_part()
        revised = derivations.revise_fact(record, erased) if row.is_intact else None
        if revised != record:
            changes.append((row.location, revised))
    for row in reader.find_by_source(head.key, RecordKind.SUMMARY, lambda *_: True):
        record = row.intact_part()
        if not row.is_intact or any(derivations.covers(record, message.sequence) for message in messages):
            changes.append((row.location, None))
    return changes


def _sources(reader: MessageErasureReader[M, P], key: SessionKey, messages: Sequence[M]) -> ErasedSources:
    ids = frozenset(message.id for message in messages)

    def exists(session_id: str, message_id: str) -> bool:
        if session_id == key.session_id and message_id in ids:
            return False
        head = reader.head(SessionKey(key.namespace, session_id))
        return head is not None and reader.find_sequence(head.row_id, message_id) is not None

    return ErasedSources(key.session_id, ids, frozenset(message.time_us for message in messages), exists)
