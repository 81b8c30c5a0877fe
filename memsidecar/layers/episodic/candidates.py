"""A scope that is too large for RAM: the index names candidates, and they are ranked like everything else.

The best by words and the nearest by meaning are united, and what stands around them is fetched, too, because it counts.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from memsidecar.layers.episodic.columns import REACH
from memsidecar.layers.episodic.partition import Shelf
from memsidecar.layers.episodic.query import Mode, Query, Question, Range
from memsidecar.layers.text_analysis import asked, characters_of, indexed, is_question, stem
from memsidecar.stores.contract import Episodes, Harvest, Table, Within

CANDIDATES = 200
_MORE, _TIMES_MORE = 4, 3


def candidates(
    table: Table, query: Query, question: Question, within: Range, *, limit: int, tail: Sequence[Harvest]
) -> Shelf:
    """A shelf of the candidates and what stands around them; at least `limit` of each kind, if there are so many.

    `tail` is what the table has not been told yet.
    """
    limit = max(limit, CANDIDATES) + _gone_count(table, tail)
    found = _found(table, query, question, within, limit)
    for _ in range(_TIMES_MORE):
        if within.repeats or not _are_repeats(found, question):
            break
        limit *= _MORE
        found = _found(table, query, question, within, limit)
    newest = [harvest.episodes for harvest in tail if harvest.episodes is not None]
    around = table.around(sorted(_beside([*found, *newest])))
    shelf = Shelf(table.generation.dimensions, frozenset(map(stem, [*query.words, *characters_of(query.words)])))
    shelf.load([_united([*found, around])])
    for harvest in tail:
        shelf.apply(harvest)
    return shelf


def _found(table: Table, query: Query, question: Question, within: Range, limit: int) -> list[Episodes]:
    return [some for place in _places(within) for some in _of(table, query, question, place, limit)]


def _are_repeats(found: Sequence[Episodes], question: Question) -> bool:
    """Whether most of it is the question itself, asked before: then what answers it has not come up yet."""
    same = indexed(question.text)
    repeats = sum(words == same for some in found for words in some.words)
    return is_question(question.text) and 2 * repeats > sum(map(len, found))


def _places(within: Range) -> Iterable[Within]:
    everywhere = Within(
        session=within.session,
        roles=sorted(within.roles),
        after_us=within.after_us,
        before_us=within.before_us,
        chunks=within.chunks,
    )
    if not within.shelves:
        yield everywhere
    for shelf in within.shelves:
        yield replace(everywhere, shelf=shelf)


def _of(table: Table, query: Query, question: Question, place: Within, limit: int) -> list[Episodes]:
    found = []
    if question.mode is not Mode.SEMANTIC and query.words:
        inflected = asked(query.content or query.words)
        found.append(table.matching(inflected, place, limit))
        # The words as they were written apart, so that a rare one is found among many inflections of it, too.
        if set(query.words) != set(inflected):
            found.append(table.matching(query.words, place, limit))
    if question.mode is not Mode.KEYWORD and query.vector is not None:
        found.append(table.nearest(query.vector, place, limit))
    return found


def _gone_count(table: Table, tail: Sequence[Harvest]) -> int:
    """How many rows the table still names that are gone: they must not take the place of others."""
    gone = {session for harvest in tail for session in harvest.gone_sessions}
    return sum(table.count(Within(session=session, chunks=session < 0)) for session in gone)


def _beside(found: Iterable[Episodes]) -> set[tuple[int, int]]:
    """Where the neighbours stand that are not among them."""
    here = {place for some in found for place in zip(some.session.tolist(), some.sequence.tolist(), strict=True)}
    around = {(session, at + step) for session, at in here for step in range(-REACH, REACH + 1)}
    return around - here


def _united(found: Iterable[Episodes]) -> Episodes:
    """Each once, and each session in its order, so that neighbours find each other."""
    together = Episodes.together(list(found))
    _, first = np.unique(np.stack([together.lsn, together.sequence]), axis=1, return_index=True)
    order = first[np.lexsort((together.sequence[first], together.session[first]))]
    return together.chosen(order)
