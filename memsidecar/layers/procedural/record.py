"""What is kept of one user's habits: the running counts, and the patterns as they were last computed."""

import struct
import time
from dataclasses import dataclass, field

from memsidecar.layers.procedural.counters import UsageCounters
from memsidecar.layers.procedural.patterns import Patterns, render_hints
from memsidecar.stores.contract import Owner, Record
from memsidecar.v1.knowledge_pb2 import GetPatternsResponse, Pattern

ID, SLOT = "patterns", 0
_HEAD = struct.Struct(">QI")


@dataclass(slots=True)
class PersistedState:
    """Everything up to entry `lsn` of the log is counted. `erasures` is how many there were when it was made.

    `kept`: there is a note of it. `gone`: something of it was erased, and it is to be counted anew.
    """

    owner: Owner
    habits: UsageCounters = field(default_factory=UsageCounters)
    lsn: int = 0
    published: GetPatternsResponse = field(default_factory=GetPatternsResponse)
    erasures: int = 0
    dirty: bool = False
    kept: bool = False
    gone: bool = False

    @property
    def conversations_since(self) -> int:
        """Since the patterns were last computed."""
        return self.habits.conversations - self.published.conversations

    def publish(self) -> None:
        self.published = _published(self.habits)
        self.dirty = True

    def note(self) -> Record:
        published = self.published.SerializeToString(deterministic=True)
        body = _HEAD.pack(self.lsn, len(published)) + published + self.habits.to_bytes()
        # A session's own go with what was said in it; a user's are dropped with any of their sessions (`Erase`).
        return Record(ID, SLOT, self.owner.session_id, time.time_ns() // 1_000, body)


def record_of(owner: Owner, note: Record, erasures: int) -> PersistedState | None:
    """None where another version made it: then all is to be counted anew."""
    lsn, length = _HEAD.unpack_from(note.body)
    habits = UsageCounters.from_bytes(note.body[_HEAD.size + length :])
    if habits is None:
        return None
    return PersistedState(owner, habits, lsn, published_of(note), erasures, kept=True)


def published_of(note: Record) -> GetPatternsResponse:
    _, length = _HEAD.unpack_from(note.body)
    return GetPatternsResponse.FromString(note.body[_HEAD.size : _HEAD.size + length])


def _published(habits: UsageCounters) -> GetPatternsResponse:
    patterns = Patterns(habits)
    response = GetPatternsResponse(
        patterns=[Pattern(kind=one.kind, value=one.value, evidence=one.evidence) for one in patterns.all()],
        conversations=habits.conversations,
        mean_turns=patterns.mean_turns,
        answer_length=patterns.answer_length,
        technical_depth=patterns.technical_depth,
        frequency=patterns.frequency,
        hints=render_hints(patterns),
    )
    response.computed_at.GetCurrentTime()
    return response
