"""LRU cache of records per owner, invalidated before the commit that changes them is acknowledged."""

import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Generic, TypeVar

from cachetools import LRUCache

from memsidecar.domain.statistics import CacheStatistics
from memsidecar.stores.contract import Owner, PendingCommand

V = TypeVar("V")
DoneCallback = Callable[[PendingCommand], None]


def _count_one(_value: object) -> int:
    return 1


class RecordCache(Generic[V]):
    """LRU cache bounded by the sum of `size_of` its values; a value above the bound is not cached. Thread-safe."""

    def __init__(self, max_size: int, size_of: Callable[[V], int] = _count_one) -> None:
        self._values: LRUCache[Owner, V] = LRUCache(max_size, size_of)
        self._invalidations = 0
        self._lock = threading.Lock()
        self.statistics = CacheStatistics()

    def get(self, owner: Owner, read: Callable[[], V]) -> V:
        """Return the owner's value; call `read`, without the lock held, if it is not cached."""
        with self._lock:
            invalidations = self._invalidations
            if owner in self._values:
                self.statistics.hit()
                return self._values[owner]
        self.statistics.miss()
        value = read()
        with self._lock:
            # A value that was invalidated while it was read may be stale, and is not cached.
            if self._invalidations == invalidations:
                with suppress(ValueError):  # raised for a value above the bound
                    self._values[owner] = value
        return value

    def invalidate(self, owner: Owner) -> None:
        """Drop the owner's value, and that of every read in progress."""
        with self._lock:
            self._invalidations += 1
            self._values.pop(owner, None)

    def invalidate_where(self, matches: Callable[[Owner], bool]) -> None:
        """Drop the values of all owners that match, and that of every read in progress."""
        with self._lock:
            self._invalidations += 1
            for owner in [owner for owner in self._values if matches(owner)]:
                del self._values[owner]

    def invalidating(self, owner: Owner, on_done: DoneCallback) -> DoneCallback:
        """Return a callback for a command that changes the owner's records: invalidate, then call `on_done`."""

        def invalidate_first(command: PendingCommand) -> None:
            self.invalidate(owner)
            on_done(command)

        return invalidate_first
