"""A summary every few messages, behind everybody's back."""

import logging
from collections.abc import Callable
from dataclasses import dataclass

from memsidecar.domain.session import SessionKey
from memsidecar.language.contract import MalformedAnswer, ModelUnavailable
from memsidecar.layers.background import OffsetTracker, RetryLater, submit_and_wait
from memsidecar.layers.summaries.update import SummarySchedule
from memsidecar.stores.contract import AddDeadLetter, Journal, LogEntries, MessageWritten, PendingCommand

log = logging.getLogger(__name__)

TASK = "summaries"


@dataclass
class SummaryTask:
    """Keeps the promises of a background task. What is due is seen from the session itself, so nothing waits in RAM."""

    journal: Journal
    keep_up: SummarySchedule
    yield_cpu: Callable[[], None]
    name: str = TASK

    def __post_init__(self) -> None:
        self._offsets = OffsetTracker(self.journal, self.name)

    def position(self, namespace: str) -> int:
        return self._offsets.position(namespace)

    def reached(self, namespace: str) -> int:
        """Up to which entry there is nothing left to do. From any thread."""
        return self._offsets.completed_lsn(namespace)

    def process(self, namespace: str, chapter: LogEntries) -> None:
        """While the model is away, whoever has no summary yet gets one without it: nobody waits for another's."""
        away: RetryLater | None = None
        for key in dict.fromkeys(entry.key for entry in chapter if isinstance(entry, MessageWritten)):
            try:
                self._look_at(key, chapter[0].lsn)
            except RetryLater as obstacle:
                away = obstacle
            self.yield_cpu()
        if away is not None:
            raise away
        self._offsets.advance(namespace, chapter[-1].lsn)

    def maintain(self, idle: bool) -> bool:
        for namespace in self._offsets.namespaces():
            position = self._offsets.position(namespace)
            if self._offsets.is_due(namespace, position, idle):
                self._offsets.commit(namespace, position)
        return False

    def _look_at(self, key: SessionKey, lsn: int) -> None:
        head = self.journal.head(key)
        if head is None or head.last_sequence < self.keep_up.rhythm.every_messages:
            return
        try:
            self.keep_up(head)
        except ModelUnavailable as away:
            raise RetryLater(str(away)) from away
        except MalformedAnswer as malformed:
            reason = type(malformed).__name__
            log.error("the summary of a session stays as it was: %s", reason)
            submit_and_wait(self.journal, PendingCommand(AddDeadLetter(self.name, key.namespace, lsn, reason)))
