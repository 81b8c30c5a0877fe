"""A scope that is too large for RAM: the index names candidates, and they are ranked like everything else.

The best by words and the nearest by meaning are united, and what stands around them is fetched, too, because it counts.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from memsidecar.layers.episodic.columns import REACH
from memsidecar.layers.episodic.partition import Partition
from memsidecar.layers.episodic.query import AnalyzedQuery, Mode, SearchQuery, SearchScope
from memsidecar.layers.text_analysis import bigram_characters, index_terms, is_question, query_terms, stem
from memsidecar.stores.contract import Episodes, IndexBatch, Table, TableFilter

MIN_CANDIDATES = 200
_MORE, _TIMES_MORE = 4, 3


def find_candidates(
    table: Table,
    query: AnalyzedQuery,
    question: SearchQuery,
    within: SearchScope,
    *,
    limit: int,
    tail: Sequence[IndexBatch],
) -> Partition:
    """A shelf of the candidates and what stands around them; at least `limit` of each kind, if there are so many.

    `tail` is what the table has not been told yet.
    """
    limit = max(limit, MIN_CANDIDATES) + _gone_count(table, tail)
    found = _found(table, query, question, within, limit)
    for _ in range(_TIMES_MORE):
        if within.include_repeats or not _are_repeats(found, question):
            break
        limit *= _MORE
        found = _found(table, query, question, within, limit)
    newest = [harvest.episodes for harvest in tail if harvest.episodes is not None]
    around = table.at_positions(sorted(_beside([*found, *newest])))
    shelf = Partition(
        table.generation.dimensions, frozenset(map(stem, [*query.words, *bigram_characters(query.words)]))
    )
    shelf.load([_united([*found, around])])
    for harvest in tail:
        shelf.apply(harvest)
    return shelf


def _found(
    table: Table, query: AnalyzedQuery, question: SearchQuery, within: SearchScope, limit: int
) -> list[Episodes]:
    return [some for place in _places(within) for some in _of(table, query, question, place, limit)]


def _are_repeats(found: Sequence[Episodes], question: SearchQuery) -> bool:
    """Whether most of it is the question itself, asked before: then what answers it has not come up yet."""
    same = index_terms(question.text)
    repeats = sum(words == same for some in found for words in some.terms)
    return is_question(question.text) and 2 * repeats > sum(map(len, found))


def _places(within: SearchScope) -> Iterable[TableFilter]:
    everywhere = TableFilter(
        session=within.session,
        roles=sorted(within.roles),
        after_us=within.after_us,
        before_us=within.before_us,
        chunks=within.chunks,
    )
    if not within.shelves:
        yield everywhere
    for shelf in within.shelves:
        yield replace(everywhere, partition=shelf)


def _of(table: Table, query: AnalyzedQuery, question: SearchQuery, place: TableFilter, limit: int) -> list[Episodes]:
    found = []
    if question.mode is not Mode.SEMANTIC and query.words:
        inflected = query_terms(query.content or query.words)
        found.append(table.matching(inflected, place, limit))
        # The words as they were written apart, so that a rare one is found among many inflections of it, too.
        if set(query.words) != set(inflected):
            found.append(table.matching(query.words, place, limit))
    if question.mode is not Mode.KEYWORD and query.vector is not None:
        found.append(table.nearest(query.vector, place, limit))
    return found


def _gone_count(table: Table, tail: Sequence[IndexBatch]) -> int:
    """How many rows the table still names that are gone: they must not take the place of others."""
    gone = {session for harvest in tail for session in harvest.deleted_sessions}
    return sum(table.count(TableFilter(session=session, chunks=session < 0)) for session in gone)


def _beside(found: Iterable[Episodes]) -> set[tuple[int, int]]:
    """Where the neighbours stand that are not among them."""
    here = {place for some in found for place in zip(some.session.tolist(), some.sequence.tolist(), strict=True)}
    around = {(session, at + step) for session, at in here for step in range(-REACH, REACH + 1)}
    return around - here


def _united(found: Iterable[Episodes]) -> Episodes:
    """Each once, and each session in its order, so that neighbours find each other."""
    together = Episodes.concatenate(list(found))
    _, first = np.unique(np.stack([together.lsn, together.sequence]), axis=1, return_index=True)
    order = first[np.lexsort((together.sequence[first], together.session[first]))]
    return together.take(order)
