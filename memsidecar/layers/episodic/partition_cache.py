"""LRU of partitions and log tails."""

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import NamedTuple

from memsidecar.layers.episodic.log_tail import LogTail
from memsidecar.layers.episodic.partition import Partition
from memsidecar.stores.contract import IndexBatch

TAILS_KEPT = 64
TOO_LARGE_KEPT = 1_024


class PartitionKey(NamedTuple):
    """A shelf of one generation of a namespace's index."""

    namespace: str
    generation: int
    shelf: int


class PartitionTooLarge(Exception):
    """The shelf is larger than all shelves together may be."""


class PartitionCache:
    """And, for scopes that are not in RAM, the tails of namespaces. Thread-safe."""

    def __init__(self, max_bytes: int) -> None:
        self.max_bytes = max_bytes
        self._lock = threading.Lock()
        self._shelves: OrderedDict[PartitionKey, Partition] = OrderedDict()
        self._loading: dict[PartitionKey, threading.Lock] = {}
        self._too_large: OrderedDict[PartitionKey, None] = OrderedDict()
        self._tails: OrderedDict[tuple[str, int], LogTail] = OrderedDict()

    def is_too_large(self, key: PartitionKey) -> bool:
        with self._lock:
            return key in self._too_large

    def tail(self, namespace: str, generation: int) -> LogTail:
        with self._lock:
            tail = self._tails.setdefault((namespace, generation), LogTail())
            self._tails.move_to_end((namespace, generation))
            while len(self._tails) > TAILS_KEPT:
                self._tails.popitem(last=False)
            return tail

    def get(self, key: PartitionKey) -> Partition | None:
        with self._lock:
            shelf = self._shelves.get(key)
            if shelf is not None:
                self._shelves.move_to_end(key)
            return shelf

    def get_or_load(self, key: PartitionKey, load: Callable[[], Partition]) -> Partition:
        """The shelf; whoever comes while another loads it waits for that one."""
        if (shelf := self.get(key)) is not None:
            return shelf
        with self._lock:
            loading = self._loading.setdefault(key, threading.Lock())
        with loading:
            if (shelf := self.get(key)) is None:
                shelf = self._loaded(key, load)
        return shelf

    def _loaded(self, key: PartitionKey, load: Callable[[], Partition]) -> Partition:
        try:
            shelf = load()
        except PartitionTooLarge:
            self._note_too_large(key)
            raise
        self._keep(key, shelf)
        return shelf

    def _note_too_large(self, key: PartitionKey) -> None:
        with self._lock:
            self._loading.pop(key, None)
            self._too_large[key] = None
            while len(self._too_large) > TOO_LARGE_KEPT:
                self._too_large.popitem(last=False)

    def _keep(self, key: PartitionKey, shelf: Partition) -> None:
        with self._lock:
            self._shelves[key] = shelf
            self._loading.pop(key, None)
            self._make_room()

    def make_room(self) -> None:
        """After a shelf has grown."""
        with self._lock:
            self._make_room()

    def _make_room(self) -> None:
        size = sum(shelf.size_bytes for shelf in self._shelves.values())
        while size > self.max_bytes and self._shelves:
            _, dropped = self._shelves.popitem(last=False)
            size -= dropped.size_bytes

    def tell(self, namespace: str, generation: int, after: int, end: int, harvest: IndexBatch) -> None:
        """Pass on what was indexed to the shelves that are here. One that has missed something is dropped."""
        with self._lock:
            told = [(key, shelf) for key, shelf in self._shelves.items() if key[:2] == (namespace, generation)]
        lost = [
            key
            for key, shelf in told
            if not shelf.advance(after, end, harvest.in_partitions([key.shelf])) or shelf.is_mostly_dead
        ]
        with self._lock:
            for key in lost:
                self._shelves.pop(key, None)
            self._make_room()

    def drop_tails(self, namespace: str) -> None:
        """What was erased is not to stay in RAM either."""
        with self._lock:
            for key in [key for key in self._tails if key[0] == namespace]:
                del self._tails[key]

    def discard(self, key: PartitionKey) -> None:
        with self._lock:
            self._shelves.pop(key, None)

    def drop(self, namespace: str, generation: int) -> None:
        with self._lock:
            self._tails.pop((namespace, generation), None)
            for key in [key for key in self._shelves if key[:2] == (namespace, generation)]:
                del self._shelves[key]
