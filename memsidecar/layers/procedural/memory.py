"""Procedural memory: habits counted as the log grows, patterns computed now and then, hints at hand."""

import logging
import threading
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator, Sequence

from memsidecar.domain.message import Role, StoredMessage
from memsidecar.domain.text import strip_injected
from memsidecar.layers.background import OffsetTracker, submit_and_wait
from memsidecar.layers.procedural.observations import Observation, ObservedMessage, observe
from memsidecar.layers.procedural.record import ID, SLOT, PersistedState, published_of, record_of
from memsidecar.layers.record_cache import RecordCache
from memsidecar.stores.contract import (
    CommitEvent,
    Journal,
    LogEntries,
    LogEntry,
    MessageWritten,
    Owner,
    PendingCommand,
    Record,
    RecordChanges,
    RecordKind,
    Scope,
    SessionClaimed,
    UpsertRecords,
)
from memsidecar.v1.knowledge_pb2 import GetPatternsResponse
from memsidecar.v1.message_pb2 import Message

log = logging.getLogger(__name__)

TASK = "procedural"
RECORDS_KEPT, HINTS_KEPT = 512, 1_000
_CHAPTER = 256
_MOST_RECOUNTED = 20_000
"Messages of a user, the newest, from which habits are counted anew after an erasure."
_SCANNED_AT_ONCE = 500


