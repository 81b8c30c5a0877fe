"""Summary task: background task that updates the summaries of sessions with new messages."""

import logging
from collections.abc import Callable
from dataclasses import dataclass

from memsidecar.domain.session import SessionKey
from memsidecar.language.contract import MalformedAnswer, ModelUnavailable
from memsidecar.layers.background import OffsetTracker, RetryLater
from memsidecar.layers.summaries.update import SummarySchedule
from memsidecar.stores.contract import (
    AddDeadLetter,
    Journal,
    LogEntries,
    MessageErased,
    MessageWritten,
    submit_and_wait,
)

log = logging.getLogger(__name__)

TASK = "summaries"


@dataclass
class SummaryTask:
    """Implements the Task protocol. Whether an update is due follows from the session, so nothing is kept in RAM."""

    journal: Journal
    schedule: SummarySchedule
    yield_cpu: Callable[[], None]
    name: str = TASK

    def __post_init__(self) -> None:
        self._offsets = OffsetTracker(self.journal, self.name)

    def position(self, namespace: str) -> int:
        return self._offsets.position(namespace)

    def completed_lsn(self, namespace: str) -> int:
        """Return the lsn up to which no update is due. Callable from any thread."""
        return self._offsets.completed_lsn(namespace)

    def process(self, namespace: str, entries: LogEntries) -> None:
        """Update the summaries of the sessions in the batch, through its messages: a backlog is left to later batches.

        If the model is unavailable for one session, the others are still tried: a session without a summary gets its
        first one without the model.
        """
        unavailable: RetryLater | None = None
        last_sequences: dict[SessionKey, int] = {}
        erased = {entry.key for entry in entries if isinstance(entry, MessageErased) and entry.key is not None}
        for entry in entries:
            if isinstance(entry, MessageWritten):
                last_sequences[entry.key] = max(entry.message.sequence, last_sequences.get(entry.key, 0))
        for key, last_sequence in (dict.fromkeys(erased, 0) | last_sequences).items():
            try:
                self._update(key, last_sequence, entries[0].lsn, has_erasure=key in erased)
            except RetryLater as obstacle:
                unavailable = obstacle
            self.yield_cpu()
        if unavailable is not None:
            raise unavailable
        self._offsets.advance(namespace, entries[-1].lsn)

    def maintain(self, idle: bool) -> bool:
        for namespace in self._offsets.namespaces():
            position = self._offsets.position(namespace)
            if self._offsets.is_due(namespace, position, idle):
                self._offsets.commit(namespace, position)
        return False

    def _update(self, key: SessionKey, last_sequence: int, lsn: int, *, has_erasure: bool) -> None:
        head = self.journal.head(key)
        if head is None or (head.last_sequence < self.schedule.policy.every_messages and not has_erasure):
            return
        try:
            if has_erasure:
                self.schedule.make_again(head)
            else:
                self.schedule.update(head, last_sequence)
        except ModelUnavailable as unavailable:
            raise RetryLater(str(unavailable)) from unavailable
        except MalformedAnswer as malformed:
            reason = type(malformed).__name__
            log.error("the summary of a session was not updated: %s", reason)
            submit_and_wait(self.journal, AddDeadLetter(self.name, key.namespace, lsn, reason))
