"""A summary every few messages, behind everybody's back."""

import logging
from collections.abc import Callable
from dataclasses import dataclass

from memsidecar.domain.session import SessionKey
from memsidecar.language.contract import MalformedAnswer, ModelAway
from memsidecar.layers.background import Marks, NotNow, tell
from memsidecar.layers.summaries.update import KeepingUp
from memsidecar.stores.contract import Chapter, Journal, Said, SetAside, Ticket

log = logging.getLogger(__name__)

TASK = "summaries"


@dataclass
class SummarizingTask:
    """Keeps the promises of a background task. What is due is seen from the session itself, so nothing waits in RAM."""

    journal: Journal
    keep_up: KeepingUp
    give_way: Callable[[], None]
    name: str = TASK

    def __post_init__(self) -> None:
        self._marks = Marks(self.journal, self.name)

    def position(self, namespace: str) -> int:
        return self._marks.position(namespace)

    def reached(self, namespace: str) -> int:
        """Up to which entry there is nothing left to do. From any thread."""
        return self._marks.reached(namespace)

    def take(self, namespace: str, chapter: Chapter) -> None:
        """While the model is away, whoever has no summary yet gets one without it: nobody waits for another's."""
        away: NotNow | None = None
        for key in dict.fromkeys(entry.key for entry in chapter if isinstance(entry, Said)):
            try:
                self._look_at(key, chapter[0].lsn)
            except NotNow as obstacle:
                away = obstacle
            self.give_way()
        if away is not None:
            raise away
        self._marks.move(namespace, chapter[-1].lsn)

    def rest(self, idle: bool) -> bool:
        for namespace in self._marks.namespaces():
            position = self._marks.position(namespace)
            if self._marks.is_due(namespace, position, idle):
                self._marks.mark(namespace, position)
        return False

    def _look_at(self, key: SessionKey, lsn: int) -> None:
        head = self.journal.head(key)
        if head is None or head.last_sequence < self.keep_up.rhythm.every_messages:
            return
        try:
            self.keep_up(head)
        except ModelAway as away:
            raise NotNow(str(away)) from away
        except MalformedAnswer as malformed:
            reason = type(malformed).__name__
            log.error("the summary of a session stays as it was: %s", reason)
            tell(self.journal, Ticket(SetAside(self.name, key.namespace, lsn, reason)))
