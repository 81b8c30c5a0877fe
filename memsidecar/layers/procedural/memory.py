"""ProceduralMemory: background task that counts usage, and reads of the patterns derived from the counts."""

import threading
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator, Sequence

from memsidecar.domain.message import Role, StoredMessage
from memsidecar.domain.statistics import CacheStatistics
from memsidecar.domain.text import strip_injected
from memsidecar.layers.background import OffsetTracker
from memsidecar.layers.procedural.observations import Observation, ObservedMessage, observe
from memsidecar.layers.procedural.record import CONFLICT_KEY, RECORD_ID, UsageState, decode_published, decode_state
from memsidecar.layers.record_cache import RecordCache
from memsidecar.stores.contract import (
    CommitEvent,
    Journal,
    LogEntries,
    LogEntry,
    MessageWritten,
    Owner,
    Record,
    RecordChanges,
    RecordKind,
    RecordsUpserted,
    Scope,
    SessionClaimed,
    UpsertRecords,
    submit_and_wait,
)
from memsidecar.v1.knowledge_pb2 import GetPatternsResponse
from memsidecar.v1.message_pb2 import Message

TASK = "procedural"
MAX_CACHED_STATES, MAX_CACHED_HINTS = 512, 1_000
_READ_ENTRIES = 256
_MAX_RECOUNTED_MESSAGES = 20_000
"""Messages of a user, the newest, that are counted again after an erasure."""
_SCAN_MESSAGES = 500


