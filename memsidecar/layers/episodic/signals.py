"""What speaks for each episode of a shelf, before anything is weighed: words, meaning, neighbours, speaker."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memsidecar.layers.episodic.columns import NO_ROW, context_sums, diffuse, diffuse_sparse, neighbours
from memsidecar.layers.episodic.partition import Partition
from memsidecar.layers.episodic.query import AnalyzedQuery
from memsidecar.layers.text_analysis import stem

Floats = NDArray[np.float32]
Mask = NDArray[np.bool_]
Rows = NDArray[np.int64]

# BM25: how soon a repeated word stops counting, and how much a long text is held against its words. Both lower than in
# text books, because messages are short: measured in docs/retrieval.md.
_SATURATION, _LENGTH_SHARE = np.float32(0.9), np.float32(0.4)
_FEW = 16
"A word in less than one of so many rows is spread row by row; others are, with all rows at once."


@dataclass(frozen=True, slots=True)
class Signals:
    """One figure a row, none below 0: how well the row itself matches, the row with its neighbours, and so on.

    `answers` is how well the question matches that the row stands right behind. `exact` tells the rows that have every
    word of the query as it was written.
    """

    keyword: Floats
    keyword_context: Floats
    semantic: Floats
    semantic_context: Floats
    answers: Floats
    speaker: Floats
    exact: Mask

    @classmethod
    def together(cls, parts: "Sequence[Signals]") -> "Signals":
        """Those of several shelves as one."""
        if len(parts) == 1:
            return parts[0]
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in cls.__slots__))


@dataclass(frozen=True, slots=True)
class Occurrences:
    """One word of the query in one shelf: the rows that have it in any inflection, and how often."""

    rows: Rows
    counts: Floats


@dataclass(frozen=True, slots=True)
class Surroundings:
    """A shelf, which of its rows are in scope, where the words of the query stand in it, and the lengths and norms of
    rows together with their neighbours."""

    shelf: Partition
    scope: Mask
    words: Sequence[Occurrences]
    lengths: Floats
    norms: Floats


@dataclass(frozen=True, slots=True)
class Corpus:
    """What is counted over all shelves that are ranked together, so that there is one measure for all of them."""

    mean_length: np.float32
    mean_length_around: np.float32
    rarities: Sequence[np.float32]

    @classmethod
    def of(cls, parts: Sequence[Surroundings]) -> "Corpus":
        texts = sum(int(part.scope.sum()) for part in parts)
        length = sum(float(part.shelf.columns["length"] @ part.scope) for part in parts)
        around = sum(float(part.lengths @ part.scope) for part in parts)
        found = [sum(len(word.rows) for word in each) for each in zip(*(part.words for part in parts), strict=True)]
        rarities = [np.float32(math.log(1 + (texts - some + 0.5) / (some + 0.5))) for some in found]
        return cls(np.float32(length / max(texts, 1) or 1), np.float32(around / max(texts, 1) or 1), rarities)


def surroundings(shelf: Partition, query: AnalyzedQuery, scope: Mask) -> Surroundings:
    words = [_occurrences(shelf, word, scope) for word in distinct(query)]
    return Surroundings(shelf, scope, words, *_around(shelf, scope))


def distinct(query: AnalyzedQuery) -> list[str]:
    """One word of each stem: the others would count the same texts again."""
    return list({stem(word): word for word in query.content}.values())


def _occurrences(shelf: Partition, word: str, scope: Mask) -> Occurrences:
    rows, counts = shelf.postings.occurrences(word)
    seen = scope[rows]
    return Occurrences(rows, counts) if seen.all() else Occurrences(rows[seen], counts[seen])


def _around(shelf: Partition, scope: Mask) -> tuple[Floats, Floats]:
    """Lengths and norms of the rows with their neighbours. Who is out of scope is nobody's neighbour."""
    columns = shelf.columns
    lengths, norms = columns["length_around"], columns["norm_around"]
    hidden = np.flatnonzero(columns["alive"] > scope)
    if not len(hidden):
        return lengths, norms
    beside = neighbours(columns, hidden)
    affected = beside[scope[beside]]
    if len(affected):
        lengths, norms = lengths.copy(), norms.copy()
        lengths[affected] = context_sums(columns, affected, lambda rows: columns["length"][rows] * scope[rows])
        sums = context_sums(columns, affected, lambda rows: shelf.vectors.rows(rows) * scope[rows, None])
        norms[affected] = np.linalg.norm(sums, axis=1)
    return lengths, norms


