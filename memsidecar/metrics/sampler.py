"""Sampler of points that take time to read, so that no scrape waits for the index, the journal or the disk."""

import logging
import threading
import time
from collections.abc import Iterator, Mapping, Sequence

from memsidecar.domain.errors import SidecarError
from memsidecar.metrics.definitions import SAMPLED, Point
from memsidecar.metrics.exposition import PointSource

log = logging.getLogger(__name__)

INTERVAL_SECONDS = 10.0
STOP_SECONDS = 5.0
"A read that takes longer ends with the process."


class Sampler:
    """Reads its sources again and again on a thread of its own. A source that fails keeps its last points."""

    def __init__(self, sources: Mapping[str, PointSource], interval_seconds: float = INTERVAL_SECONDS) -> None:
        """`sources` by a name for the log."""
        self._sources = sources
        self._interval_seconds = interval_seconds
        self._latest: dict[str, Sequence[Point]] = {}
        self._sampled_at = 0.0
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="sampler", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Stop after the source that is being read. Call it before the journal and the index are closed."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join(STOP_SECONDS)

    def points(self) -> Iterator[Point]:
        """Yield the points of the last sample; before the first one none but its time, 0."""
        for points in list(self._latest.values()):
            yield from points
        yield SAMPLED.point(self._sampled_at)

    def sample(self) -> None:
        """Read all sources once. The time of the sample stays as it was if one of them failed."""
        is_complete = True
        for name, read in self._sources.items():
            if self._stopping.is_set():
                return
            try:
                self._latest[name] = list(read())
            except (SidecarError, OSError) as error:
                is_complete = False
                log.warning("%s cannot be sampled for the metrics: %s", name, error)
        if is_complete:
            self._sampled_at = time.time()

    def _run(self) -> None:
        while not self._stopping.is_set():
            self.sample()
            self._stopping.wait(self._interval_seconds)
