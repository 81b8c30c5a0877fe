"""LRU cache of partitions; log tails of namespaces whose partitions are not in memory."""

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import NamedTuple

from cachetools import LRUCache

from memsidecar.domain.statistics import CacheStatistics
from memsidecar.layers.episodic.log_tail import LogTail
from memsidecar.layers.episodic.partition import Partition
from memsidecar.stores.contract import IndexBatch

MAX_TAILS = 64
MAX_TOO_LARGE_KEYS = 1_024


class PartitionKey(NamedTuple):
    """A partition of one generation of a namespace's index."""

    namespace: str
    generation: int
    partition: int


class PartitionTooLarge(Exception):
    """The partition alone is larger than the cache may be."""


class PartitionCache:
    """LRU cache bounded in bytes. Thread-safe.

    It is no cachetools.LRUCache, which takes the size of a value when it is stored: a partition grows while it is
    cached, so sizes are summed up again after each change.
    """

    def __init__(self, max_bytes: int) -> None:
        self.max_bytes = max_bytes
        self.statistics = CacheStatistics()
        self._lock = threading.Lock()
        self._partitions: OrderedDict[PartitionKey, Partition] = OrderedDict()
        self._loading: dict[PartitionKey, threading.Lock] = {}
        self._too_large: LRUCache[PartitionKey, None] = LRUCache(MAX_TOO_LARGE_KEYS)
        self._tails: LRUCache[tuple[str, int], LogTail] = LRUCache(MAX_TAILS)

    def get(self, key: PartitionKey) -> Partition | None:
        with self._lock:
            partition = self._partitions.get(key)
            if partition is not None:
                self._partitions.move_to_end(key)
            return partition

    def get_or_load(self, key: PartitionKey, load: Callable[[], Partition]) -> Partition:
        """Return the partition. Concurrent callers wait for one load. Raises PartitionTooLarge if `load` does."""
        if (partition := self.get(key)) is not None:
            self.statistics.hit()
            return partition
        self.statistics.miss()
        with self._lock:
            loading = self._loading.setdefault(key, threading.Lock())
        with loading:
            if (partition := self.get(key)) is None:
                partition = self._load(key, load)
        return partition

    def _load(self, key: PartitionKey, load: Callable[[], Partition]) -> Partition:
        try:
            partition = load()
        except PartitionTooLarge:
            with self._lock:
                self._loading.pop(key, None)
                self._too_large[key] = None
            raise
        with self._lock:
            self._partitions[key] = partition
            self._loading.pop(key, None)
            self._evict()
        return partition

    def is_too_large(self, key: PartitionKey) -> bool:
        """Return whether an earlier load raised PartitionTooLarge."""
        with self._lock:
            return key in self._too_large

    def evict(self) -> None:
        """Drop the least recently used partitions until the rest fits; to be called after one has grown."""
        with self._lock:
            self._evict()

    @property
    def size_bytes(self) -> int:
        with self._lock:
            return self._size_bytes()

    def _size_bytes(self) -> int:
        return sum(partition.size_bytes for partition in self._partitions.values())

    def _evict(self) -> None:
        size = self._size_bytes()
        while size > self.max_bytes and self._partitions:
            _, evicted = self._partitions.popitem(last=False)
            size -= evicted.size_bytes

    def advance(self, namespace: str, generation: int, after: int, end: int, batch: IndexBatch) -> None:
        """Apply newly indexed entries to the cached partitions. One that missed earlier entries is dropped."""
        with self._lock:
            cached = [item for item in self._partitions.items() if item[0][:2] == (namespace, generation)]
        dropped = [
            key
            for key, partition in cached
            if not partition.advance(after, end, batch.in_partitions([key.partition])) or partition.is_mostly_dead
        ]
        with self._lock:
            for key in dropped:
                self._partitions.pop(key, None)
            self._evict()

    def discard(self, key: PartitionKey) -> None:
        with self._lock:
            self._partitions.pop(key, None)

    def drop(self, namespace: str, generation: int) -> None:
        """Drop all partitions and the log tail of a generation."""
        with self._lock:
            self._tails.pop((namespace, generation), None)
            for key in [key for key in self._partitions if key[:2] == (namespace, generation)]:
                del self._partitions[key]

    def tail(self, namespace: str, generation: int) -> LogTail:
        with self._lock:
            return self._tails.setdefault((namespace, generation), LogTail())

    def drop_tails(self, namespace: str) -> None:
        """Drop the namespace's log tails, so that no erased text stays in memory."""
        with self._lock:
            for key in [key for key in self._tails if key[0] == namespace]:
                del self._tails[key]
