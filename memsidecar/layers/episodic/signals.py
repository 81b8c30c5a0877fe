"""Ranking signals of the rows of a partition, one array each: BM25, cosine, neighbours, speaker."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

from memsidecar.layers.episodic.columns import Rows, context_sums, diffuse, diffuse_sparse, neighbours
from memsidecar.layers.episodic.partition import Partition
from memsidecar.layers.episodic.quantized_vectors import Floats
from memsidecar.layers.episodic.query import AnalyzedQuery, NamedDate
from memsidecar.layers.text_analysis import stem

Mask = NDArray[np.bool_]

# BM25's k1 (saturation of the term frequency) and b (length normalization). Both are lower than in text books, because
# messages are short: measured in docs/retrieval.md.
BM25_K1, BM25_B = np.float32(0.9), np.float32(0.4)
CONTEXT_SIGNALS = ("keyword_context", "semantic_context")
SCALED_SIGNALS = (*CONTEXT_SIGNALS, "semantic", "speaker")
"Signals of a hybrid ranking that are divided by their maximum in the scope."
_DAY_US = 24 * 3600 * 1_000_000
_OTHER_TIME = np.float32(0.6)
"Factor of the signals of messages that are from another time than the query names: measured in docs/retrieval.md."
_DAYS_AFTER = 7
"Days after a date that count, as does the day before: people tell what happened last week, in any time zone."
_FIRST_DAY, _LAST_DAY = -25_567, 84_005
"The days since 1970 that the calendar has, from 1900 to 2199."
_SPARSE_SHARE = 16
"A term in less than one of so many rows is diffused row by row, any other over the whole array."


@dataclass(frozen=True, slots=True)
class Signals:
    """One value of at least 0 for each row and signal.

    `keyword` and `semantic` are of the row alone, `keyword_context` and `semantic_context` of the row with its
    neighbours. A hybrid ranking does not use `keyword`. `exact` marks rows that have every term of the query as it was
    written.
    """

    keyword: Floats
    keyword_context: Floats
    semantic: Floats
    semantic_context: Floats
    speaker: Floats
    exact: Mask

    @classmethod
    def together(cls, parts: "Sequence[Signals]") -> "Signals":
        """Concatenate the signals of several partitions."""
        if len(parts) == 1:
            return parts[0]
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in cls.__slots__))


@dataclass(frozen=True, slots=True)
class Occurrences:
    """Postings of one query term, in any inflection: the rows and the term frequencies."""

    rows: Rows
    counts: Floats


@dataclass(frozen=True, slots=True)
class TermStats:
    """Postings of the query terms in one partition, restricted to `scope`.

    `context_lengths` and `context_norms` are of the rows with those of their neighbours that are in scope.
    """

    partition: Partition
    scope: Mask
    terms: Sequence[Occurrences]
    context_lengths: Floats
    context_norms: Floats


@dataclass(frozen=True, slots=True)
class CorpusStats:
    """Statistics over all partitions that are ranked together, so that their scores are comparable."""

    mean_length: np.float32
    mean_context_length: np.float32
    idf: Sequence[np.float32]

    @classmethod
    def of(cls, parts: Sequence[TermStats]) -> "CorpusStats":
        rows = sum(int(part.scope.sum()) for part in parts)
        length = sum(float(part.partition.columns["length"] @ part.scope) for part in parts)
        context_length = sum(float(part.context_lengths @ part.scope) for part in parts)
        by_term = zip(*(part.terms for part in parts), strict=True)
        frequencies = [sum(len(term.rows) for term in each) for each in by_term]
        idf = [np.float32(math.log(1 + (rows - found + 0.5) / (found + 0.5))) for found in frequencies]
        return cls(np.float32(length / max(rows, 1) or 1), np.float32(context_length / max(rows, 1) or 1), idf)


def term_stats(partition: Partition, query: AnalyzedQuery, scope: Mask) -> TermStats:
    terms = [_occurrences(partition, term, scope) for term in distinct_stems(query)]
    return TermStats(partition, scope, terms, *_context(partition, scope))


def distinct_stems(query: AnalyzedQuery) -> list[str]:
    """Return one term of each stem: the others have the same postings."""
    return list({stem(term): term for term in query.content}.values())


def _occurrences(partition: Partition, term: str, scope: Mask) -> Occurrences:
    rows, counts = partition.postings.occurrences(term)
    in_scope = scope[rows]
    return Occurrences(rows, counts) if in_scope.all() else Occurrences(rows[in_scope], counts[in_scope])


def _context(partition: Partition, scope: Mask) -> tuple[Floats, Floats]:
    """Return lengths and norms of the rows with their neighbours, corrected for neighbours that are out of scope."""
    columns = partition.columns
    lengths, norms = columns["length_context"], columns["norm_context"]
    out_of_scope = np.flatnonzero(columns["alive"] > scope)
    if not len(out_of_scope):
        return lengths, norms
    beside = neighbours(columns, out_of_scope)
    affected = beside[scope[beside]]
    if len(affected):
        lengths, norms = lengths.copy(), norms.copy()
        lengths[affected] = context_sums(columns, affected, lambda rows: columns["length"][rows] * scope[rows])
        sums = context_sums(columns, affected, lambda rows: partition.vectors.rows(rows) * scope[rows, None])
        norms[affected] = np.linalg.norm(sums, axis=1)
    return lengths, norms


def compute_signals(stats: TermStats, query: AnalyzedQuery, corpus: CorpusStats) -> Signals:
    keyword, keyword_context = _keyword(stats, corpus)
    semantic, semantic_context = _semantic(stats, query)
    return Signals(
        keyword=keyword,
        keyword_context=keyword_context,
        semantic=semantic,
        semantic_context=semantic_context,
        speaker=_speaker(stats.partition, query),
        exact=_exact(stats.partition, query),
    )


def _keyword(stats: TermStats, corpus: CorpusStats) -> tuple[Floats, Floats]:
    columns = stats.partition.columns
    row_scores, context_scores, scratch = np.zeros((3, columns.count), np.float32)
    for term, idf in zip(stats.terms, corpus.idf, strict=True):
        lengths = np.divide(columns["length"][term.rows], corpus.mean_length, dtype=np.float32)
        row_scores[term.rows] += _bm25(term.counts, lengths, idf)
        if len(term.rows) * _SPARSE_SHARE < columns.count:
            rows, counts = diffuse_sparse(columns, term.rows, term.counts, scratch)
            lengths = np.divide(stats.context_lengths[rows], corpus.mean_context_length, dtype=np.float32)
            # Not +=: some rows are there repeatedly.
            context_scores[rows] = context_scores[rows] + _bm25(counts, lengths, idf)
        else:
            counts = np.zeros(columns.count, np.float32)
            counts[term.rows] = term.counts
            lengths = np.divide(stats.context_lengths, corpus.mean_context_length, dtype=np.float32)
            context_scores += _bm25(diffuse(columns, counts), lengths, idf)
    return row_scores, context_scores


def _bm25(counts: Floats, relative_lengths: Floats, idf: np.float32) -> Floats:
    divisor = relative_lengths * (BM25_K1 * BM25_B)
    divisor += BM25_K1 * (1 - BM25_B)
    divisor += counts
    np.divide(idf * (BM25_K1 + 1) * counts, divisor, out=divisor)
    return divisor


def _semantic(stats: TermStats, query: AnalyzedQuery) -> tuple[Floats, Floats]:
    """Return the cosine with the row, and with the sum of the row and its neighbours, from that of unrelated texts on.

    The dot product is linear, so that one pass over the vectors is enough for both.
    """
    partition = stats.partition
    if query.vector is None:
        zeros = np.zeros(partition.columns.count, np.float32)
        return zeros, zeros
    products = partition.vectors.dots(query.vector)
    products *= stats.scope
    context = diffuse(partition.columns, products)
    context /= np.maximum(stats.context_norms, np.float32(1e-6))
    if query.unrelated_cosine:
        products, context = (_beyond(query.unrelated_cosine, cosines) for cosines in (products, context))
    return np.clip(products, 0, 1, out=products), np.clip(context, 0, 1, out=context)


def _beyond(floor: float, cosines: Floats) -> Floats:
    """Scale the cosines from `floor` to 1 to the range from 0 to 1.

    Some models give any two texts a cosine of 0.7 or more. Divided by their maximum, all rows would be nearly alike.
    """
    return (cosines - np.float32(floor)) / np.float32(1 - floor)


def _speaker(partition: Partition, query: AnalyzedQuery) -> Floats:
    """Return 1 for rows whose speaker the query names, else 0."""
    if not query.names:
        return np.zeros(partition.columns.count, np.float32)
    is_named = np.array([bool(query.names & words) for words in partition.speaker_words], np.float32)
    rows: Floats = is_named[partition.columns["speaker"]]
    return rows


def _exact(partition: Partition, query: AnalyzedQuery) -> Mask:
    exact = np.zeros(partition.columns.count, np.bool_)
    rows = partition.postings.rows_of(query.words[0]) if query.words else np.empty(0, np.int64)
    for word in query.words[1:]:
        if not len(rows):
            break
        rows = np.intersect1d(rows, partition.postings.rows_of(word), assume_unique=True)
    exact[rows] = True
    return exact


def dated(signals: Signals, dates: Sequence[NamedDate], times_us: NDArray[np.int64], undated: Mask) -> Signals:
    """Return the signals, lower for rows that are from another time than the query names."""
    is_named = np.any([_named_days(named) for named in dates], axis=0)
    days = np.clip(times_us // _DAY_US - _FIRST_DAY, 0, len(is_named) - 1)
    factors = np.where(is_named[days] | undated, np.float32(1), _OTHER_TIME)
    return replace(signals, **{name: getattr(signals, name) * factors for name in SCALED_SIGNALS})


def _named_days(named: NamedDate) -> Mask:
    """Return the days of the calendar that a date names, with some days before and after them."""
    matching = [part == value for part, value in zip(_calendar(), named, strict=True) if value is not None]
    is_named: Mask = np.all(matching, axis=0)
    near = is_named.copy()
    near[:-1] |= is_named[1:]
    for days in range(1, _DAYS_AFTER + 1):
        near[days:] |= is_named[:-days]
    near[[0, -1]] = False  # also the place of all earlier and later days
    return near


@cache
def _calendar() -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return year, month and day of the month of the days from 1900 to 2199."""
    days = np.arange(_FIRST_DAY, _LAST_DAY + 1).astype("datetime64[D]")
    months = days.astype("datetime64[M]")
    return (
        days.astype("datetime64[Y]").astype(np.int64) + 1970,
        months.astype(np.int64) % 12 + 1,
        (days - months).astype(np.int64) + 1,
    )
