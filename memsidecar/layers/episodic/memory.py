"""EpisodicMemory lifecycle; offline rebuild."""

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
from memsidecar.layers.episodic.indexer import Indexer
from memsidecar.layers.episodic.partition_cache import PartitionCache
from memsidecar.layers.episodic.query import SearchQuery, SearchScope
from memsidecar.layers.episodic.ranking import Weights
from memsidecar.layers.episodic.search import Searcher
from memsidecar.stores.contract import Index, Journal

log = logging.getLogger(__name__)

MOST_RELEVANT = 1_000
INDEXING_THROTTLE = ThrottleConfig(max_sleep_ratio=29.0, min_sleep_ratio=0.0, speedup_after_seconds=8.0)
"Search reads what is not indexed yet by itself, and each of those messages makes it a little slower."

CHAPTER = 1_000


@dataclass(frozen=True, slots=True)
class EpisodicLimits:
    """What the settings say about episodic memory; units are in the names."""

    memory_bytes: int = 128 << 20
    linger_seconds: float = 0.25
    weights: Weights = field(default_factory=Weights)


class EpisodicMemory:
    """`recall` can be asked at any time; before `open` it answers from the journal and says that the index is away."""

    def __init__(
        self,
        journal: Journal,
        embedders: Embedders,
        limits: EpisodicLimits,
        is_busy: Callable[[], bool] = lambda: False,
    ) -> None:
        """`is_busy` tells whether somebody waits for an answer: then the index is kept up with more slowly."""
        self.limits = limits
        self.embedders = embedders
        self._journal = journal
        self._last_lsn = journal.stats().last_lsn
        self._is_busy = is_busy
        self._commits = CommitSignal(journal)
        self._partitions = PartitionCache(limits.memory_bytes)
        self._searcher = Searcher(journal, embedders, self._partitions, self._commits)
        self.hits = HitLoader(journal, self._searcher)
        self._runner: Runner | None = None
        self._indexing: Indexer | None = None
        self._index: Index | None = None
        self._lock = threading.Lock()
        self._closed = False

    @property
    def ready(self) -> bool:
        return self._searcher.generations is not None

    def open(self, open_index: Callable[[], Index]) -> None:
        """Takes a while; what was added meanwhile is indexed then."""
        self.embedders.default.warm()
        with ExitStack() as opened:
            index = open_index()
            opened.callback(index.close)
            places = GenerationManager(self._journal, index, self.embedders, self._last_lsn)
            courtesy = BackgroundThrottle(self._is_busy, INDEXING_THROTTLE)
            indexing = Indexer(self._journal, places, self._partitions, self._commits, courtesy.yield_cpu)
            runner = Runner(self._journal, self._commits, courtesy, [indexing], self.limits.linger_seconds)
            with self._lock:
                if self._closed:
                    return
                runner.start()
                self._index, self._runner, self._searcher.generations = index, runner, places
                self._indexing = indexing
            opened.pop_all()
        log.info("retrieval is ready")

    def relevance(self, head: SessionHead, text: str) -> Mapping[int, float]:
        """How much the messages of a session have to do with a text: 0 to 1 by sequence."""
        question = SearchQuery(text, weights=self.limits.weights)
        found = self._searcher(question, SearchScope.of_session(head), MOST_RELEVANT, 0.0)
        return {pointer.sequence: pointer.score for pointer in found.hits}

    def reached(self, namespace: str) -> int | None:
        """Up to which entry everything is indexed; None where that is not known yet."""
        return self._indexing.reached(namespace) if self._indexing else None

    def lags(self) -> list[Lag]:
        return self._runner.lags() if self._runner else []

    def close(self) -> None:
        with self._lock:
            self._closed = True
        if self._runner is not None:
            self._runner.stop()
        if self._index is not None:
            self._index.close()


@dataclass
class IndexRebuild:
    """For a journal that nobody else writes to."""

    journal: Journal
    index: Index
    embedders: Embedders

    def __post_init__(self) -> None:
        self._places = GenerationManager(self.journal, self.index, self.embedders, self.journal.stats().last_lsn)
        self._indexing = Indexer(self.journal, self._places, PartitionCache(0), CommitSignal(self.journal))

    def total(self) -> int:
        """How much there is to go through, in the unit of the progress."""
        return sum(self.journal.last_lsns().values())

    def __call__(self, progress: Callable[[int], object]) -> None:
        """Raises NotNow when the embedder or the index is away; the old index stays then, what was built goes."""
        for namespace, tail in self.journal.last_lsns().items():
            self._build(self._places.get(namespace), tail, progress)

    def _build(self, place: NamespaceIndex, tail: int, progress: Callable[[int], object]) -> None:
        self._places.rebuild(place)
        position = 0
        while chapter := self.journal.read_changes(place.namespace, position, CHAPTER):
            self._indexing.process(place.namespace, chapter)
            progress(chapter[-1].lsn - position)
            position = chapter[-1].lsn
        progress(tail - position)
        if place.rising is not None:
            self._places.take_over(place)
        while self._indexing.maintain(idle=True):
            pass
