"""Persisted state of one user: the usage counters, and the patterns as last computed."""

import struct
import time
from dataclasses import dataclass, field

from memsidecar.layers.procedural.counters import UsageCounters
from memsidecar.layers.procedural.patterns import Patterns, render_hints
from memsidecar.stores.contract import Owner, Record
from memsidecar.v1.knowledge_pb2 import GetPatternsResponse, Pattern

RECORD_ID, CONFLICT_KEY = "patterns", 0
_HEADER = struct.Struct(">QI")
"""The lsn, and the length of the published patterns; they and the counters follow."""


@dataclass(slots=True)
class UsageState:
    """Counters of all messages up to `lsn`. `erasures` is the namespace's erasure count when the state was created.

    `saved`: the journal has a record of it. `erased`: a part of it was erased, so it must be counted again.
    """

    owner: Owner
    counters: UsageCounters = field(default_factory=UsageCounters)
    lsn: int = 0
    published: GetPatternsResponse = field(default_factory=GetPatternsResponse)
    erasures: int = 0
    dirty: bool = False
    saved: bool = False
    erased: bool = False

    @property
    def conversations_since_publish(self) -> int:
        return self.counters.conversations - self.published.conversations

    def publish(self) -> None:
        """Compute the patterns."""
        self.published = _compute_patterns(self.counters)
        self.dirty = True

    def to_record(self) -> Record:
        published = self.published.SerializeToString(deterministic=True)
        body = _HEADER.pack(self.lsn, len(published)) + published + self.counters.to_bytes()
        # The record of a session is erased with its messages; that of a user with any of their sessions (see `Erase`).
        return Record(RECORD_ID, CONFLICT_KEY, self.owner.session_id, time.time_ns() // 1_000, body)


def decode_state(owner: Owner, record: Record, erasures: int) -> UsageState | None:
    """Return the state of a record; None if another version wrote it, so that everything must be counted again."""
    lsn, length = _HEADER.unpack_from(record.body)
    counters = UsageCounters.from_bytes(record.body[_HEADER.size + length :])
    if counters is None:
        return None
    return UsageState(owner, counters, lsn, decode_published(record), erasures, saved=True)


def decode_published(record: Record) -> GetPatternsResponse:
    _, length = _HEADER.unpack_from(record.body)
    return GetPatternsResponse.FromString(record.body[_HEADER.size : _HEADER.size + length])


def _compute_patterns(counters: UsageCounters) -> GetPatternsResponse:
    patterns = Patterns(counters)
    response = GetPatternsResponse(
        patterns=[
            Pattern(kind=pattern.kind, value=pattern.value, evidence=pattern.evidence) for pattern in patterns.all()
        ],
        conversations=counters.conversations,
        mean_turns=patterns.mean_turns,
        answer_length=patterns.answer_length,
        technical_depth=patterns.technical_depth,
        frequency=patterns.frequency,
        hints=render_hints(patterns),
    )
    response.computed_at.GetCurrentTime()
    return response
