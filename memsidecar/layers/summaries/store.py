"""RollingSummary, cache, persistence."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass

from memsidecar.domain.errors import SidecarError
from memsidecar.domain.ids import new_id
from memsidecar.domain.session import SessionKey
from memsidecar.layers.record_cache import RecordCache
from memsidecar.stores.contract import (
    CommitEvent,
    Journal,
    Owner,
    PendingCommand,
    Record,
    RecordChanges,
    RecordKind,
    RecordQuery,
    UpsertRecords,
)
from memsidecar.v1 import knowledge_pb2 as pb

SLOT = 0
SESSIONS_KEPT = 1_000


@dataclass(frozen=True, slots=True)
class RollingSummary:
    """It speaks for the messages from `first_sequence` to `last_sequence`, both included."""

    id: str
    text: str
    tokens: int
    first_sequence: int
    last_sequence: int
    create_time_us: int
    origin: str


def owner_of(key: SessionKey) -> Owner:
    return Owner(key.namespace, session_id=key.session_id)


class SummaryStore:
    """Thread-safe. Those of the sessions in use are kept at hand: every context asks."""

    def __init__(self, journal: Journal) -> None:
        self.journal = journal
        self._at_hand: RecordCache[RollingSummary | None] = RecordCache(SESSIONS_KEPT)
        self._under_way: dict[Owner, threading.Event] = {}
        journal.subscribe(self._committed)

    def of(self, key: SessionKey) -> RollingSummary | None:
        return self._at_hand.get(owner_of(key), lambda: self._read(key))

    def settled(self, key: SessionKey) -> RollingSummary | None:
        """The same for whoever saw one in a context a moment ago: waits until that one is committed."""
        under_way = self._under_way.get(owner_of(key))
        if under_way is not None:
            under_way.wait()
        return self.of(key)

    def _read(self, key: SessionKey) -> RollingSummary | None:
        notes = self.journal.records(RecordQuery(owner_of(key), RecordKind.SUMMARY, 1))
        return _summary(notes[0]) if notes else None

    def keep(self, key: SessionKey, session: int, summary: RollingSummary) -> RollingSummary:
        """In place of the one that was there, unless that speaks for more already. NoSuchThing if it is erased."""
        kept = [summary]
        ticket = PendingCommand(self._keeping(key, session, kept))
        self.journal.submit(ticket)
        try:
            ticket.wait()
        finally:
            self._at_hand.invalidate(owner_of(key))
        return kept[0]

    def submit_save(self, key: SessionKey, session: int, summary: RollingSummary) -> None:
        """The same, and nobody waits for it; what comes in between is made again."""
        owner, kept = owner_of(key), threading.Event()

        def settled(_ticket: PendingCommand) -> None:
            self._at_hand.invalidate(owner)
            if self._under_way.get(owner) is kept:
                del self._under_way[owner]
            kept.set()

        ticket = PendingCommand(self._keeping(key, session, [summary]), settled)
        self._under_way[owner] = kept
        try:
            self.journal.submit(ticket)
        except SidecarError:
            settled(ticket)
            raise

    def _keeping(self, key: SessionKey, session: int, kept: list[RollingSummary]) -> UpsertRecords:
        summary = kept[0]

        def revise(notes: Sequence[Record]) -> RecordChanges:
            there = [_summary(note) for note in notes]
            if there and there[0].last_sequence > summary.last_sequence:
                kept[0] = there[0]
                return RecordChanges()
            return RecordChanges([_note(key, summary)], [note.id for note in notes if note.id != summary.id])

        return UpsertRecords(owner_of(key), RecordKind.SUMMARY, [SLOT], revise, derived_from=session)

    def _committed(self, changes: Sequence[CommitEvent]) -> None:
        for change in changes:
            if change.reload:
                self._at_hand.invalidate(owner_of(change.key))


def new_summary(text: str, tokens: int, span: tuple[int, int], now_us: int, origin: str) -> RollingSummary:
    return RollingSummary(new_id(), text, tokens, *span, now_us, origin)


def _note(key: SessionKey, summary: RollingSummary) -> Record:
    body = pb.Summary(
        text=summary.text,
        tokens=summary.tokens,
        first_sequence=summary.first_sequence,
        last_sequence=summary.last_sequence,
        origin=summary.origin,
    )
    return Record(summary.id, SLOT, key.session_id, summary.create_time_us, body.SerializeToString(deterministic=True))


def _summary(note: Record) -> RollingSummary:
    body = pb.Summary.FromString(note.body)
    span = (body.first_sequence, body.last_sequence)
    return RollingSummary(note.id, body.text, body.tokens, *span, note.time_us, body.origin)
