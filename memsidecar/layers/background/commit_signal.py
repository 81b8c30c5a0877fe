"""Commit counter and wake-up, per namespace."""

import threading
import time
from collections.abc import Mapping, Sequence
from typing import Protocol

from memsidecar.stores.contract import ChangeFeed, CommitEvent, CommitNotifier

POLL_SECONDS = 1.0
"How often a shared journal is asked for the commits of other processes."


class _Journal(ChangeFeed, CommitNotifier, Protocol):
    """The roles of the journal that the signal needs."""


class CommitSignal:
    """Counts the commits of each namespace, and wakes the runner. Thread-safe.

    A cache that has the count of its last update is current while the count has not changed. Counting is cheap,
    because every write waits for it. The commits of other processes to a shared journal are counted when `poll` or
    `current_count` reads the end of the log.
    """

    def __init__(self, journal: _Journal) -> None:
        self._journal = journal
        self._commits: dict[str, int] = {}
        self._invalidations: dict[str, int] = {}
        self._total = 0
        self._waiting = False
        self._woken = threading.Semaphore(0)
        journal.subscribe(self._committed)
        self._seen_lsns = dict(journal.last_lsns())
        self._new_namespaces: set[str] = set()
        self._seen_total = 0
        self._poll_lock = threading.Lock()
        self._poll_at = 0.0

    def _committed(self, events: Sequence[CommitEvent]) -> None:
        for event in events:
            namespace = event.key.namespace
            self._commits[namespace] = self._commits.get(namespace, 0) + 1
        self._total += len(events)
        if self._waiting:
            self._waiting = False
            self._woken.release()

    def commit_count(self, namespace: str) -> int:
        """Return a number that grows with each commit that is known of."""
        counted = self._commits.get(namespace, 0) + self._invalidations.get(namespace, 0)
        return counted + self._seen_lsns.get(namespace, 0)

    def current_count(self, namespace: str) -> int:
        """Return the count with all commits until now, those of other processes included."""
        if self._journal.is_shared:
            self._see({namespace: self._journal.log_end(namespace)})
        return self.commit_count(namespace)

    def poll(self) -> None:
        """Count the commits of other processes, at most every POLL_SECONDS."""
        if self._journal.is_shared and time.monotonic() >= self._poll_at:
            self._poll_at = time.monotonic() + POLL_SECONDS
            self._see(self._journal.last_lsns())

    def _see(self, lsns: Mapping[str, int]) -> None:
        with self._poll_lock:
            later = {name: lsn for name, lsn in lsns.items() if lsn > self._seen_lsns.get(name, 0)}
            self._new_namespaces = self._new_namespaces.union(later.keys() - self._seen_lsns)
            self._seen_lsns |= later
            self._seen_total += len(later)

    def invalidate(self, namespace: str) -> None:
        """Count a commit that did not happen, so that a task that lost data reads the log again.

        Call it on the runner's thread only.
        """
        self._invalidations[namespace] = self._invalidations.get(namespace, 0) + 1

    @property
    def total(self) -> int:
        return self._total + self._seen_total

    def committed_namespaces(self) -> list[str]:
        """Return the namespaces with commits since the start, of this process or in namespaces that were new."""
        return [*self._commits.copy(), *self._new_namespaces]

    def wait_for_commit(self, seen_total: int, timeout_seconds: float) -> None:
        """Block until `total` exceeds `seen_total`, until `wake`, until it is time to poll, or until the timeout."""
        if self._journal.is_shared:
            timeout_seconds = min(timeout_seconds, max(0.0, self._poll_at - time.monotonic()))
        self._waiting = True
        if self.total == seen_total:
            self._woken.acquire(timeout=timeout_seconds)
        self._waiting = False

    def wake(self) -> None:
        """End the current wait without a commit."""
        self._woken.release()
