"""LRU cache of records per owner, invalidated before the commit that changes them is acknowledged.

Other processes may change the records of a shared journal: there the version of the owner tells whether a value is
current. Elsewhere it never changes.
"""

import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Generic, NamedTuple, TypeVar

from cachetools import LRUCache

from memsidecar.domain.statistics import CacheStatistics
from memsidecar.stores.contract import Owner, OwnerVersions, PendingCommand

V = TypeVar("V")
DoneCallback = Callable[[PendingCommand], None]


def _count_one(_value: object) -> int:
    return 1


class _Entry(NamedTuple, Generic[V]):
    version: int
    value: V


class RecordCache(Generic[V]):
    """LRU cache bounded by the sum of `size_of` its values; a value above the bound is not cached. Thread-safe."""

    def __init__(self, journal: OwnerVersions, max_size: int, size_of: Callable[[V], int] = _count_one) -> None:
        self._journal = journal
        self._entries: LRUCache[Owner, _Entry[V]] = LRUCache(max_size, lambda entry: size_of(entry.value))
        self._invalidations = 0
        self._lock = threading.Lock()
        self.statistics = CacheStatistics()

    def get(self, owner: Owner, read: Callable[[], V]) -> V:
        """Return the owner's value; call `read`, without the lock held, if no current one is cached."""
        # Before the read: the value may be newer than its version, and never older.
        version = self._journal.owner_versions([owner])[owner]
        with self._lock:
            invalidations = self._invalidations
            entry = self._entries.get(owner)
            if entry is not None and entry.version == version:
                self.statistics.hit()
                return entry.value
        self.statistics.miss()
        value = read()
        with self._lock:
            # A value that was invalidated while it was read may be stale, and is not cached.
            if self._invalidations == invalidations:
                with suppress(ValueError):  # raised for a value above the bound
                    self._entries[owner] = _Entry(version, value)
        return value

    def invalidate(self, owner: Owner) -> None:
        """Drop the owner's value, and that of every read in progress."""
        with self._lock:
            self._invalidations += 1
            self._entries.pop(owner, None)

    def invalidate_where(self, matches: Callable[[Owner], bool]) -> None:
        """Drop the values of all owners that match, and that of every read in progress."""
        with self._lock:
            self._invalidations += 1
            for owner in [owner for owner in self._entries if matches(owner)]:
                del self._entries[owner]

    def invalidating(self, owner: Owner, on_done: DoneCallback) -> DoneCallback:
        """Return a callback for a command that changes the owner's records: invalidate, then call `on_done`."""

        def invalidate_first(command: PendingCommand) -> None:
            self.invalidate(owner)
            on_done(command)

        return invalidate_first