def signals(part: Surroundings, query: AnalyzedQuery, corpus: Corpus) -> Signals:
    keyword, keyword_around = _keyword(part, corpus)
    semantic, semantic_around = _semantic(part, query)
    return Signals(
        keyword=keyword,
        keyword_context=keyword_around,
        semantic=semantic,
        semantic_context=semantic_around,
        answers=_answers(part.shelf, keyword),
        speaker=_named(part.shelf, query),
        exact=_exact(part.shelf, query),
    )


def _keyword(part: Surroundings, corpus: Corpus) -> tuple[Floats, Floats]:
    columns = part.shelf.columns
    itself, around, scratch = np.zeros((3, columns.count), np.float32)
    for word, rarity in zip(part.words, corpus.rarities, strict=True):
        lengths = np.divide(columns["length"][word.rows], corpus.mean_length, dtype=np.float32)
        itself[word.rows] += _bm25(word.counts, lengths, rarity)
        if len(word.rows) * _FEW < columns.count:
            rows, counts = diffuse_sparse(columns, word.rows, word.counts, scratch)
            lengths = np.divide(part.lengths[rows], corpus.mean_length_around, dtype=np.float32)
            around[rows] = around[rows] + _bm25(counts, lengths, rarity)  # not +=: some rows stand there repeatedly
        else:
            counts = np.zeros(columns.count, np.float32)
            counts[word.rows] = word.counts
            lengths = np.divide(part.lengths, corpus.mean_length_around, dtype=np.float32)
            around += _bm25(diffuse(columns, counts), lengths, rarity)
    return itself, around


def _bm25(counts: Floats, relative_lengths: Floats, rarity: np.float32) -> Floats:
    divisor = relative_lengths * (_SATURATION * _LENGTH_SHARE)
    divisor += _SATURATION * (1 - _LENGTH_SHARE)
    divisor += counts
    np.divide(rarity * (_SATURATION + 1) * counts, divisor, out=divisor)
    return divisor


def _semantic(part: Surroundings, query: AnalyzedQuery) -> tuple[Floats, Floats]:
    """The cosine with the row, and with the sum of it and its neighbours: products add up, so one pass is enough."""
    shelf = part.shelf
    if query.vector is None:
        nothing = np.zeros(shelf.columns.count, np.float32)
        return nothing, nothing
    products = shelf.vectors.dots(query.vector)
    products *= part.scope
    around = diffuse(shelf.columns, products)
    around /= np.maximum(part.norms, np.float32(1e-6))
    return np.clip(products, 0, 1, out=products), np.clip(around, 0, 1, out=around)


def _answers(shelf: Partition, keyword: Floats) -> Floats:
    columns = shelf.columns
    questions = np.flatnonzero(columns["asks"] & (keyword > 0) & (columns["after"] != NO_ROW))
    answers = np.zeros(columns.count, np.float32)
    answers[columns["after"][questions]] = keyword[questions]
    return answers


def _named(shelf: Partition, query: AnalyzedQuery) -> Floats:
    """1 where the query names who spoke."""
    if not query.names:
        return np.zeros(shelf.columns.count, np.float32)
    named = np.array([bool(query.names & words) for words in shelf.speaker_words], np.float32)
    spoken: Floats = named[shelf.columns["speaker"]]
    return spoken


def _exact(shelf: Partition, query: AnalyzedQuery) -> Mask:
    exact = np.zeros(shelf.columns.count, np.bool_)
    rows = shelf.postings.rows_of(query.words[0]) if query.words else np.empty(0, np.int64)
    for word in query.words[1:]:
        if not len(rows):
            break
        rows = np.intersect1d(rows, shelf.postings.rows_of(word), assume_unique=True)
    exact[rows] = True
    return exact
