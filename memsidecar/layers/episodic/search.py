"""Search: rank partitions in memory, candidates of the table, or the journal, each with the unindexed log applied."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from memsidecar import spans
from memsidecar.embedding.contract import Embedder, EmbedderMismatch, Embedders, EmbedderUnavailable
from memsidecar.layers.background import CommitSignal
from memsidecar.layers.episodic import log_tail
from memsidecar.layers.episodic.candidates import find_candidates
from memsidecar.layers.episodic.generations import GenerationManager, NamespaceIndex, OpenGeneration
from memsidecar.layers.episodic.index_batch import unit
from memsidecar.layers.episodic.log_tail import LogReader, LogSource, journal_fallback
from memsidecar.layers.episodic.partition import Partition
from memsidecar.layers.episodic.partition_cache import PartitionCache, PartitionKey, PartitionTooLarge
from memsidecar.layers.episodic.query import (
    AnalyzedQuery,
    Degradation,
    Mode,
    RankedHits,
    SearchQuery,
    SearchScope,
    analyze_query,
    remove_names,
)
from memsidecar.layers.episodic.ranking import Ranking, scope_mask, user_rows
from memsidecar.stores.contract import Episodes, IndexBatch, IndexUnavailable, LogFilter, TableFilter

BYTES_PER_ROW_WITHOUT_VECTOR = 350
"Estimate of a row's memory without its vector, which has one byte for each dimension."
MAX_RARE_ROWS = 32
"A term of more rows names nothing in particular."


class _Sources(NamedTuple):
    """Input of the ranking: partitions, the analyzed query, and the last log entry that is in the partitions."""

    partitions: Sequence[Partition]
    query: AnalyzedQuery
    last_lsn: int
    degraded: frozenset[Degradation]
    approximate: bool = False


@dataclass
class Searcher:
    """`generations` is None until the index is open. Thread-safe."""

    log: LogReader
    embedders: Embedders
    partitions: PartitionCache
    commits: CommitSignal
    generations: GenerationManager | None = None

    def __call__(self, query: SearchQuery, scope: SearchScope, limit: int, min_score: float) -> RankedHits:
        """Return the best hits. Candidates are all returned, whatever the limit, because pages reuse them."""
        try:
            sources = self._from_index(query, scope, limit)
        except IndexUnavailable:
            sources = self._from_journal(query, scope)
        as_of = sources.last_lsn if scope.as_of is None else scope.as_of
        # Chunks have no pages, and a document that was replaced meanwhile has no older version to show.
        ranked_scope = scope if scope.chunks else replace(scope, as_of=as_of)
        with ExitStack() as locks:
            for partition in sources.partitions:
                locks.enter_context(partition.reading())
            if sources.approximate:
                limit = sum(partition.columns.count for partition in sources.partitions)
            # A scope without partitions is judged as a sample before it has a table, too: the same message must have
            # the same relevance before it is indexed and after.
            sampled = sources.approximate or not scope.partitions
            ranking = Ranking(sources.partitions, sources.query, query, ranked_scope, sampled=sampled)
            hits = ranking.best(limit, min_score)
        ignored = {Degradation.EMBEDDER} if query.mode is Mode.KEYWORD else set()
        return RankedHits(hits, sources.degraded - ignored, as_of, sources.approximate)

    def _from_index(self, query: SearchQuery, scope: SearchScope, limit: int) -> _Sources:
        if self.generations is None:
            raise IndexUnavailable("the index is not open yet")
        found = self.generations.get_existing(scope.namespace)
        if found is None:
            return self._from_log(query, scope)
        # A copy: a promotion may replace `live` at any moment, and one response must not mix two tables.
        index = replace(found)
        if self._fits(index, scope):
            with suppress(PartitionTooLarge):
                return self._from_partitions(index, query, scope)
        return self._from_candidates(index, query, scope, limit)

    def _fits(self, index: NamespaceIndex, scope: SearchScope) -> bool:
        """Return whether the scope's partitions are in memory, or are small enough to be loaded."""
        keys = [_key(index, partition) for partition in scope.partitions]
        if any(self.partitions.is_too_large(key) for key in keys):
            return False
        rows = sum(
            index.live.table.count(TableFilter(partition=key.partition, chunks=scope.chunks))
            for key in keys
            if self.partitions.get(key) is None
        )
        row_bytes = BYTES_PER_ROW_WITHOUT_VECTOR + index.live.table.generation.dimensions
        return bool(keys) and rows * row_bytes <= self.partitions.max_bytes

    def newest_with(
        self, any_of: Collection[str], scope: SearchScope, limit: int, rare_terms: Callable[[], Iterable[str]]
    ) -> list[int]:
        """Return the log entries of the newest user messages that have one of the terms `any_of`, at most `limit`.

        If there are more, those that also have one of the rare terms. Only partitions in memory are searched.
        """
        index = self.generations.get_existing(scope.namespace) if self.generations else None
        keys = [_key(index, partition_id) for partition_id in scope.partitions] if index else []
        found: list[int] = []
        for partition in filter(None, map(self.partitions.get, keys)):
            with partition.reading():
                rows = user_rows(partition, partition.postings.rows_of_any(any_of), scope)
                if len(rows) > limit:
                    rare = partition.postings.rows_of_any(rare_terms(), MAX_RARE_ROWS)
                    rows = np.intersect1d(rows, rare, assume_unique=True)
                found += partition.columns["lsn"][rows].tolist()
        return sorted(found)[-limit:]

    # -- partitions in memory

    def _from_partitions(self, index: NamespaceIndex, query: SearchQuery, scope: SearchScope) -> _Sources:
        partitions: list[Partition] = []
        degraded: set[Degradation] = set()
        last_lsn = 0
        for partition_id in scope.partitions:
            partition = self._load(index, partition_id, scope.chunks)
            degraded |= self._catch_up(partition, index, partition_id, scope.log_filter)
            partitions.append(partition)
            last_lsn = max(last_lsn, partition.position)
        return self._sources(partitions, query, scope, index.live.embedder, last_lsn=last_lsn, degraded=degraded)

    def _load(self, index: NamespaceIndex, partition_id: int, chunks: bool) -> Partition:
        """Return the partition from the cache or the table; read it again if its rows lack vectors needlessly."""
        key = _key(index, partition_id)
        while True:
            partition = self.partitions.get_or_load(key, lambda: self._read(index.live, partition_id, chunks))
            if not partition.missing_vectors or not self._is_available(index.live.embedder):
                return partition
            self.partitions.discard(key)

    def _read(self, live: OpenGeneration, partition_id: int, chunks: bool) -> Partition:
        """Read a partition from the table. The position is read first: rows written meanwhile are applied twice,
        which changes nothing.
        """
        partition = Partition(live.table.generation.dimensions)
        partition.position = live.position
        partition.reserve(live.table.count(TableFilter(partition=partition_id, chunks=chunks)))
        partition.load(self._while_it_fits(partition, live.table.read_partition(partition_id, chunks)))
        return partition

    def _while_it_fits(self, partition: Partition, parts: Iterator[Episodes]) -> Iterator[Episodes]:
        for part in parts:
            if partition.size_bytes > self.partitions.max_bytes:
                raise PartitionTooLarge
            yield part

    def _catch_up(
        self, partition: Partition, index: NamespaceIndex, partition_id: int, log_filter: LogFilter | None
    ) -> set[Degradation]:
        """Apply the unindexed log to the partition, at most MAX_TAIL_BATCHES batches."""
        degraded: set[Degradation] = set()
        for _ in range(log_tail.MAX_TAIL_BATCHES):
            commits, after = self.commits.current_count(index.namespace), partition.position
            if partition.seen_commits == commits:
                return degraded
            segment = self.log.read_segment(LogSource.of(index, log_filter), after, partition_id)
            if segment is None:
                partition.seen_commits = commits
                return degraded
            partition.advance(segment.after, segment.end, segment.batch)
            self.partitions.evict()
            degraded |= segment.degraded
            partition.missing_vectors = partition.missing_vectors or Degradation.EMBEDDER in segment.degraded
            if segment.is_last:
                partition.seen_commits = commits
                return degraded
        return degraded | {Degradation.STALE}

    # -- candidates of the table

    def _from_candidates(self, index: NamespaceIndex, query: SearchQuery, scope: SearchScope, limit: int) -> _Sources:
        live = index.live
        commits = self.commits.current_count(index.namespace)
        tail = self.partitions.tail(index.namespace, live.generation_number).after(
            live, commits, lambda after: self.log.read_segments(LogSource.of(index), after)
        )
        last_lsn = tail.segments[-1].end if tail.segments else live.position
        batches = [_in_scope(segment.batch, scope) for segment in tail.segments]
        analyzed, degraded = self._analyze((), query, scope, live.embedder)
        partition = find_candidates(live.table, analyzed, query, scope, limit=limit, tail=batches)
        degraded |= tail.degraded
        sources = self._sources([partition], query, scope, live.embedder, last_lsn=last_lsn, degraded=degraded)
        return sources._replace(approximate=True)

    # -- the journal, without an index

    def _from_log(self, query: SearchQuery, scope: SearchScope) -> _Sources:
        """Read the whole log of a namespace that is not indexed yet. A search creates no table."""
        embedder = self.embedders.default
        partition, last_lsn = Partition(embedder.dimensions), 0
        degraded: frozenset[Degradation] = frozenset()
        if self.commits.current_count(scope.namespace):
            source = LogSource(scope.namespace, embedder, embedder.dimensions, scope.log_filter)
            tail = self.log.read_segments(source, 0)
            for segment in tail.segments:
                partition.apply(_in_scope(segment.batch, scope))
                last_lsn = segment.end
            degraded = tail.degraded
        return self._sources([partition], query, scope, embedder, last_lsn=last_lsn, degraded=degraded)

    def _from_journal(self, query: SearchQuery, scope: SearchScope) -> _Sources:
        """Read the newest messages and documents, because the index is unavailable."""
        embedder = self.embedders.default
        entries = list(journal_fallback(self.log.journal, scope))
        batch, degraded = self.log.to_batch(entries, embedder, embedder.dimensions)
        partition, last_lsn = Partition(embedder.dimensions), max((entry.lsn for entry in entries), default=0)
        partition.apply(batch)
        degraded |= {Degradation.INDEX}
        return self._sources([partition], query, scope, embedder, last_lsn=last_lsn, degraded=degraded)

    # -- query analysis

    def _sources(
        self,
        partitions: Sequence[Partition],
        query: SearchQuery,
        scope: SearchScope,
        embedder: Embedder | None,
        *,
        last_lsn: int,
        degraded: frozenset[Degradation] | set[Degradation],
    ) -> _Sources:
        seen_scope = replace(scope, as_of=last_lsn) if scope.as_of is None else scope
        analyzed, missing = self._analyze(partitions, query, seen_scope, embedder)
        return _Sources(partitions, analyzed, last_lsn, frozenset(degraded | missing))

    def _analyze(
        self, partitions: Sequence[Partition], query: SearchQuery, scope: SearchScope, embedder: Embedder | None
    ) -> tuple[AnalyzedQuery, frozenset[Degradation]]:
        """Tokenize and embed the query. In keyword mode, names of speakers and dates are terms like any other."""
        has_names = query.mode is not Mode.KEYWORD
        speakers = [words for partition in partitions if has_names for words in _speakers(partition, scope)]
        analyzed = analyze_query(query, speakers, None)
        vector, is_missing = self._embed(query, analyzed, embedder)
        if embedder:
            analyzed = replace(analyzed, embedder=embedder.identity, unrelated_cosine=embedder.unrelated_cosine)
        return replace(analyzed, vector=vector), frozenset({Degradation.EMBEDDER} if is_missing else ())

    def _embed(
        self, query: SearchQuery, analyzed: AnalyzedQuery, embedder: Embedder | None
    ) -> tuple[NDArray[np.float32] | None, bool]:
        """Return the query's vector, and whether it is missing because the embedder could not make it."""
        if query.mode is Mode.KEYWORD:
            return None, False
        if query.vector is not None and embedder and len(query.vector) == embedder.dimensions:
            return unit(query.vector), False
        if embedder is None or query.vector is not None:
            return None, True
        try:
            with spans.step("embed"):
                (vector,) = self.embedders.for_queries(embedder).embed([remove_names(query.text, analyzed.names)])
        except (EmbedderUnavailable, EmbedderMismatch):
            return None, True
        if vector.any():
            return vector, False
        return None, bool(analyzed.words)

    def _is_available(self, embedder: Embedder | None) -> bool:
        try:
            return embedder is not None and len(self.embedders.interactive(embedder).embed(["ping"])) == 1
        except (EmbedderUnavailable, EmbedderMismatch):
            return False


def _speakers(partition: Partition, scope: SearchScope) -> list[frozenset[str]]:
    """Return the words of speakers in scope. Later speakers must not change the query between two pages."""
    if not any(partition.speaker_words):
        return []
    with partition.reading():
        counts = np.bincount(partition.columns["speaker"][scope_mask(partition, scope)])
        return [partition.speaker_words[speaker] for speaker in np.flatnonzero(counts)]


def _key(index: NamespaceIndex, partition_id: int) -> PartitionKey:
    return PartitionKey(index.namespace, index.live.generation_number, partition_id)


def _in_scope(batch: IndexBatch, scope: SearchScope) -> IndexBatch:
    """Return the part of the batch that is in the scope's partitions; without partitions, messages or chunks."""
    return batch.in_partitions(scope.partitions) if scope.partitions else batch.of_kind(scope.chunks)
