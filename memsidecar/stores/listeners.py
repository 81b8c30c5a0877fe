"""Listeners of commits and of the log, of all stores."""

import logging
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from memsidecar.stores.contract import (
    ERASING_COMMANDS,
    CommitEvent,
    CommitListener,
    ErasedNames,
    LogChanges,
    LogListener,
    PendingCommand,
)

log = logging.getLogger(__name__)


class CommittedTransaction(Protocol):
    """What the listeners get to know of a transaction."""

    @property
    def events(self) -> Sequence[CommitEvent]: ...

    @property
    def logged_namespaces(self) -> set[str]: ...

    @property
    def erasures(self) -> Sequence[ErasedNames]: ...

    @property
    def results(self) -> Sequence[tuple[PendingCommand, Any]]: ...


def erases(transaction: CommittedTransaction) -> bool:
    return any(isinstance(pending.command, ERASING_COMMANDS) for pending, _ in transaction.results)


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

    def notify(self, transaction: CommittedTransaction) -> None:
        """Tell all listeners of a transaction."""
        if transaction.events:
            self.notify_of_commit(transaction.events)
        if self._of_log:
            namespaces = {event.key.namespace for event in transaction.events} | transaction.logged_namespaces
            self.notify_of_log(LogChanges(namespaces, transaction.erasures, erases(transaction)))

    def notify_of_commit(self, events: Sequence[CommitEvent]) -> None:
        invalidations = [event for event in events if event.invalidates]
        for listener, only_invalidations in self._of_commits:
            if only_invalidations and not invalidations:
                continue
            try:
                listener(invalidations if only_invalidations else events)
            except Exception:
                log.exception("a listener failed")

    def notify_of_log(self, changes: LogChanges) -> None:
        for listener in self._of_log if changes.namespaces else ():
            try:
                listener(changes)
            except Exception:
                log.exception("a listener failed")
