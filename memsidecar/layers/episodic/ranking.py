"""Weights, normalisation, top-k."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memsidecar.domain.fact import ScoreBreakdown
from memsidecar.layers.episodic.partition import Partition
from memsidecar.layers.episodic.query import AnalyzedQuery, Mode, RankedHit, SearchQuery, SearchScope
from memsidecar.layers.episodic.signals import Corpus, Signals, signals, surroundings
from memsidecar.layers.text_analysis import is_question, text_length, tokenize

Floats = NDArray[np.float32]
Mask = NDArray[np.bool_]

_AROUND = ("keyword_around", "semantic_around", "answers")
_HALF = np.float32(0.5)


@dataclass(frozen=True, slots=True)
class Weights:
    """How much each signal counts beside the others; 0 leaves it out."""

    keyword: float = 1.0
    keyword_context: float = 1.5
    semantic: float = 1.0
    semantic_context: float = 1.0
    answers: float = 0.5
    speaker: float = 1.5
    session: float = 1.0
    recency: float = 0.0


@dataclass(frozen=True, slots=True)
class Ranked:
    """Scores from 0 to 1, one a row, and for each signal what it was multiplied by to become its share of the score."""

    score: Floats
    figures: dict[str, Floats]
    factors: dict[str, np.float32]
    exact: Mask

    def parts(self, rows: NDArray[np.int64]) -> list[ScoreBreakdown]:
        """What the scores of these rows are made of."""
        shares = {name: figures[rows] * self.factors[name] for name, figures in self.figures.items()}
        nothing = np.zeros(len(rows), np.float32)
        columns = [
            shares.get("keyword", nothing) + _HALF * self.exact[rows],
            shares.get("semantic", nothing),
            np.sum([shares.get(name, nothing) for name in _AROUND], axis=0),
            *(shares.get(name, nothing) for name in ("speaker", "session", "recency")),
        ]
        return [ScoreBreakdown(*each) for each in zip(*(column.tolist() for column in columns), strict=True)]


def rank(signals: Signals, weights: Weights, admitted: Mask, talks: NDArray[np.int64], recency: Floats) -> Ranked:
    """Only admitted rows are counted against; what the others get means nothing. `talks` numbers the sessions."""
    counted = None if admitted.all() else admitted
    figures = {name: getattr(signals, name) for name in Signals.__slots__ if name != "exact"} | {"recency": recency}
    factors = {name: _factor(each, counted, getattr(weights, name)) for name, each in figures.items()}
    factors["recency"] = np.float32(weights.recency)
    figures = {name: each for name, each in figures.items() if factors[name]}
    total = _sum(figures, factors, len(admitted))
    figures["session"] = _best_of_session(_of(total, counted), talks)
    factors["session"] = _factor(figures["session"], counted, weights.session)
    total += figures["session"] * factors["session"]
    return _shared(total, figures, factors, signals.exact & admitted, weights)


def _of(figures: Floats, counted: Mask | None) -> Floats:
    """Those of the rows that count, 0 for the others; None: all count."""
    return figures if counted is None else figures * counted


def _factor(figures: Floats, counted: Mask | None, weight: float) -> np.float32:
    """What brings the largest of them to the weight; 0 where there is nothing to bring there."""
    largest = _of(figures, counted).max(initial=0) if weight else 0
    return np.float32(weight / largest) if largest > 0 else np.float32(0)


def _sum(figures: dict[str, Floats], factors: dict[str, np.float32], count: int) -> Floats:
    total = np.zeros(count, np.float32)
    for name, each in figures.items():
        total += each * factors[name]
    return total


def _best_of_session(scores: Floats, talks: NDArray[np.int64]) -> Floats:
    """For each row the best score of its session: where one thing was found, more may be."""
    best = np.zeros(int(talks.max(initial=-1)) + 1, np.float32)
    np.maximum.at(best, talks, scores)
    found: Floats = best[talks]
    return found


def _shared(
    total: Floats, figures: dict[str, Floats], factors: dict[str, np.float32], exact: Mask, weights: Weights
) -> Ranked:
    """Bring the sum between 0 and 1: a weight counts where its signal says anything about anything.

    Rows that have every word of the query as it was written come before all others, whatever else is said of them: a
    word that stands in few messages must bring up all of them. They get the upper half of the scale.
    """
    whole = sum(getattr(weights, name) for name, factor in factors.items() if factor) or 1.0
    scale = np.float32((_HALF if exact.any() else 1) / whole)
    score = np.where(exact, total * scale + _HALF, total * scale)
    return Ranked(score, figures, {name: factor * scale for name, factor in factors.items()}, exact)


_MORE_THAN_NOTHING = np.finfo(np.float32).smallest_subnormal
_KEYWORDS_ALONE = Weights(
    keyword=1, keyword_context=0, semantic=0, semantic_context=0, answers=0, speaker=0, session=0, recency=0
)


class Ranking:
    """The ranking of some shelves, for as long as they are held for reading."""

    def __init__(
        self, shelves: Sequence[Partition], query: AnalyzedQuery, question: SearchQuery, within: SearchScope
    ) -> None:
        self._shelves = shelves
        parts = [surroundings(shelf, query, scope_of(shelf, within)) for shelf in shelves]
        corpus = Corpus.of(parts)
        self._signals = Signals.together([signals(part, query, corpus) for part in parts])
        self._admitted = _joined([_admitted(part.shelf, part.scope, within, question) for part in parts])
        self._ranked = self._rank(question)

    def _rank(self, question: SearchQuery) -> Ranked:
        if question.mode is Mode.SEMANTIC:
            return _by_meaning(self._signals)
        weights = _KEYWORDS_ALONE if question.mode is Mode.KEYWORD else question.weights
        recency = _recency(self._column("time_us"), question)
        return rank(self._signals, weights, self._admitted, self._talks(), recency)

    def _column(self, name: str) -> NDArray[Any]:
        return _joined([shelf.columns[name] for shelf in self._shelves])

    def _talks(self) -> NDArray[np.int64]:
        """The sessions of all shelves, numbered through."""
        if len(self._shelves) == 1:
            return self._column("talk")
        starts = np.cumsum([0, *(shelf.talk_count for shelf in self._shelves)])
        return _joined([shelf.columns["talk"] + start for shelf, start in zip(self._shelves, starts, strict=False)])

    def best(self, limit: int, min_score: float) -> list[RankedHit]:
        """Equal scores stand newest first, so that the order is always the same."""
        scores = self._ranked.score * self._admitted
        least = max(np.float32(min_score), _MORE_THAN_NOTHING)
        if len(scores) > limit:
            least = max(least, np.partition(scores, len(scores) - limit)[len(scores) - limit])
        rows = np.flatnonzero(scores >= least)
        lsns, sequences = self._column("lsn")[rows], self._column("sequence")[rows]
        return self._pointers(rows[np.lexsort((sequences, -lsns, -scores[rows]))][:limit])

    def _pointers(self, rows: NDArray[np.int64]) -> list[RankedHit]:
        names = [self._column(name)[rows].tolist() for name in ("lsn", "sequence", "session")]
        scores, cosines = np.minimum(self._ranked.score[rows], 1).tolist(), self._signals.semantic[rows].tolist()
        evaluations = [None if math.isnan(one) else one for one in self._column("score")[rows].tolist()]
        return list(map(RankedHit, *names, scores, self._ranked.parts(rows), cosines, evaluations))


def _joined(parts: Sequence[NDArray[Any]]) -> NDArray[Any]:
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def scope_of(shelf: Partition, within: SearchScope) -> Mask:
    """The rows that are there at all, as far as this question goes."""
    columns = shelf.columns
    scope: Mask = columns["alive"].copy()
    if within.session is not None:
        scope &= columns["session"] == within.session
    if within.as_of is not None:
        scope &= columns["lsn"] <= within.as_of
    return scope


def _admitted(shelf: Partition, scope: Mask, within: SearchScope, question: SearchQuery) -> Mask:
    """Of the scope, what the request names; the others may still be somebody's neighbours."""
    columns, admitted = shelf.columns, scope
    if within.roles:
        admitted = admitted & np.isin(columns["role"], list(within.roles))
    if within.after_us is not None:
        admitted = admitted & (columns["time_us"] > within.after_us)
    if within.before_us is not None:
        admitted = admitted & (columns["time_us"] < within.before_us)
    if within.exclude_from is not None:
        session, sequence = within.exclude_from
        admitted = admitted & ~((columns["session"] == session) & (columns["sequence"] >= sequence))
    if not within.include_repeats and is_question(question.text):
        admitted = admitted & ~_repeats(shelf, question)
    return admitted


def _repeats(shelf: Partition, question: SearchQuery) -> Mask:
    """The rows that ask the same, in the same words."""
    words, columns = tokenize(question.text), shelf.columns
    rows = np.flatnonzero(columns["asks"] & (columns["length"] == text_length(words)))
    for word, count in Counter(words).items():
        if not len(rows):
            break
        rows = np.intersect1d(rows, shelf.postings.rows_with(word, count), assume_unique=True)
    repeats = np.zeros(columns.count, np.bool_)
    repeats[rows] = True
    return repeats


def _by_meaning(found: Signals) -> Ranked:
    """The cosine as it is: a threshold then means the same for every question."""
    nowhere = np.zeros(len(found.exact), np.bool_)
    return Ranked(found.semantic, {"semantic": found.semantic}, {"semantic": np.float32(1)}, nowhere)


def _recency(times_us: NDArray[np.int64], question: SearchQuery) -> Floats:
    """1 for now, half of it after each half-life."""
    if not question.half_life_us:
        return np.zeros(len(times_us), np.float32)
    age = np.maximum(question.now_us - times_us, 0) / question.half_life_us
    return np.exp2(-age).astype(np.float32)
