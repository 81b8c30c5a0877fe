"""Statistics that parts of the sidecar keep about themselves: numbers in RAM, read at each scrape of the metrics.

They know no metrics library: the package `metrics` reads them. To observe a value costs less than a microsecond.
"""

import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import accumulate
from threading import Lock

CALL_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0)
"Bounds of durations that a caller waits for."
MODEL_SECONDS = (0.01, 0.1, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
"Bounds of durations of work that may wait for a model."


@dataclass(frozen=True, slots=True)
class DistributionSnapshot:
    """The number of values up to each bound, and the number and the sum of all values."""

    bounds: Sequence[float]
    cumulative: Sequence[int]
    count: int
    sum: float


class Distribution:
    """Counts values by bucket. A bucket includes its upper bound. Thread-safe."""

    __slots__ = ("_bounds", "_counts", "_lock", "_sum")

    def __init__(self, bounds: Sequence[float]) -> None:
        self._bounds = tuple(bounds)
        self._counts = [0] * (len(self._bounds) + 1)
        self._sum = 0.0
        self._lock = Lock()

    def observe(self, value: float) -> None:
        with self._lock:
            self._counts[bisect_left(self._bounds, value)] += 1
            self._sum += value

    def snapshot(self) -> DistributionSnapshot:
        with self._lock:
            counts, total = list(self._counts), self._sum
        *cumulative, count = accumulate(counts)
        return DistributionSnapshot(self._bounds, cumulative, count, total)


class Tally:
    """Counts occurrences by a key of few values. Thread-safe."""

    __slots__ = ("_counts", "_lock")

    def __init__(self, *keys: str) -> None:
        """`keys` are those that are known before they occur: they begin at 0."""
        self._counts = Counter(dict.fromkeys(keys, 0))
        self._lock = Lock()

    def add(self, key: str, count: int = 1) -> None:
        with self._lock:
            self._counts[key] += count

    def snapshot(self) -> Mapping[str, int]:
        with self._lock:
            return dict(self._counts)


class OperationStatistics:
    """Durations of an operation, and how many of its runs failed. Thread-safe."""

    __slots__ = ("_failures", "_lock", "seconds")

    def __init__(self, bounds: Sequence[float] = CALL_SECONDS) -> None:
        self.seconds = Distribution(bounds)
        self._failures = 0
        self._lock = Lock()

    @property
    def failures(self) -> int:
        return self._failures

    @contextmanager
    def measured(self) -> Iterator[None]:
        """Observe one run of the operation. An exception counts as a failure."""
        start, is_done = time.perf_counter(), False
        try:
            yield
            is_done = True
        finally:
            self.seconds.observe(time.perf_counter() - start)
            if not is_done:
                with self._lock:
                    self._failures += 1


class CacheStatistics:
    """Counts the reads that a cache answered, and those that it could not. Thread-safe."""

    __slots__ = ("_hits", "_lock", "_misses")

    def __init__(self) -> None:
        self._hits = self._misses = 0
        self._lock = Lock()

    @property
    def hits(self) -> int:
        return self._hits

    @property
    def misses(self) -> int:
        return self._misses

    def hit(self) -> None:
        with self._lock:
            self._hits += 1

    def miss(self) -> None:
        with self._lock:
            self._misses += 1