class ProceduralMemory:
    """Keeps the promises of a background task; its other methods may be called from any thread."""

    name = TASK

    def __init__(self, journal: Journal, every_conversations: int, yield_cpu: Callable[[], None]) -> None:
        self._journal = journal
        self._every_conversations = every_conversations
        self._give_way = yield_cpu
        self._lock = threading.RLock()
        self._records: OrderedDict[Owner, PersistedState] = OrderedDict()
        self._offsets = OffsetTracker(journal, self.name)
        self._hints: RecordCache[Sequence[str]] = RecordCache(HINTS_KEPT)
        self._erasures: Counter[str] = Counter()
        journal.subscribe(self._committed)

    # -- for those who ask

    def hints(self, owner: Owner) -> Sequence[str]:
        return self._hints.get(owner, lambda: self._read_hints(owner))

    def _read_hints(self, owner: Owner) -> Sequence[str]:
        return self.patterns(owner, refresh=False).hints.splitlines()

    def patterns(self, owner: Owner, refresh: bool) -> GetPatternsResponse:
        """As they were last computed; with `refresh`, out of everything that was said up to now."""
        if not refresh:
            note = self._journal.record(owner, RecordKind.PATTERNS, ID)
            return published_of(note) if note else GetPatternsResponse()
        with self._lock:
            self._catch_up(owner.namespace)
            record = self._published(owner)
            while record.gone:
                record = self._published(owner)
            return record.published

    def _published(self, owner: Owner) -> PersistedState:
        record = self._record(owner)
        record.publish()
        self._flush(record)
        return record

    def _catch_up(self, namespace: str) -> None:
        while chapter := self._journal.read_changes(namespace, self.position(namespace), _CHAPTER):
            self.process(namespace, chapter)

    # -- for the runner

    def position(self, namespace: str) -> int:
        with self._lock:
            return self._offsets.position(namespace)

    def reached(self, namespace: str) -> int:
        """Up to which entry everything is counted. From any thread, and without waiting for what is being counted."""
        return self._offsets.completed_lsn(namespace)

    def process(self, namespace: str, chapter: LogEntries) -> None:
        """Entry by entry: whoever asks meanwhile goes first, and may have taken some of them then."""
        for entry in chapter:
            with self._lock:
                if entry.lsn > self._offsets.position(namespace):
                    self._read(entry)
            self._give_way()
        with self._lock:
            self._offsets.advance(namespace, max(self._offsets.position(namespace), chapter[-1].lsn))

    def maintain(self, idle: bool) -> bool:
        with self._lock:
            for namespace in self._offsets.namespaces():
                position = self._offsets.position(namespace)
                if self._offsets.is_due(namespace, position, idle):
                    self._keep_all(namespace)
                    self._offsets.commit(namespace, position)
        return False

    def _keep_all(self, namespace: str) -> None:
        """Before a mark: what is behind it is not read again."""
        for record in [one for one in self._records.values() if one.owner.namespace == namespace]:
            self._flush(record)

    # -- counting

    def _read(self, entry: LogEntry) -> None:
        if isinstance(entry, MessageWritten) and entry.lsn == entry.first_lsn:
            self._count(self._record(_owner(entry)), entry.lsn, entry.session, entry.message)
        elif isinstance(entry, SessionClaimed):
            self._drop(Owner(entry.key.namespace, session_id=entry.key.session_id))
            self._drop(Owner(entry.key.namespace, entry.user_id))

    def _count(self, record: PersistedState, lsn: int, session: int, message: StoredMessage) -> None:
        if lsn <= record.lsn:
            return
        record.lsn = lsn
        seen = _observed(session, message)
        if seen is None:
            return
        record.habits.add([seen])
        record.dirty = True
        if record.conversations_since >= self._every_conversations:
            record.publish()
            self._flush(record)

    def _record(self, owner: Owner) -> PersistedState:
        record = self._records.get(owner)
        if record is not None and not record.gone:
            self._records.move_to_end(owner)
            return record
        # Before the note is read: an erasure in between must not pass unnoticed.
        erasures = self._erasures[owner.namespace]
        note = self._journal.record(owner, RecordKind.PATTERNS, ID) if record is None else None
        record = (record_of(owner, note, erasures) if note else None) or self._recounted(owner, erasures)
        self._records[owner] = record
        while len(self._records) > RECORDS_KEPT:
            self._flush(next(iter(self._records.values())))
            self._records.popitem(last=False)
        return record

    def _recounted(self, owner: Owner, erasures: int) -> PersistedState:
        """Out of what is in the journal now: for a new user nothing, after an erasure all that is left."""
        record = PersistedState(owner, erasures=erasures, dirty=True)
        for lsn, seen in reversed(list(self._scanned(owner))):
            record.lsn = lsn
            record.habits.add([seen] if seen else [])
        return record

    def _scanned(self, owner: Owner) -> Iterator[tuple[int, Observation | None]]:
        """Newest first, and what was said no longer than it takes to see what it shows."""
        before, seen = None, 0
        while seen < _MOST_RECOUNTED:
            found = self._journal.scan(Scope(*owner), before, _SCANNED_AT_ONCE)
            mine = [one for one in found if bool(one.user_id) == bool(owner.user_id)]
            yield from ((one.lsn, _observed(one.session, one.message)) for one in mine)
            if not found:
                return
            before, seen = found[-1].lsn, seen + len(found)

    # -- keeping

    def _flush(self, record: PersistedState) -> None:
        """Not after an erasure that took something of it: what is gone must not come back as a habit."""
        if not record.dirty:
            return

        def revise(notes: Sequence[Record]) -> RecordChanges:
            erased = record.erasures != self._erasures[record.owner.namespace]
            record.gone = (record.kept and not notes) or (not record.kept and erased)
            return RecordChanges() if record.gone else RecordChanges([note])

        note = record.note()
        submit_and_wait(self._journal, PendingCommand(UpsertRecords(record.owner, RecordKind.PATTERNS, [SLOT], revise)))
        record.dirty, record.kept = record.gone, not record.gone
        self._hints.invalidate(record.owner)

    def _drop(self, owner: Owner) -> None:
        """Counted anew when somebody asks, or says something."""
        self._records.pop(owner, None)
        command = UpsertRecords(
            owner, RecordKind.PATTERNS, [SLOT], lambda notes: RecordChanges(deletes=[one.id for one in notes])
        )
        submit_and_wait(self._journal, PendingCommand(command))
        self._hints.invalidate(owner)

    def _committed(self, changes: Sequence[CommitEvent]) -> None:
        erased = {change.key.namespace for change in changes if change.reload and not change.appended}
        self._erasures.update(erased)
        if erased:
            self._hints.invalidate_where(lambda owner: owner.namespace in erased)


def _owner(said: MessageWritten) -> Owner:
    namespace = said.key.namespace
    return Owner(namespace, said.user_id) if said.user_id else Owner(namespace, session_id=said.key.session_id)


def _observed(session: int, message: StoredMessage) -> Observation | None:
    if message.role not in (Role.USER, Role.ASSISTANT):
        return None
    text = strip_injected(Message.FromString(message.body).content)
    return observe(ObservedMessage(session, message.sequence, message.role, message.time_us, text))
