"""Ranking of partitions: signals, weights and normalization to scores, top k."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memsidecar.domain.fact import ScoreBreakdown
from memsidecar.domain.message import Role
from memsidecar.layers.episodic.dates import named_times
from memsidecar.layers.episodic.partition import Partition
from memsidecar.layers.episodic.postings import Rows
from memsidecar.layers.episodic.quantized_vectors import Floats
from memsidecar.layers.episodic.query import AnalyzedQuery, Mode, RankedHit, SearchQuery, SearchScope, Weights
from memsidecar.layers.episodic.relevance import calibration_of, calibrations, probability, query_features
from memsidecar.layers.episodic.signals import (
    CONTEXT_SIGNALS,
    SCALED_SIGNALS,
    CorpusStats,
    Mask,
    Signals,
    compute_signals,
    dated,
    term_stats,
)
from memsidecar.layers.text_analysis import is_question, text_length

_HALF = np.float32(0.5)
_DIGITS = 4
"Digits of a relevance. More would differ between processors."
_MIN_POSITIVE = np.finfo(np.float32).smallest_subnormal


class Ranking:
    """Scores of all rows of some partitions. Valid while the partitions are held for reading.

    `sampled`: the rows were chosen by the query.
    """

    def __init__(
        self,
        partitions: Sequence[Partition],
        analyzed: AnalyzedQuery,
        query: SearchQuery,
        scope: SearchScope,
        *,
        sampled: bool = False,
    ) -> None:
        self._partitions, self._analyzed, self._has_text = partitions, analyzed, bool(query.text.strip())
        parts = [term_stats(partition, analyzed, scope_mask(partition, scope)) for partition in partitions]
        corpus = CorpusStats.of(parts)
        self._signals = Signals.together([compute_signals(part, analyzed, corpus) for part in parts])
        allowed = [_allowed_mask(part.partition, part.scope, scope, query) for part in parts]
        self._allowed = _joined(allowed)
        of_time = self._of_time() if analyzed.dates else None
        self._scores = self._score(query, of_time)
        self.features = query_features(
            list(zip(parts, allowed, strict=True)),
            corpus,
            self._signals,
            self._allowed,
            query=query,
            analyzed=analyzed,
            of_time=of_time,
            sampled=sampled,
        )

    def _of_time(self) -> Mask:
        """Return the rows of a time that the query names, and all chunks: their time is that of the upload."""
        is_chunk: Mask = self._column("role") == 0
        return is_chunk | named_times(self._analyzed.dates, self._column("time_us"))

    def _score(self, query: SearchQuery, of_time: Mask | None) -> "_Scores":
        if query.mode is Mode.SEMANTIC:
            return _semantic_scores(self._signals)
        if query.mode is Mode.KEYWORD:
            return _keyword_scores(self._signals, self._allowed)
        recency, signals = _recency(self._column("time_us"), query), self._signals
        signals = signals if of_time is None else dated(signals, of_time)
        return _hybrid_scores(signals, query.weights, self._allowed, self._session_ordinals(), recency)

    def _column(self, name: str) -> NDArray[Any]:
        return _joined([partition.columns[name] for partition in self._partitions])

    def _session_ordinals(self) -> NDArray[np.int64]:
        """Return the session ordinals of all rows, unique over the partitions."""
        if len(self._partitions) == 1:
            return self._column("session_ordinal")
        starts = np.cumsum([0, *(partition.session_count for partition in self._partitions)])
        return _joined(
            [
                partition.columns["session_ordinal"] + start
                for partition, start in zip(self._partitions, starts, strict=False)
            ]
        )

    def best(self, limit: int, min_score: float) -> list[RankedHit]:
        """Return the top hits, best first. Equal scores are ordered newest first, so that the order is stable."""
        scores = self._scores.score * self._allowed
        threshold = max(np.float32(min_score), _MIN_POSITIVE)
        if len(scores) > limit:
            threshold = max(threshold, np.partition(scores, len(scores) - limit)[len(scores) - limit])
        rows = np.flatnonzero(scores >= threshold)
        lsns, sequences = self._column("lsn")[rows], self._column("sequence")[rows]
        return self._hits(rows[np.lexsort((sequences, -lsns, -scores[rows]))][:limit])

    def _hits(self, rows: NDArray[np.int64]) -> list[RankedHit]:
        ids = [self._column(name)[rows].tolist() for name in ("lsn", "sequence", "session")]
        scores, parts = np.minimum(self._scores.score[rows], 1).tolist(), self._scores.parts(rows)
        evaluations = [None if math.isnan(score) else score for score in self._column("score")[rows].tolist()]
        return list(map(RankedHit, *ids, scores, parts, self._relevance(rows), evaluations))

    def _relevance(self, rows: NDArray[np.int64]) -> list[float]:
        """Return the probability that the memory helps, in proportion to the scores without recency."""
        strengths = self._scores.strength
        strongest = float(np.max(strengths, initial=0, where=self._allowed))
        chance = self._probability() / strongest if strongest > 0 else 0.0
        return [round(strength * chance, _DIGITS) for strength in strengths[rows].tolist()]

    def _probability(self) -> float:
        if not self._analyzed.words:  # a vector without text: no such questions are labelled
            return 0.0 if self._has_text else self.features.cosine
        return probability(self.features, calibration_of(self._analyzed, calibrations()))


def scope_mask(partition: Partition, scope: SearchScope) -> Mask:
    """Return the rows that exist for this search: hits and their neighbours."""
    columns = partition.columns
    mask: Mask = columns["alive"].copy()
    if scope.session is not None:
        mask &= columns["session"] == scope.session
    if scope.as_of is not None:
        mask &= columns["lsn"] <= scope.as_of
    return mask


def user_rows(partition: Partition, rows: Rows, scope: SearchScope) -> Rows:
    """Return those of the rows that are messages of users in the scope, and not excluded from it."""
    columns = partition.columns
    is_wanted = columns["alive"][rows] & (columns["role"][rows] == Role.USER)
    if scope.session is not None:
        is_wanted &= columns["session"][rows] == scope.session
    if scope.exclude_from is not None:
        session, sequence = scope.exclude_from
        is_wanted &= (columns["session"][rows] != session) | (columns["sequence"][rows] < sequence)
    wanted: Rows = rows[is_wanted]
    return wanted


def _allowed_mask(partition: Partition, in_scope: Mask, scope: SearchScope, query: SearchQuery) -> Mask:
    """Return the rows in scope that may be hits; the others may still be neighbours of hits."""
    columns, allowed = partition.columns, in_scope
    if scope.roles:
        allowed = allowed & np.isin(columns["role"], list(scope.roles))
    if scope.after_us is not None:
        allowed = allowed & (columns["time_us"] > scope.after_us)
    if scope.before_us is not None:
        allowed = allowed & (columns["time_us"] < scope.before_us)
    if scope.exclude_from is not None:
        session, sequence = scope.exclude_from
        allowed = allowed & ~((columns["session"] == session) & (columns["sequence"] >= sequence))
    if not scope.include_repeats and is_question(query.text):
        allowed = allowed & ~_repeats(partition, query)
    return allowed


def _repeats(partition: Partition, query: SearchQuery) -> Mask:
    """Return the rows that ask the same question in the same words."""
    words, columns = query.tokens, partition.columns
    rows = np.flatnonzero(columns["has_question"] & (columns["length"] == text_length(words)))
    for word, count in Counter(words).items():
        if not len(rows):
            break
        rows = np.intersect1d(rows, partition.postings.rows_with(word, count), assume_unique=True)
    repeats = np.zeros(columns.count, np.bool_)
    repeats[rows] = True
    return repeats


@dataclass(frozen=True, slots=True)
class _Scores:
    """Scores from 0 to 1, one for each row. A signal's share of the score is its value times its factor.

    `strength` is the score without recency.
    """

    score: Floats
    strength: Floats
    signals: dict[str, Floats]
    factors: dict[str, np.float32]
    exact: Mask

    def parts(self, rows: NDArray[np.int64]) -> list[ScoreBreakdown]:
        """Return what the scores of these rows are made of."""
        shares = {name: values[rows] * self.factors[name] for name, values in self.signals.items()}
        zeros = np.zeros(len(rows), np.float32)
        columns = [
            shares.get("keyword", zeros) + _HALF * self.exact[rows],
            shares.get("semantic", zeros),
            np.sum([shares.get(name, zeros) for name in CONTEXT_SIGNALS], axis=0),
            *(shares.get(name, zeros) for name in ("speaker", "session", "recency")),
        ]
        return list(map(ScoreBreakdown, *(column.tolist() for column in columns)))


def _semantic_scores(signals: Signals) -> _Scores:
    """Score by the cosine itself, so that a threshold means the same for every query."""
    none_exact = np.zeros(len(signals.exact), np.bool_)
    parts = {"semantic": signals.semantic}, {"semantic": np.float32(1)}
    return _Scores(signals.semantic, signals.semantic, *parts, none_exact)


def _keyword_scores(signals: Signals, allowed: Mask) -> _Scores:
    factor = _factor(signals.keyword, None if allowed.all() else allowed, 1.0)
    total, exact = signals.keyword * factor, signals.exact & allowed
    return _normalized(total, None, {"keyword": signals.keyword}, {"keyword": factor}, exact, weight_sum=1.0)


def _hybrid_scores(
    signals: Signals, weights: Weights, allowed: Mask, session_ordinals: NDArray[np.int64], recency: Floats
) -> _Scores:
    """Sum up the signals, each divided by its maximum over the allowed rows. Scores of other rows have no meaning."""
    mask = None if allowed.all() else allowed
    values = {name: getattr(signals, name) for name in SCALED_SIGNALS}
    factors = {name: _factor(each, mask, getattr(weights, name)) for name, each in values.items()}
    values = {name: each for name, each in values.items() if factors[name]}
    matched = np.zeros(len(allowed), np.float32)
    for name, each in values.items():
        matched += each * factors[name]
    values["session"] = _best_of_session(_masked(matched, mask), session_ordinals)
    factors["session"] = _factor(values["session"], mask, weights.session)
    matched += values["session"] * factors["session"]
    if weights.recency:
        values["recency"], factors["recency"] = recency, np.float32(weights.recency)
    weight_sum = sum(getattr(weights, name) for name, factor in factors.items() if factor) or 1.0
    weighted = recency * factors["recency"] if weights.recency else None
    return _normalized(matched, weighted, values, factors, signals.exact & allowed, weight_sum=weight_sum)


def _masked(values: Floats, mask: Mask | None) -> Floats:
    return values if mask is None else values * mask


def _factor(values: Floats, mask: Mask | None, weight: float) -> np.float32:
    """Return the factor that scales the maximum to the weight; 0 if the maximum is 0."""
    largest = _masked(values, mask).max(initial=0) if weight else 0
    return np.float32(weight / largest) if largest > 0 else np.float32(0)


def _best_of_session(scores: Floats, session_ordinals: NDArray[np.int64]) -> Floats:
    """Return for each row the best score of its session: a session with one hit is likely to have others."""
    best = np.zeros(int(session_ordinals.max(initial=-1)) + 1, np.float32)
    np.maximum.at(best, session_ordinals, scores)
    found: Floats = best[session_ordinals]
    return found


def _normalized(
    matched: Floats,
    recency: Floats | None,
    signals: dict[str, Floats],
    factors: dict[str, np.float32],
    exact: Mask,
    *,
    weight_sum: float,
) -> _Scores:
    """Scale the sum of what matched and of recency to 0 to 1.

    `weight_sum` has no weights of signals that are 0 everywhere. Rows that have every term of the query as it was
    written get the upper half of the scale, so that they rank before all others: a term that is in few messages must
    find all of them.
    """
    scale = np.float32((_HALF if exact.any() else 1) / weight_sum)
    strength = np.where(exact, matched * scale + _HALF, matched * scale)
    score = strength if recency is None else strength + recency * scale
    return _Scores(score, strength, signals, {name: factor * scale for name, factor in factors.items()}, exact)


def _recency(times_us: NDArray[np.int64], query: SearchQuery) -> Floats:
    """Return 1 for now, halved with each half-life."""
    if not query.half_life_us:
        return np.zeros(len(times_us), np.float32)
    age = np.maximum(query.now_us - times_us, 0) / query.half_life_us
    return np.exp2(-age).astype(np.float32)


def _joined(parts: Sequence[NDArray[Any]]) -> NDArray[Any]:
    return parts[0] if len(parts) == 1 else np.concatenate(parts)
