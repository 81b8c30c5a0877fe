"""Listeners of commits and of the log, as the writer calls them."""

import logging
from collections.abc import Callable, Sequence

from memsidecar.stores.contract import CommitEvent, CommitListener, LogChanges, LogListener
from memsidecar.stores.sqlite.transaction import Transaction

log = logging.getLogger(__name__)


class Listeners:
    """Subscribed to from any thread, called on the committer's. A listener that fails affects neither the others nor
    the transaction."""

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

    def notify(self, transaction: Transaction) -> None:
        if transaction.events:
            self._notify_of_commit(transaction.events)
        if self._of_log:
            self._notify_of_log(transaction)

    def _notify_of_commit(self, events: Sequence[CommitEvent]) -> None:
        invalidations = [event for event in events if event.invalidates]
        for listener, only_invalidations in self._of_commits:
            if only_invalidations and not invalidations:
                continue
            try:
                listener(invalidations if only_invalidations else events)
            except Exception:
                log.exception("a listener failed")

    def _notify_of_log(self, transaction: Transaction) -> None:
        namespaces = {event.key.namespace for event in transaction.events} | transaction.logged_namespaces
        if not namespaces:
            return
        for listener in self._of_log:
            try:
                listener(LogChanges(namespaces, transaction.erasures))
            except Exception:
                log.exception("a listener failed")
