"""Ranking signals of the rows of a partition, one array each: BM25, cosine, neighbours, speaker."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from memsidecar.layers.episodic.columns import Rows, context_sums, diffuse, diffuse_sparse, neighbours
from memsidecar.layers.episodic.partition import Partition
from memsidecar.layers.episodic.quantized_vectors import Floats
from memsidecar.layers.episodic.query import AnalyzedQuery
from memsidecar.layers.text_analysis import stem

Mask = NDArray[np.bool_]

# BM25's k1 (saturation of the term frequency) and b (length normalization). Both are lower than in text books, because
# messages are short: measured in docs/retrieval.md.
BM25_K1, BM25_B = np.float32(0.9), np.float32(0.4)
CONTEXT_SIGNALS = ("keyword_context", "semantic_context")
SCALED_SIGNALS = (*CONTEXT_SIGNALS, "semantic", "speaker")
"Signals of a hybrid ranking that are divided by their maximum in the scope."
_OTHER_TIME = np.float32(0.6)
"Factor of the signals of messages that are from another time than the query names: measured in docs/retrieval.md."
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
    """Postings of one query term, in any inflection: the rows and the term frequencies.

    A written date is a term, too. That no row has it tells nothing.
    """

    rows: Rows
    counts: Floats
    is_date: bool = False


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
        by_term = list(zip(*(part.terms for part in parts), strict=True))
        frequencies = [sum(len(term.rows) for term in each) for each in by_term]
        idf = [
            np.float32(math.log(1 + (rows - found + 0.5) / (found + 0.5)) if found or not each[0].is_date else 0)
            for found, each in zip(frequencies, by_term, strict=True)
        ]
        return cls(np.float32(length / max(rows, 1) or 1), np.float32(context_length / max(rows, 1) or 1), idf)


def term_stats(partition: Partition, query: AnalyzedQuery, scope: Mask) -> TermStats:
    terms = [_occurrences(partition, term, scope) for term in distinct_stems(query)]
    terms += [_date_occurrences(partition, tokens, scope) for tokens in query.written_dates]
    return TermStats(partition, scope, terms, *_context(partition, scope))


def distinct_stems(query: AnalyzedQuery) -> list[str]:
    """Return one term of each stem: the others have the same postings."""
    return list({stem(term): term for term in query.content}.values())


def _occurrences(partition: Partition, term: str, scope: Mask) -> Occurrences:
    rows, counts = partition.postings.occurrences(term)
    in_scope = scope[rows]
    return Occurrences(rows, counts) if in_scope.all() else Occurrences(rows[in_scope], counts[in_scope])


def _date_occurrences(partition: Partition, tokens: Sequence[str], scope: Mask) -> Occurrences:
    rows = _rows_of_all(partition, tokens)
    rows = rows[scope[rows]]
    return Occurrences(rows, np.ones(len(rows), np.float32), is_date=True)


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
    exact[_rows_of_all(partition, query.words)] = True
    return exact


def _rows_of_all(partition: Partition, words: Sequence[str]) -> Rows:
    """Return the rows that have all these terms as they are written; none without a term."""
    rows = partition.postings.rows_of(words[0]) if words else np.empty(0, np.int64)
    for word in words[1:]:
        if not len(rows):
            break
        rows = np.intersect1d(rows, partition.postings.rows_of(word), assume_unique=True)
    return rows


def dated(signals: Signals, of_time: Mask) -> Signals:
    """Return the signals, lower for rows that are from another time than the query names."""
    factors = np.where(of_time, np.float32(1), _OTHER_TIME)
    return replace(signals, **{name: getattr(signals, name) * factors for name in SCALED_SIGNALS})
