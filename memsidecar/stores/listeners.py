"""Listeners of commits and of the log, in both stores."""

import logging
from collections.abc import Callable, Sequence

from memsidecar.stores.contract import CommitEvent, CommitListener, LogChanges, LogListener

log = logging.getLogger(__name__)


class Listeners:
    """Subscribed to from any thread, called on the one that commits. A listener that fails affects neither the others
    nor the commit."""

    def __init__(self) -> None:
        self._of_commits: list[tuple[CommitListener, bool]] = []
        self._of_log: tuple[LogListener, ...] = ()

    def subscribe(self, listener: CommitListener, only_invalidations: bool) -> None:
        self._of_commits.append((listener, only_invalidations))

    def subscribe_log(self, listener: LogListener) -> Callable[[], None]:
        self._of_log += (listener,)

        def unsubscribe() -> None:
            self._of_log = tuple(each for each in self._of_log if each is not listener)

        return unsubscribe

    def notify_of_commit(self, events: Sequence[CommitEvent]) -> None:
        invalidations = [event for event in events if event.invalidates]
        for listener, only_invalidations in self._of_commits:
            if only_invalidations and not invalidations:
                continue
            try:
                listener(invalidations if only_invalidations else events)
            except Exception:
                log.exception("a listener failed")

    @property
    def has_log_listeners(self) -> bool:
        return bool(self._of_log)

    def notify_of_log(self, changes: LogChanges) -> None:
        for listener in self._of_log if changes.namespaces else ():
            try:
                listener(changes)
            except Exception:
                log.exception("a listener failed")
