"""Background task: messages -> facts."""

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from memsidecar.domain.errors import NotFound
from memsidecar.domain.ids import new_id
from memsidecar.domain.message import Role
from memsidecar.domain.session import SessionKey
from memsidecar.language.contract import FactExtractor, Finding, ModelUnavailable, Utterance
from memsidecar.layers.background import OffsetTracker, RetryLater, submit_and_wait
from memsidecar.layers.semantic.echo_filter import EchoFilter
from memsidecar.layers.semantic.fact import KnownFact, conflict_key_of
from memsidecar.layers.semantic.fact_merge import FactMerge, opposite_key
from memsidecar.layers.semantic.facts import Facts
from memsidecar.stores.contract import (
    AddDeadLetter,
    Journal,
    LogEntries,
    LogEntry,
    MessageWritten,
    Owner,
    PendingCommand,
    Record,
    RecordChanges,
    RecordKind,
    RowsErased,
    SessionClaimed,
    UpsertRecords,
)
from memsidecar.v1.message_pb2 import Message

log = logging.getLogger(__name__)

TASK = "semantic.facts"
MOST_WAITING_BYTES = 8 << 20


@dataclass
class PendingUtterances:
    """What a session said since facts were last looked for in it."""

    session: int
    key: SessionKey
    user_id: str
    first_lsn: int
    utterances: list[Utterance] = field(default_factory=list)
    turns: int = 0
    size_bytes: int = 0
    since: float = 0.0

    @property
    def owner(self) -> Owner:
        if self.user_id:
            return Owner(self.key.namespace, self.user_id)
        return Owner(self.key.namespace, session_id=self.key.session_id)


@dataclass
class NamespaceCursor:
    """How far a namespace is read, and what of it waits."""

    position: int
    waiting: dict[int, PendingUtterances] = field(default_factory=dict)
    away: bool = False
    "The model was, when it was last asked."

    @property
    def done(self) -> int:
        """Everything up to here is learned."""
        return self.done_with(None)

    def done_with(self, learned: PendingUtterances | None) -> int:
        """The same once this one is learned."""
        others = (one for one in self.waiting.values() if one is not learned)
        return min([one.first_lsn - 1 for one in others], default=self.position)


