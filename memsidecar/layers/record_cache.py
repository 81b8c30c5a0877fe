"""LRU of records per owner, invalidated by commits."""

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

from memsidecar.stores.contract import Owner, PendingCommand

V = TypeVar("V")
DoneCallback = Callable[[PendingCommand], None]


def _one_each(_value: object) -> int:
    return 1


class RecordCache(Generic[V]):
    """Bounded by what its values weigh together; whoever was asked for longest ago goes first. Thread-safe."""

    def __init__(self, most: int, weigh: Callable[[V], int] = _one_each) -> None:
        self._most = most
        self._weigh = weigh
        self._known: OrderedDict[Owner, tuple[V, int]] = OrderedDict()
        self._weight = 0
        self._changes = 0
        self._lock = threading.Lock()

    def get(self, owner: Owner, read: Callable[[], V]) -> V:
        with self._lock:
            changes = self._changes
            if owner in self._known:
                self._known.move_to_end(owner)
                return self._known[owner][0]
        value = read()
        weight = self._weigh(value)
        with self._lock:
            # What was changed meanwhile may be missing: it is not remembered then.
            if self._changes == changes:
                self._keep(owner, value, weight)
        return value

    def invalidate_where(self, is_meant: Callable[[Owner], bool]) -> None:
        """From now on these are read anew, and so is whatever is being read at this moment."""
        with self._lock:
            self._changes += 1
            for owner in [one for one in self._known if is_meant(one)]:
                self._drop(owner)

    def invalidate(self, owner: Owner) -> None:
        with self._lock:
            self._changes += 1
            self._drop(owner)

    def invalidating(self, owner: Owner, settled: DoneCallback) -> DoneCallback:
        """For a ticket that changes an owner's notes: forget first, then tell."""

        def forget_first(ticket: PendingCommand) -> None:
            self.invalidate(owner)
            settled(ticket)

        return forget_first

    def _keep(self, owner: Owner, value: V, weight: int) -> None:
        self._drop(owner)
        self._known[owner] = (value, weight)
        self._weight += weight
        while self._weight > self._most:
            self._drop(next(iter(self._known)))

    def _drop(self, owner: Owner) -> None:
        _, weight = self._known.pop(owner, (None, 0))
        self._weight -= weight
