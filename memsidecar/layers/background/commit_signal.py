"""Commit counter and wake-up, per namespace."""

import threading
from collections.abc import Sequence
from typing import Protocol

from memsidecar.stores.contract import ChangeFeed, CommitEvent, CommitNotifier


class _Journal(ChangeFeed, CommitNotifier, Protocol):
    """The roles of the journal that the signal needs."""


class CommitSignal:
    """Counts the commits of each namespace, and wakes the runner. Thread-safe.

    A cache that has the count of its last update is current while the count has not changed. Counting is cheap,
    because every write waits for it.
    """

    def __init__(self, journal: _Journal) -> None:
        self._commits: dict[str, int] = {}
        self._invalidations: dict[str, int] = {}
        self._total = 0
        self._waiting = False
        self._woken = threading.Semaphore(0)
        journal.subscribe(self._committed)
        self._at_start = frozenset(journal.last_lsns())

    def _committed(self, events: Sequence[CommitEvent]) -> None:
        for event in events:
            namespace = event.key.namespace
            self._commits[namespace] = self._commits.get(namespace, 0) + 1
        self._total += len(events)
        if self._waiting:
            self._waiting = False
            self._woken.release()

    def commit_count(self, namespace: str) -> int:
        return self._commits.get(namespace, 0) + self._invalidations.get(namespace, 0)

    def invalidate(self, namespace: str) -> None:
        """Count a commit that did not happen, so that a task that lost data reads the log again.

        Call it on the runner's thread only.
        """
        self._invalidations[namespace] = self._invalidations.get(namespace, 0) + 1

    def has_data(self, namespace: str) -> bool:
        """Return whether anything was ever written to the namespace."""
        return namespace in self._commits or namespace in self._at_start

    @property
    def total(self) -> int:
        return self._total

    def committed_namespaces(self) -> list[str]:
        """Return the namespaces with commits since the start."""
        return list(self._commits.copy())

    def wait_for_commit(self, seen_total: int, timeout_seconds: float) -> None:
        """Block until `total` exceeds `seen_total`, until `wake`, or until the timeout."""
        self._waiting = True
        if self._total == seen_total:
            self._woken.acquire(timeout=timeout_seconds)
        self._waiting = False

    def wake(self) -> None:
        """End the current wait without a commit."""
        self._woken.release()
