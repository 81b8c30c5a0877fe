"""Commit counter and wake-up per namespace."""

import threading
from collections.abc import Sequence

from memsidecar.stores.contract import CommitEvent, Journal


class CommitSignal:
    """Counts the commits of each namespace. Thread-safe; beating is cheap, because every Add waits for it."""

    def __init__(self, journal: Journal) -> None:
        self._beats: dict[str, int] = {}
        self._repeats: dict[str, int] = {}
        self._total = 0
        self._waiting = False
        self._woken = threading.Semaphore(0)
        journal.subscribe(self._committed)
        self._known = frozenset(journal.last_lsns())

    def _committed(self, changes: Sequence[CommitEvent]) -> None:
        for change in changes:
            namespace = change.key.namespace
            self._beats[namespace] = self._beats.get(namespace, 0) + 1
        self._total += len(changes)
        if self._waiting:
            self._waiting = False
            self._woken.release()

    def of(self, namespace: str) -> int:
        return self._beats.get(namespace, 0) + self._repeats.get(namespace, 0)

    def repeat(self, namespace: str) -> None:
        """A task has lost something: let it look at the log again. On the runner's thread, and no other."""
        self._repeats[namespace] = self._repeats.get(namespace, 0) + 1

    def knows(self, namespace: str) -> bool:
        """Whether anything was ever written there."""
        return namespace in self._beats or namespace in self._known

    @property
    def total(self) -> int:
        return self._total

    def beats(self) -> dict[str, int]:
        return self._beats.copy()

    def wait_beyond(self, total: int, seconds: float) -> None:
        """Sleep until there is a beat after this total, or the time is over."""
        self._waiting = True
        if self._total == total:
            self._woken.acquire(timeout=seconds)
        self._waiting = False

    def wake(self) -> None:
        """End somebody's wait for nothing, so that they see what else has changed."""
        self._woken.release()