class ProceduralMemory:
    """Implements the Task protocol. Its other methods may be called from any thread."""

    name = TASK

    def __init__(self, journal: Journal, every_conversations: int, yield_cpu: Callable[[], None]) -> None:
        self._journal = journal
        self._every_conversations = every_conversations
        self._yield_cpu = yield_cpu
        self._lock = threading.RLock()
        self._states: OrderedDict[Owner, UsageState] = OrderedDict()
        self._offsets = OffsetTracker(journal, self.name)
        self._hints: RecordCache[Sequence[str]] = RecordCache(journal, MAX_CACHED_HINTS)
        self._erasures: Counter[str] = Counter()
        journal.subscribe(self._invalidate, only_invalidations=True)

    # Reads.

    @property
    def cache_statistics(self) -> CacheStatistics:
        return self._hints.statistics

    def hints(self, owner: Owner) -> Sequence[str]:
        return self._hints.get(owner, lambda: self._read_hints(owner))

    def _read_hints(self, owner: Owner) -> Sequence[str]:
        return self.patterns(owner, refresh=False).hints.splitlines()

    def patterns(self, owner: Owner, refresh: bool) -> GetPatternsResponse:
        """Return the patterns as last computed; with `refresh`, computed from all messages up to now."""
        if not refresh:
            record = self._journal.record(owner, RecordKind.PATTERNS, RECORD_ID)
            return decode_published(record) if record else GetPatternsResponse()
        with self._lock:
            self._catch_up(owner.namespace)
            state = self._publish(owner)
            while state.erased:
                state = self._publish(owner)
            return state.published

    def _publish(self, owner: Owner) -> UsageState:
        state = self._state(owner, self.position(owner.namespace))
        state.publish()
        self._flush(state)
        return state

    def _catch_up(self, namespace: str) -> None:
        while entries := self._journal.read_changes(namespace, self.position(namespace), _READ_ENTRIES):
            self.process(namespace, entries)

    # The Task protocol.

    def position(self, namespace: str) -> int:
        with self._lock:
            return self._offsets.position(namespace)

    def completed_lsn(self, namespace: str) -> int:
        """Return the lsn up to which all messages are counted. From any thread; does not wait for a running count."""
        return self._offsets.completed_lsn(namespace)

    def process(self, namespace: str, entries: LogEntries) -> None:
        """Count entry by entry. A read may take the lock in between and count some of the entries itself."""
        for entry in entries:
            with self._lock:
                if entry.lsn > self._offsets.position(namespace):
                    self._apply(entry, entries[-1].lsn)
            self._yield_cpu()
        with self._lock:
            self._offsets.advance(namespace, max(self._offsets.position(namespace), entries[-1].lsn))

    def maintain(self, idle: bool) -> bool:
        with self._lock:
            for namespace in self._offsets.namespaces():
                position = self._offsets.position(namespace)
                if self._offsets.is_due(namespace, position, idle):
                    self._flush_all(namespace)
                    self._offsets.commit(namespace, position)
        return False

    def _flush_all(self, namespace: str) -> None:
        """Flush all states of a namespace before its offset is committed: entries before it are not read again."""
        for state in [state for state in self._states.values() if state.owner.namespace == namespace]:
            self._flush(state)

    # Counting.

    def _apply(self, entry: LogEntry, read_lsn: int) -> None:
        if isinstance(entry, MessageWritten) and entry.lsn == entry.first_lsn:
            self._count(self._state(_owner(entry), read_lsn), entry.lsn, entry.session, entry.message)
        elif isinstance(entry, SessionClaimed):
            self._delete(Owner(entry.key.namespace, session_id=entry.key.session_id))
            self._delete(Owner(entry.key.namespace, entry.user_id))

    def _count(self, state: UsageState, lsn: int, session: int, message: StoredMessage) -> None:
        if lsn <= state.lsn:
            return
        state.lsn = lsn
        observation = _observe(session, message)
        if observation is None:
            return
        state.counters.add([observation])
        state.dirty = True
        if state.conversations_since_publish >= self._every_conversations:
            state.publish()
            self._flush(state)

    def _state(self, owner: Owner, read_lsn: int) -> UsageState:
        """Return the state. A new one is counted from the journal after all entries up to `read_lsn` were read."""
        state = self._states.get(owner)
        if state is not None and not state.erased:
            self._states.move_to_end(owner)
            return state
        # Read before the record: an erasure between the two must be noticed.
        erasures = self._erasures[owner.namespace]
        record = self._journal.record(owner, RecordKind.PATTERNS, RECORD_ID) if state is None else None
        state = (decode_state(owner, record, erasures) if record else None) or self._recounted(
            owner, erasures, read_lsn
        )
        self._states[owner] = state
        while len(self._states) > MAX_CACHED_STATES:
            self._flush(next(iter(self._states.values())))
            self._states.popitem(last=False)
        return state

    def _recounted(self, owner: Owner, erasures: int, read_lsn: int) -> UsageState:
        """Count the messages in the journal. An entry that was read from the log and is not among them was erased."""
        state = UsageState(owner, erasures=erasures, dirty=True)
        for lsn, observation in reversed(list(self._scan(owner))):
            state.lsn = lsn
            state.counters.add([observation] if observation else [])
        state.lsn = max(state.lsn, read_lsn)
        return state

    def _scan(self, owner: Owner) -> Iterator[tuple[int, Observation | None]]:
        """Yield observations, newest first. Bodies are dropped as soon as they are observed."""
        before, seen = None, 0
        while seen < _MAX_RECOUNTED_MESSAGES:
            found = self._journal.scan(Scope(*owner), before, _SCAN_MESSAGES)
            own = [located for located in found if bool(located.user_id) == bool(owner.user_id)]
            yield from ((located.lsn, _observe(located.session, located.message)) for located in own)
            if not found:
                return
            before, seen = found[-1].lsn, seen + len(found)

    # Persistence.

    def _flush(self, state: UsageState) -> None:
        """Save the state, unless an erasure removed a part of it: erased messages must not survive in the counts."""
        if not state.dirty:
            return

        def save_unless_erased(records: Sequence[Record]) -> RecordChanges:
            was_erased = not records if state.saved else state.erasures != self._erasures[state.owner.namespace]
            return RecordChanges([] if was_erased else [record], result=was_erased)

        record = state.to_record()
        command = UpsertRecords(state.owner, RecordKind.PATTERNS, [CONFLICT_KEY], save_unless_erased)
        upserted: RecordsUpserted = submit_and_wait(self._journal, command)
        state.erased = upserted.result
        state.dirty, state.saved = state.erased, not state.erased
        self._hints.invalidate(state.owner)

    def _delete(self, owner: Owner) -> None:
        """Delete the state; it is counted again at the next read or message."""

        def delete_all(records: Sequence[Record]) -> RecordChanges:
            return RecordChanges(deletes=[record.id for record in records])

        self._states.pop(owner, None)
        submit_and_wait(self._journal, UpsertRecords(owner, RecordKind.PATTERNS, [CONFLICT_KEY], delete_all))
        self._hints.invalidate(owner)

    def _invalidate(self, changes: Sequence[CommitEvent]) -> None:
        erased = {change.key.namespace for change in changes if change.erases and not change.appended}
        self._erasures.update(erased)
        if erased:
            self._hints.invalidate_where(lambda owner: owner.namespace in erased)


def _owner(entry: MessageWritten) -> Owner:
    namespace = entry.key.namespace
    return Owner(namespace, entry.user_id) if entry.user_id else Owner(namespace, session_id=entry.key.session_id)


def _observe(session: int, message: StoredMessage) -> Observation | None:
    if message.role not in (Role.USER, Role.ASSISTANT):
        return None
    text = strip_injected(Message.FromString(message.body).content)
    return observe(ObservedMessage(session, message.sequence, message.role, message.time_us, text))
