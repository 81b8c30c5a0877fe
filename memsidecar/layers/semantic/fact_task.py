"""Fact task: background task that extracts facts from the messages in the change feed."""

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from memsidecar.domain.errors import NotFound
from memsidecar.domain.ids import new_id
from memsidecar.domain.message import Flag, Role
from memsidecar.language.contract import FactExtractor, Finding, ModelUnavailable, Utterance
from memsidecar.layers.background import OffsetTracker, RetryLater
from memsidecar.layers.learned_until import LARGE_MESSAGE_BYTES, is_large
from memsidecar.layers.semantic.echo_filter import EchoFilter
from memsidecar.layers.semantic.fact import KnownFact, conflict_key_of
from memsidecar.layers.semantic.fact_merge import FactMerge, opposite_key
from memsidecar.layers.semantic.facts import Facts
from memsidecar.layers.semantic.utterance_queue import NamespaceCursor, PendingUtterances
from memsidecar.stores.contract import (
    AddDeadLetter,
    Journal,
    LogEntries,
    LogEntry,
    MessageErased,
    MessageWritten,
    Owner,
    Record,
    RecordChanges,
    RecordKind,
    RowsErased,
    SessionClaimed,
    UpsertRecords,
    submit_and_wait,
)
from memsidecar.v1.message_pb2 import Message

log = logging.getLogger(__name__)

TASK = "semantic.facts"
LARGE_MESSAGES_TASK = "semantic.facts.large"
MAX_PENDING_BYTES = 1 << 20
MAX_SESSION_BYTES = LARGE_MESSAGE_BYTES
"A session with more does not wait: a large message is read in its own batch, so that the runner knows its cost."


