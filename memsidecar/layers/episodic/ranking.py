"""How the signals become one score: each divided by its largest, weighted, added up.

Lists are united, never filtered by one another: whatever speaks for an episode brings it up. The weights were measured
(docs/retrieval.md has the table); around them the result is flat, so that none of them is tuned to one set of data.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memsidecar.domain.fact import Parts
from memsidecar.layers.episodic.signals import Signals

Floats = NDArray[np.float32]
Mask = NDArray[np.bool_]

_AROUND = ("keyword_around", "semantic_around", "answers")
_HALF = np.float32(0.5)


@dataclass(frozen=True, slots=True)
class Weights:
    """How much each signal counts beside the others; 0 leaves it out."""

    keyword: float = 1.0
    keyword_around: float = 1.5
    semantic: float = 1.0
    semantic_around: float = 1.0
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

    def parts(self, rows: NDArray[np.int64]) -> list[Parts]:
        """What the scores of these rows are made of."""
        shares = {name: figures[rows] * self.factors[name] for name, figures in self.figures.items()}
        nothing = np.zeros(len(rows), np.float32)
        columns = [
            shares.get("keyword", nothing) + _HALF * self.exact[rows],
            shares.get("semantic", nothing),
            np.sum([shares.get(name, nothing) for name in _AROUND], axis=0),
            *(shares.get(name, nothing) for name in ("speaker", "session", "recency")),
        ]
        return [Parts(*each) for each in zip(*(column.tolist() for column in columns), strict=True)]


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
