"""EpisodicMemory: lifecycle of search and indexing; offline rebuild of the index."""

import logging
import threading
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field

from memsidecar.domain.session import SessionHead
from memsidecar.embedding.contract import Embedders
from memsidecar.layers.background import BackgroundThrottle, CommitSignal, Lag, Runner, ThrottleConfig
from memsidecar.layers.episodic.generations import GenerationManager, NamespaceIndex
from memsidecar.layers.episodic.hits import HitLoader
from memsidecar.layers.episodic.indexer import TASK, Indexer
from memsidecar.layers.episodic.log_tail import LogReader
from memsidecar.layers.episodic.partition_cache import PartitionCache
from memsidecar.layers.episodic.query import SearchQuery, SearchScope, Weights
from memsidecar.layers.episodic.search import Searcher
from memsidecar.layers.text_analysis import stop_word_languages
from memsidecar.stores.contract import Index, Journal, Table

log = logging.getLogger(__name__)

MAX_RELEVANT_MESSAGES = 1_000
# Indexing speeds up early: a search reads all entries that are not indexed yet, and each of them makes it slower.
INDEXING_THROTTLE = ThrottleConfig(max_sleep_ratio=29.0, min_sleep_ratio=0.0, speedup_after_seconds=8.0)
REBUILD_BATCH_ENTRIES = 1_000


@dataclass(frozen=True, slots=True)
class EpisodicLimits:
    """Settings of episodic memory."""

    memory_bytes: int = 128 << 20
    linger_seconds: float = 0.25
    weights: Weights = field(default_factory=Weights)


class EpisodicMemory:
    """Search works at any time. Before `open` has finished it reads the journal and reports a missing index."""

    def __init__(
        self,
        journal: Journal,
        embedders: Embedders,
        limits: EpisodicLimits,
        is_busy: Callable[[], bool] = lambda: False,
        *,
        index_id: str = "",
    ) -> None:
        """`is_busy` returns whether RPCs are waiting for a response; then indexing is throttled.

        `index_id` names the index of this process among those that follow a shared journal.
        """
        self.limits = limits
        self.embedders = embedders
        self._journal = journal
        self._lsns_at_start = dict(journal.last_lsns())
        self._is_busy = is_busy
        self._index_id = index_id
        self._commits = CommitSignal(journal)
        self._partitions = PartitionCache(limits.memory_bytes)
        self._searcher = Searcher(LogReader(journal, embedders), embedders, self._partitions, self._commits)
        self.hits = HitLoader(journal, self._searcher)
        self._runner: Runner | None = None
        self._indexer: Indexer | None = None
        self._index: Index | None = None
        self._lock = threading.Lock()
        self._closed = False

    @property
    def ready(self) -> bool:
        return self._searcher.generations is not None

    def open(self, open_index: Callable[[], Index]) -> None:
        """Open the index and start to index. Takes seconds; entries added meanwhile are indexed afterwards."""
        self.embedders.default.warm()
        stop_word_languages()  # else the first query would load them
        with ExitStack() as opened:
            index = open_index()
            opened.callback(index.close)
            generations = GenerationManager(
                self._journal, index, self.embedders, self._lsns_at_start, index_id=self._index_id
            )
            throttle = BackgroundThrottle(self._is_busy, INDEXING_THROTTLE)
            indexer = Indexer(self._journal, generations, self._partitions, self._commits, throttle.yield_cpu)
            runner = Runner(self._journal, self._commits, throttle, [indexer], self.limits.linger_seconds)
            with self._lock:
                if self._closed:
                    return
                runner.start()
                self._index, self._runner, self._indexer = index, runner, indexer
                self._searcher.generations = generations
            opened.pop_all()
        log.info("retrieval is ready")

    def relevance(self, head: SessionHead, text: str) -> Mapping[int, float]:
        """Return the scores, 0 to 1, of a session's messages for a text, by sequence."""
        query = SearchQuery(text, weights=self.limits.weights)
        found = self._searcher(query, SearchScope.of_session(head), MAX_RELEVANT_MESSAGES, 0.0)
        return {hit.sequence: hit.score for hit in found.hits}

    def completed_lsn(self, namespace: str) -> int | None:
        """Return the last log entry that is indexed; None if that is not known yet."""
        return self._indexer.completed_lsn(namespace) if self._indexer else None

    @property
    def partitions(self) -> PartitionCache:
        return self._partitions

    @property
    def index(self) -> Index | None:
        """The index; None until it is open."""
        return self._index

    def tables(self) -> dict[tuple[str, int], Table]:
        """Return the open tables by namespace and generation."""
        generations = self._searcher.generations
        return {
            (index.namespace, generation.generation_number): generation.table
            for index in (generations.all() if generations else ())
            for generation in index.open_generations
        }

    def lags(self) -> list[Lag]:
        return self._runner.lags() if self._runner else []

    def failures(self) -> Mapping[str, int]:
        """Return how many attempts to index failed, by the name of the task."""
        return self._runner.failures() if self._runner else {TASK: 0}

    def close(self) -> None:
        with self._lock:
            self._closed = True
        if self._runner is not None:
            self._runner.stop()
        if self._index is not None:
            self._index.close()


@dataclass
class IndexRebuild:
    """Offline rebuild of all tables, for a journal without another writer."""

    journal: Journal
    index: Index
    embedders: Embedders
    index_id: str = ""

    def __post_init__(self) -> None:
        lsns = self.journal.last_lsns()
        self._generations = GenerationManager(self.journal, self.index, self.embedders, lsns, index_id=self.index_id)
        self._indexer = Indexer(self.journal, self._generations, PartitionCache(0), CommitSignal(self.journal))

    def total(self) -> int:
        """Return the number of log entries to read, the sum of all progress reports."""
        return sum(self.journal.last_lsns().values())

    def __call__(self, progress: Callable[[int], object]) -> None:
        """Rebuild. Raises RetryLater, with the live tables unchanged, if the embedder or the index is unavailable."""
        for namespace, last_lsn in self.journal.last_lsns().items():
            self._build(self._generations.get(namespace), last_lsn, progress)

    def _build(self, index: NamespaceIndex, last_lsn: int, progress: Callable[[int], object]) -> None:
        self._generations.rebuild(index)
        position = 0
        while entries := self.journal.read_changes(index.namespace, position, REBUILD_BATCH_ENTRIES):
            self._indexer.process(index.namespace, entries)
            progress(entries[-1].lsn - position)
            position = entries[-1].lsn
        progress(last_lsn - position)
        if index.building is not None:
            self._generations.promote(index)
        while self._indexer.maintain(idle=True):
            pass