@dataclass
class FactTask:
    """Keeps the promises of a background task. A session is looked at after `every_turns`, or when it falls quiet."""

    journal: Journal
    facts: Facts
    extractor: FactExtractor
    echoes: EchoFilter
    every_turns: int
    quiet_seconds: float
    yield_cpu: Callable[[], None]
    name: str = TASK
    _readings: dict[str, NamespaceCursor] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._offsets = OffsetTracker(self.journal, self.name)

    def position(self, namespace: str) -> int:
        return self._reading(namespace).position

    def reached(self, namespace: str) -> int:
        """Up to which entry everything is learned, which is less than what is read. From any thread."""
        return self._offsets.completed_lsn(namespace)

    def process(self, namespace: str, chapter: LogEntries) -> None:
        """What cannot be learned now keeps everything behind it waiting: in the log, and not in RAM."""
        reading = self._reading(namespace)
        self._learn_due(namespace, reading)
        for entry in chapter:
            self._read(reading, entry)
        reading.position = chapter[-1].lsn
        self._learn_due(namespace, reading)

    def maintain(self, idle: bool) -> bool:
        for namespace, reading in self._readings.items():
            try:
                self._learn_due(namespace, reading)
            except RetryLater as obstacle:
                log.debug("%s waits: %s", self.name, obstacle)
            self._offsets.advance(namespace, reading.done)
            if self._offsets.is_due(namespace, reading.done, idle):
                self._offsets.commit(namespace, reading.done)
        return False

    def is_waiting_for_model(self, namespace: str) -> bool:
        """Whether something is not learned because the model is away."""
        reading = self._readings.get(namespace)
        return reading is not None and reading.away

    def _reading(self, namespace: str) -> NamespaceCursor:
        if namespace not in self._readings:
            self._readings[namespace] = NamespaceCursor(self._offsets.position(namespace))
        return self._readings[namespace]

    # -- reading

    def _read(self, reading: NamespaceCursor, entry: LogEntry) -> None:
        if isinstance(entry, MessageWritten) and entry.lsn == entry.first_lsn:
            self._hear(reading, entry)
        elif isinstance(entry, RowsErased):
            reading.waiting.pop(entry.session, None)
        elif isinstance(entry, SessionClaimed):
            self._claim(reading, entry)

    def _hear(self, reading: NamespaceCursor, said: MessageWritten) -> None:
        if said.message.role not in (Role.USER, Role.ASSISTANT):
            return
        message = Message.FromString(said.message.body)
        text = self.echoes.strip_echoes(said.key, said.message.sequence, message.content)
        waiting = reading.waiting.get(said.session)
        if waiting is None:
            waiting = PendingUtterances(said.session, said.key, said.user_id, said.lsn)
            reading.waiting[said.session] = waiting
        waiting.utterances.append(Utterance(message.id, said.message.role, message.name, text, said.message.time_us))
        waiting.turns += said.message.role == Role.USER
        waiting.size_bytes += len(text)
        waiting.since = time.monotonic()

    def _claim(self, reading: NamespaceCursor, claimed: SessionClaimed) -> None:
        """What was learned of a session without a user is known of the user from now on."""
        if claimed.session in reading.waiting:
            reading.waiting[claimed.session].user_id = claimed.user_id
        before = Owner(claimed.key.namespace, session_id=claimed.key.session_id)
        known = self.facts.all(before, history=True)
        if known:
            in_order = sorted(known, key=lambda fact: fact.valid_from_us)
            try:
                self._move(before, Owner(claimed.key.namespace, claimed.user_id), in_order, claimed.session)
            except NotFound:
                log.debug("%s: the session was erased meanwhile", self.name)

    def _move(self, before: Owner, after: Owner, known: Sequence[KnownFact], session: int) -> None:
        def arrive(notes: Sequence[Record]) -> RecordChanges:
            slots = FactMerge.of(notes)
            for fact in known:
                slots.take(fact)
            return slots.revised

        slots = sorted({fact.slot for fact in known})
        self.facts.revise(UpsertRecords(after, RecordKind.FACT, slots, arrive, session))
        self.facts.revise(
            UpsertRecords(
                before, RecordKind.FACT, slots, lambda notes: RecordChanges(deletes=[note.id for note in notes])
            )
        )

    # -- learning

    def _learn_due(self, namespace: str, reading: NamespaceCursor) -> None:
        quiet_since = time.monotonic() - self.quiet_seconds
        crowded = sum(one.size_bytes for one in reading.waiting.values()) > MOST_WAITING_BYTES
        for waiting in list(reading.waiting.values()):
            if crowded or waiting.turns >= self.every_turns or waiting.since <= quiet_since:
                self._learn(namespace, waiting)
                del reading.waiting[waiting.session]
                self.yield_cpu()

    def _learn(self, namespace: str, waiting: PendingUtterances) -> None:
        try:
            findings = self.extractor.extract(waiting.utterances)
        except ModelUnavailable as away:
            self._readings[namespace].away = True
            raise RetryLater(str(away)) from away
        except Exception as failure:  # noqa: BLE001 - an edge: it must neither stop the rest nor look like "no facts"
            self._put_aside(namespace, waiting.first_lsn, failure)
            return
        self._readings[namespace].away = False
        if findings:
            self._keep(waiting, findings)

    def _put_aside(self, namespace: str, lsn: int, failure: Exception) -> None:
        """By name of the error only: its text may carry what was said."""
        reason = type(failure).__name__
        log.error("%s goes on without what was said from entry %d on: %s", self.name, lsn, reason)
        submit_and_wait(self.journal, PendingCommand(AddDeadLetter(self.name, namespace, lsn, reason)))

    def _keep(self, waiting: PendingUtterances, findings: Sequence[Finding]) -> None:
        def revise(notes: Sequence[Record]) -> RecordChanges:
            slots = FactMerge.of(notes)
            for finding in findings:
                self._take(slots, finding, waiting)
            return slots.revised

        # In one commit, so that a fact that somebody deletes is not learned again after a crash.
        namespace = waiting.key.namespace
        progress = self._offsets.progress(namespace, self._readings[namespace].done_with(waiting))
        slots = _concerned(findings)
        command = UpsertRecords(waiting.owner, RecordKind.FACT, slots, revise, waiting.session, progress)
        try:
            self.facts.revise(command)
        except NotFound:
            log.debug("%s: the session was erased meanwhile", self.name)

    def _take(self, slots: FactMerge, finding: Finding, waiting: PendingUtterances) -> None:
        when_us = max(one.time_us for one in waiting.utterances if one.message_id in finding.source_message_ids)
        origin = self.extractor.origin
        if not finding.holds:
            slots.end(conflict_key_of(finding.type, finding.key, finding.value), finding.value, when_us, origin)
            return
        opposite = opposite_key(finding.type, finding.key, finding.value)
        if opposite is not None:
            slots.end(opposite, finding.value, when_us, origin)
        slots.take(
            KnownFact(
                id=new_id(),
                type=finding.type,
                key=finding.key,
                value=finding.value,
                confidence=finding.confidence,
                valid_from_us=when_us,
                extracted_us=when_us,
                seen_us=when_us,
                origin=origin,
                session_id=waiting.key.session_id,
                source_message_ids=finding.source_message_ids,
                erased_with=waiting.key.session_id,
            )
        )


def _concerned(findings: Sequence[Finding]) -> list[int]:
    slots = {conflict_key_of(one.type, one.key, one.value) for one in findings}
    opposites = {opposite_key(one.type, one.key, one.value) for one in findings}
    return sorted(slots | {slot for slot in opposites if slot is not None})
