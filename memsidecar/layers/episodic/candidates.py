"""Candidate retrieval for scopes that do not fit into memory.

The best rows by keyword and the nearest by vector are read from the table together with their neighbours, which the
ranking needs, and loaded into a temporary partition.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from memsidecar.layers.episodic.columns import CONTEXT_RADIUS
from memsidecar.layers.episodic.partition import Partition
from memsidecar.layers.episodic.query import AnalyzedQuery, Mode, SearchQuery, SearchScope
from memsidecar.layers.text_analysis import bigram_characters, index_terms, is_question, query_terms, stem
from memsidecar.stores.contract import Episodes, IndexBatch, Table, TableFilter

MIN_CANDIDATES = 200
_WIDEN_FACTOR, _MAX_WIDENINGS = 4, 3


def find_candidates(
    table: Table,
    analyzed: AnalyzedQuery,
    query: SearchQuery,
    scope: SearchScope,
    *,
    limit: int,
    tail: Sequence[IndexBatch],
) -> Partition:
    """Return a partition of the candidates and their neighbours: at least `limit` of each kind, if there are so many.

    `tail` has the log entries that are not in the table yet.
    """
    limit = max(limit, MIN_CANDIDATES) + _deleted_count(table, tail)
    found = _search(table, analyzed, query, scope, limit)
    for _ in range(_MAX_WIDENINGS):
        if scope.include_repeats or not _are_repeats(found, query):
            break
        limit *= _WIDEN_FACTOR
        found = _search(table, analyzed, query, scope, limit)
    unindexed = [batch.episodes for batch in tail if batch.episodes is not None]
    neighbours = table.at_positions(sorted(_neighbour_positions([*found, *unindexed])))
    stems = frozenset(map(stem, [*analyzed.words, *bigram_characters(analyzed.words)]))
    partition = Partition(table.generation.dimensions, stems)
    partition.load([_merged([*found, neighbours])])
    for batch in tail:
        partition.apply(batch)
    return partition


def _search(
    table: Table, analyzed: AnalyzedQuery, query: SearchQuery, scope: SearchScope, limit: int
) -> list[Episodes]:
    return [
        episodes
        for table_filter in _table_filters(scope)
        for episodes in _search_filtered(table, analyzed, query, table_filter, limit)
    ]


def _table_filters(scope: SearchScope) -> Iterable[TableFilter]:
    everywhere = TableFilter(
        session=scope.session,
        roles=sorted(scope.roles),
        after_us=scope.after_us,
        before_us=scope.before_us,
        chunks=scope.chunks,
    )
    if not scope.partitions:
        yield everywhere
    for partition in scope.partitions:
        yield replace(everywhere, partition=partition)


def _search_filtered(
    table: Table, analyzed: AnalyzedQuery, query: SearchQuery, table_filter: TableFilter, limit: int
) -> list[Episodes]:
    found = []
    if query.mode is not Mode.SEMANTIC and analyzed.words:
        inflections = query_terms(analyzed.content or analyzed.words)
        found.append(table.matching(inflections, table_filter, limit))
        # The terms as they were written, too, so that a rare one is found among many inflections of it.
        if set(analyzed.words) != set(inflections):
            found.append(table.matching(analyzed.words, table_filter, limit))
    if query.mode is not Mode.KEYWORD and analyzed.vector is not None:
        found.append(table.nearest(analyzed.vector, table_filter, limit))
    return found


def _are_repeats(found: Sequence[Episodes], query: SearchQuery) -> bool:
    """Return whether most rows are the question itself, asked before; then no answer may be among them."""
    same = index_terms(query.text)
    repeats = sum(words == same for episodes in found for words in episodes.terms)
    return is_question(query.text) and 2 * repeats > sum(map(len, found))


def _deleted_count(table: Table, tail: Sequence[IndexBatch]) -> int:
    """Count the table's rows that the tail deletes: they must not displace others."""
    deleted = {session for batch in tail for session in batch.deleted_sessions}
    erased = sum(len(batch.deleted_positions) for batch in tail)
    return erased + sum(table.count(TableFilter(session=session, chunks=session < 0)) for session in deleted)


def _neighbour_positions(found: Iterable[Episodes]) -> set[tuple[int, int]]:
    """Return (session, sequence) of the neighbours that are not among the episodes themselves."""
    present = {
        position
        for episodes in found
        for position in zip(episodes.session.tolist(), episodes.sequence.tolist(), strict=True)
    }
    steps = range(-CONTEXT_RADIUS, CONTEXT_RADIUS + 1)
    return {(session, sequence + step) for session, sequence in present for step in steps} - present


def _merged(found: Iterable[Episodes]) -> Episodes:
    """Return each episode once, ordered by session and sequence."""
    together = Episodes.concatenate(list(found))
    _, first = np.unique(np.stack([together.lsn, together.sequence]), axis=1, return_index=True)
    order = first[np.lexsort((together.sequence[first], together.session[first]))]
    return together.take(order)