@dataclass
class FactTask:
    """Implements the Task protocol. Extracts facts of a session after `every_turns`, or when it is quiet.

    One task reads the large messages, and another one all others.
    """

    journal: Journal
    facts: Facts
    extractor: FactExtractor
    echoes: EchoFilter
    every_turns: int
    quiet_seconds: float
    yield_cpu: Callable[[], None]
    reads_large: bool = False
    _cursors: dict[str, NamespaceCursor] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.name = LARGE_MESSAGES_TASK if self.reads_large else TASK
        self._offsets = OffsetTracker(self.journal, self.name)

    def position(self, namespace: str) -> int:
        return self._cursor(namespace).position

    def completed_lsn(self, namespace: str) -> int:
        """Return the lsn up to which all facts are extracted; it is behind `position`. Callable from any thread."""
        return self._offsets.completed_lsn(namespace)

    def process(self, namespace: str, entries: LogEntries) -> None:
        """Enqueue the utterances of a batch and extract what is due.

        While the extractor is unavailable, this raises and the batch stays in the log, not in RAM.
        """
        cursor = self._cursor(namespace)
        self._extract_due(namespace, cursor)
        for entry in entries:
            self._apply(cursor, entry)
        cursor.position = entries[-1].lsn
        self._extract_due(namespace, cursor)

    def maintain(self, idle: bool) -> bool:
        for namespace, cursor in self._cursors.items():
            try:
                self._extract_due(namespace, cursor)
            except RetryLater as obstacle:
                log.debug("%s waits: %s", self.name, obstacle)
            completed_lsn = cursor.completed_lsn
            self._offsets.advance(namespace, completed_lsn)
            if self._offsets.is_due(namespace, completed_lsn, idle):
                self._offsets.commit(namespace, completed_lsn)
        return False

    def is_waiting_for_model(self, namespace: str) -> bool:
        """Whether utterances wait because the model is unavailable."""
        cursor = self._cursors.get(namespace)
        return cursor is not None and cursor.model_unavailable

    def _cursor(self, namespace: str) -> NamespaceCursor:
        if namespace not in self._cursors:
            self._cursors[namespace] = NamespaceCursor(self._offsets.position(namespace))
        return self._cursors[namespace]

    def _apply(self, cursor: NamespaceCursor, entry: LogEntry) -> None:
        if isinstance(entry, MessageWritten):
            if entry.lsn == entry.first_lsn and is_large(entry.message) == self.reads_large:
                self._enqueue(cursor, entry)
        elif isinstance(entry, RowsErased):
            cursor.pending.pop(entry.session, None)
        elif isinstance(entry, MessageErased):
            self._drop(cursor, entry)
        elif isinstance(entry, SessionClaimed):
            self._claim(cursor, entry)

    def _drop(self, cursor: NamespaceCursor, entry: MessageErased) -> None:
        pending = cursor.pending.get(entry.session)
        if pending is not None:
            pending.keep(set(pending.sequences) - {entry.sequence})
            if not pending.utterances:
                del cursor.pending[entry.session]

    def _enqueue(self, cursor: NamespaceCursor, entry: MessageWritten) -> None:
        stored = entry.message
        if stored.role not in (Role.USER, Role.ASSISTANT) or stored.flags & Flag.LEARNED:
            return
        message = Message.FromString(stored.body)
        text = self.echoes.strip_echoes(entry.key, stored.sequence, message.content)
        pending = cursor.pending.get(entry.session)
        if pending is None:
            pending = PendingUtterances(entry.session, entry.key, entry.user_id, entry.lsn)
            cursor.pending[entry.session] = pending
        pending.utterances.append(Utterance(message.id, stored.role, message.name, text, stored.time_us))
        pending.turns += stored.role == Role.USER
        pending.size_bytes += len(stored.body)
        pending.lsns.append(entry.lsn)
        pending.sequences.append(stored.sequence)
        pending.last_enqueued = time.monotonic()

    def _claim(self, cursor: NamespaceCursor, claimed: SessionClaimed) -> None:
        """Move the facts of a session without a user to the user that claimed the session."""
        if claimed.session in cursor.pending:
            cursor.pending[claimed.session].user_id = claimed.user_id
        if self.reads_large:  # the other task moves them
            return
        before = Owner(claimed.key.namespace, session_id=claimed.key.session_id)
        known = self.facts.all(before, history=True)
        if known:
            in_order = sorted(known, key=lambda fact: fact.valid_from_us)
            try:
                self._move(before, Owner(claimed.key.namespace, claimed.user_id), in_order, claimed.session)
            except NotFound:
                log.debug("%s: the session was erased meanwhile", self.name)

    def _move(self, before: Owner, after: Owner, known: Sequence[KnownFact], session: int) -> None:
        def add(records: Sequence[Record]) -> RecordChanges:
            merge = FactMerge.of(records)
            for fact in known:
                merge.put(fact)
            return merge.changes

        def remove(records: Sequence[Record]) -> RecordChanges:
            return RecordChanges(deletes=[record.id for record in records])

        def remove_erased(records: Sequence[Record]) -> RecordChanges:
            """Remove again what an erasure removed between the read and the move."""
            return RecordChanges(deletes=[record.id for record in records if record.id in erased])

        keys = sorted({fact.conflict_key for fact in known})
        self.facts.upsert(UpsertRecords(after, RecordKind.FACT, keys, add, session))
        erased = {fact.id for fact in known} - {fact.id for fact in self.facts.all(before, history=True)}
        if erased:
            self.facts.upsert(UpsertRecords(after, RecordKind.FACT, keys, remove_erased))
        self.facts.upsert(UpsertRecords(before, RecordKind.FACT, keys, remove))

    def _extract_due(self, namespace: str, cursor: NamespaceCursor) -> None:
        quiet_since = time.monotonic() - self.quiet_seconds
        is_full = sum(pending.size_bytes for pending in cursor.pending.values()) > MAX_PENDING_BYTES
        for pending in list(cursor.pending.values()):
            is_enough = pending.turns >= self.every_turns or pending.size_bytes >= MAX_SESSION_BYTES
            if is_full or is_enough or pending.last_enqueued <= quiet_since:
                self._extract(namespace, cursor, pending)
                del cursor.pending[pending.session]
                self.yield_cpu()

    def _extract(self, namespace: str, cursor: NamespaceCursor, pending: PendingUtterances) -> None:
        """Extract and save. If a message was erased meanwhile, do it again without that message."""
        while pending.utterances and not self._try_extract(namespace, cursor, pending):
            found = self.journal.get_by_lsn(namespace, pending.lsns)
            pending.keep({located.message.sequence for located in found.values()})

    def _try_extract(self, namespace: str, cursor: NamespaceCursor, pending: PendingUtterances) -> bool:
        """Return whether it is done; False if a message or the session was erased meanwhile."""
        try:
            findings = self.extractor.extract(pending.utterances)
        except ModelUnavailable as unavailable:
            cursor.model_unavailable = True
            raise RetryLater(str(unavailable)) from unavailable
        except Exception as failure:  # noqa: BLE001 - must neither stop the task nor be taken for "no facts"
            self._add_dead_letters(namespace, pending.lsns, failure)
            return True
        cursor.model_unavailable = False
        return not findings or self._save(cursor, pending, findings)

    def _add_dead_letters(self, namespace: str, lsns: Sequence[int], failure: Exception) -> None:
        """Skip all of them after a restart, too. Only the class of the error is stored: its text may be the user's."""
        reason = type(failure).__name__
        log.error("%s skips %d messages of a session from entry %d on: %s", self.name, len(lsns), lsns[0], reason)
        for lsn in lsns:
            submit_and_wait(self.journal, AddDeadLetter(self.name, namespace, lsn, reason))

    def _save(self, cursor: NamespaceCursor, pending: PendingUtterances, findings: Sequence[Finding]) -> bool:
        def merge_findings(records: Sequence[Record]) -> RecordChanges:
            merge = FactMerge.of(records)
            for finding in findings:
                self._merge_finding(merge, finding, pending)
            return merge.changes

        # Facts and offset are one commit. Else a fact that a client deletes could be extracted again after a crash.
        progress = self._offsets.progress(pending.key.namespace, cursor.completed_lsn_after(pending))
        keys = _conflict_keys(findings)
        command = UpsertRecords(
            pending.owner, RecordKind.FACT, keys, merge_findings, pending.session, progress, pending.sequences
        )
        try:
            self.facts.upsert(command)
        except NotFound:
            log.debug("%s: the session or a message of it was erased meanwhile", self.name)
            return False
        return True

    def _merge_finding(self, merge: FactMerge, finding: Finding, pending: PendingUtterances) -> None:
        sources = finding.source_message_ids
        when_us = max(utterance.time_us for utterance in pending.utterances if utterance.message_id in sources)
        origin, key = self.extractor.origin, conflict_key_of(finding.type, finding.key, finding.value)
        if finding.updates and not merge.is_known(key):
            return
        if not finding.holds:
            merge.retract(key, finding.value, when_us, origin)
            return
        opposite = opposite_key(finding.type, finding.key, finding.value)
        if opposite is not None:
            merge.retract(opposite, finding.value, when_us, origin)
        merge.put(
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
                session_id=pending.key.session_id,
                source_message_ids=sources,
                erased_with=pending.key.session_id,
            )
        )


def _conflict_keys(findings: Sequence[Finding]) -> list[int]:
    keys = {conflict_key_of(finding.type, finding.key, finding.value) for finding in findings}
    opposites = {opposite_key(finding.type, finding.key, finding.value) for finding in findings}
    return sorted(keys | {key for key in opposites if key is not None})
