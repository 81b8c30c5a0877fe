"""Fit and check the calibrated relevance.

    python -m benchmarks.retrieval.calibration [--locomo FILE] [--onnx DIRECTORY DIMENSIONS ...] [--write]

Every history is asked its own questions, which it answers, and off-topic questions and questions of other histories,
which it does not answer. The whole history and pieces of it are asked, because the features depend on its size. Each
question is also asked without its question mark, and by its content terms alone, as users and agents do. The questions
of the half `check` are not fitted; the lines `check` are of them. `--write` stores the coefficients in the package;
those of exports that are not given stay as they are.
"""

import argparse
import json
import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import memsidecar.layers.episodic
from benchmarks.context.work import work
from benchmarks.retrieval.histories import History, LabelledQuestion, locomo, support, work_history
from benchmarks.retrieval.recall import EVERYTHING, CachingOnnxEmbedder, IndexedHistory, analyzed
from memsidecar.embedding.contract import Embedder
from memsidecar.embedding.static import SUPPORTED_DIMENSIONS, StaticEmbedder
from memsidecar.layers.episodic.query import AnalyzedQuery, SearchQuery
from memsidecar.layers.episodic.ranking import Ranking
from memsidecar.layers.episodic.relevance import (
    KEYWORDS_ONLY,
    Coefficients,
    QueryFeatures,
    calibration_of,
    calibrations,
    probability,
)
from memsidecar.layers.text_analysis import content_terms_or_all, is_other_language, tokenize

STORED = Path(memsidecar.layers.episodic.__path__[0]) / "calibration.json"
THRESHOLD = 0.25
_PIECES = (1, 4)
"Sessions in a piece of a history."
_PIECES_OF_A_HISTORY, _PIECE_QUESTIONS, _FOREIGN_QUESTIONS = 8, 25, 40
_NOT_FITTED, _COSINES = ("about_author", "small_talk"), ("cosine", "context_cosine")
_FOREIGN_WEIGHT, _PIECE_WEIGHT, _PHRASING_WEIGHT = 0.5, 0.5, 0.5
_RIDGE = 1.0
_BINS = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0)

ANSWERED, OFF_TOPIC, FOREIGN = KINDS = ("answered", "off-topic", "foreign")

Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class Sample:
    """The features of one question to one history; `kind` is one of KINDS."""

    text: str
    kind: str
    phrasing: str
    half: str
    corpus: str
    sessions: int
    "0 for the whole history."
    query: AnalyzedQuery
    features: QueryFeatures


Chance = Callable[[Sample], float]


@dataclass(frozen=True)
class Corpus:
    """Histories of one kind. Questions of another corpus have no answer in them."""

    name: str
    histories: Sequence[History]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--locomo", type=Path, metavar="FILE", help="LoCoMo's conversations as JSON")
    parser.add_argument(
        "--onnx", nargs=2, action="append", default=[], metavar=("DIRECTORY", "DIMENSIONS"), help="an export"
    )
    parser.add_argument("--write", action="store_true", help="fit, and store the coefficients in the package")
    parser.add_argument("--details", action="store_true", help="list the questions on the wrong side of the threshold")
    options = parser.parse_args()
    corpora = [Corpus("work", [work_history()]), Corpus("support", support())]
    if options.locomo:
        corpora.append(Corpus("LoCoMo", locomo(options.locomo)))
    samples = list(ask_all(corpora, StaticEmbedder()))
    exports = [CachingOnnxEmbedder.load(Path(folder), int(dimensions)) for folder, dimensions in options.onnx]
    known: Mapping[str, Coefficients] = calibrations()
    if options.write:
        known = refitted(known, fit_all(corpora, exports))
        STORED.write_text(json.dumps(known, indent=2) + "\n")
    print(f"the default embedder:\n{table(samples, by_calibration(known))}")
    for export in exports:
        print(f"{export.identity}:\n{table(list(ask_all(corpora, export)), by_calibration(known))}")
    print(f"without vectors:\n{table(samples, lambda sample: probability(sample.features, known[KEYWORDS_ONLY]))}")
    if options.details:
        print("\n".join(mistakes(samples, by_calibration(known))))


def refitted(stored: Mapping[str, Coefficients], fitted: Mapping[str, Coefficients]) -> Mapping[str, Coefficients]:
    """Return the fitted calibrations and those of other exports, in the order of the stored ones."""
    together = {**stored, **fitted}
    return {name: each for name, each in together.items() if name in fitted or name.startswith("onnx/")}


def by_calibration(known: Mapping[str, Coefficients]) -> Chance:
    return lambda sample: probability(sample.features, calibration_of(sample.query, known))


def ask_all(corpora: Sequence[Corpus], embedder: Embedder, pieces: Sequence[int] = _PIECES) -> Iterator[Sample]:
    """Yield a sample for each question to each history, and to its pieces of so many sessions."""
    for corpus in corpora:
        foreign = [each for other in corpora if other is not corpus for each in _questions(other)]
        for history in corpus.histories:
            yield from _ask(corpus.name, 0, history, foreign, embedder)
            for sessions in pieces:
                for piece in _pieces(history, sessions):
                    yield from _ask(corpus.name, sessions, piece, foreign, embedder)


def _questions(corpus: Corpus) -> list[LabelledQuestion]:
    return [question for history in corpus.histories for question in history.questions]


def _pieces(history: History, sessions: int) -> Iterator[History]:
    """Yield parts of a history with so many sessions each, those first that answer any question."""
    numbers = sorted({row.session for row in history.rows})
    random.Random(sessions).shuffle(numbers)
    groups = [frozenset(numbers[start : start + sessions]) for start in range(0, len(numbers), sessions)]
    pieces = (_of_sessions(history, group) for group in groups)
    yield from [piece for piece in pieces if piece.questions][:_PIECES_OF_A_HISTORY]


def _of_sessions(history: History, sessions: frozenset[int]) -> History:
    kept = [(name, row) for name, row in zip(history.ids, history.rows, strict=True) if row.session in sessions]
    ids = [name for name, _ in kept]
    rows = [replace(row, lsn=lsn) for lsn, (_, row) in enumerate(kept, 1)]
    return History(ids, rows, [question for question in history.questions if question.evidence <= set(ids)])


def _ask(
    corpus: str, sessions: int, history: History, foreign: Sequence[LabelledQuestion], embedder: Embedder
) -> Iterator[Sample]:
    indexed, choice = IndexedHistory.of(history, embedder), random.Random(len(history.ids))
    off_topic = [(question.text, question.half) for question in work().off_topic]
    others = [(question.text, _half(question)) for question in foreign]
    asked = {
        ANSWERED: [(question.text, _half(question)) for question in history.questions],
        OFF_TOPIC: choice.sample(off_topic, _PIECE_QUESTIONS) if sessions else off_topic,
        FOREIGN: choice.sample(others, min(_FOREIGN_QUESTIONS, len(others))),
    }
    for kind, questions in asked.items():
        for question, half in questions:
            for phrasing, text in _phrasings(question).items():
                query = analyzed(indexed.partition, text, embedder)
                scope = replace(EVERYTHING, include_repeats=False)
                features = Ranking([indexed.partition], query, SearchQuery(text), scope).features
                yield Sample(text, kind, phrasing, half, corpus, sessions, query, features)


def _phrasings(question: str) -> Mapping[str, str]:
    unmarked = question.rstrip("?\uff1f ") or question
    terms = " ".join(content_terms_or_all(tokenize(question))) or question
    return {"question": question, "unmarked": unmarked, "terms": terms}


def _half(question: LabelledQuestion) -> str:
    return "check" if question.kind.endswith("/check") else "tune"


def fit_all(corpora: Sequence[Corpus], exports: Sequence[Embedder] = ()) -> dict[str, Coefficients]:
    """Return the calibrations of all embedders of the package, of the exports, and the one without cosines."""
    found = {KEYWORDS_ONLY: fit(list(ask_all(corpora, StaticEmbedder())), _COSINES)}
    for embedder in (*map(StaticEmbedder, SUPPORTED_DIMENSIONS), *exports):
        samples = [each for each in ask_all(corpora, embedder) if not is_other_language(each.query.words)]
        found[embedder.identity] = fit(samples)
    return found


def fit(samples: Sequence[Sample], without: Sequence[str] = ()) -> Coefficients:
    """Return the coefficients of a ridge logistic regression, by Newton's method."""
    fitted = [sample for sample in samples if sample.half == "tune"]
    names = [name for name in QueryFeatures._fields if name not in (*without, *_NOT_FITTED)]
    rows = np.array([[1.0, *(getattr(sample.features, name) for name in names)] for sample in fitted])
    answered = np.array([sample.kind == ANSWERED for sample in fitted], np.float64)
    weights, penalty = _weights(fitted), np.diag([0.0, *[_RIDGE] * len(names)])
    coefficients = np.zeros(len(names) + 1)
    for _ in range(100):
        chance = 1 / (1 + np.exp(-rows @ coefficients))
        gradient = rows.T @ (weights * (chance - answered)) + penalty @ coefficients
        curvature = (rows * (weights * chance * (1 - chance))[:, None]).T @ rows + penalty
        step = np.linalg.solve(curvature, gradient)
        coefficients -= step
        if np.abs(step).max() < 1e-9:
            break
    return dict(zip(["intercept", *names], coefficients.round(3).tolist(), strict=True))


def _weights(samples: Sequence[Sample]) -> Matrix:
    """Return weights that sum up to the same for each corpus, kind and size of pieces, whatever their numbers."""
    counts = Counter((sample.corpus, sample.kind, sample.sessions, sample.phrasing) for sample in samples)
    raw = np.array(
        [
            (_FOREIGN_WEIGHT if sample.kind == FOREIGN else 1.0)
            * (_PIECE_WEIGHT if sample.sessions else 1.0)
            * (1.0 if sample.phrasing == "question" else _PHRASING_WEIGHT)
            / counts[sample.corpus, sample.kind, sample.sessions, sample.phrasing]
            for sample in samples
        ]
    )
    weights: Matrix = raw * len(samples) / raw.sum()
    return weights


def table(samples: Sequence[Sample], chance: Chance) -> str:
    """Return the share of questions over the threshold, by corpus, and the reliability of the probabilities."""
    lines, asked = [], [sample for sample in samples if sample.phrasing == "question"]
    for corpus in sorted({sample.corpus for sample in samples}):
        for sessions in sorted({sample.sessions for sample in samples}):
            group = [each for each in asked if (each.corpus, each.sessions) == (corpus, sessions)]
            size = f"pieces of {sessions}" if sessions else "whole"
            lines.append(f"  {corpus:8} {size:12} {_shares(group, chance)}")
    for phrasing in ("question", "unmarked", "terms"):
        checked = [each for each in samples if each.half == "check" and each.phrasing == phrasing]
        lines.append(f"  {f'check, {phrasing}':21} {_shares(checked, chance)}")
    return "\n".join([*lines, *_reliability(samples, chance)])


def _shares(samples: Sequence[Sample], chance: Chance) -> str:
    return f"over {THRESHOLD}: " + ", ".join(
        f"{kind} {share_over_threshold(asked, chance):.3f} of {len(asked)}"
        for kind in KINDS
        if (asked := [each for each in samples if each.kind == kind])
    )


def share_over_threshold(samples: Sequence[Sample], chance: Chance) -> float:
    return sum(chance(sample) >= THRESHOLD for sample in samples) / len(samples)


def _reliability(samples: Sequence[Sample], chance: Chance) -> Iterator[str]:
    """Yield one line for each range of probabilities: how many questions with one of them are answered."""
    weights, chances = _weights(samples), np.array(list(map(chance, samples)))
    answered = np.array([sample.kind == ANSWERED for sample in samples])
    yield f"  expected calibration error {expected_calibration_error(samples, chance):.3f}"
    yield "  probability | questions | mean | answered (weighted)"
    for low, high in pairwise(_BINS):
        inside = (chances >= low) & ((chances < high) | (high == 1))
        if inside.any():
            share = np.average(answered[inside], weights=weights[inside])
            mean = np.average(chances[inside], weights=weights[inside])
            yield f"  {low:.2f} to {high:.2f} | {inside.sum()} | {mean:.2f} | {share:.2f}"


def expected_calibration_error(samples: Sequence[Sample], chance: Chance) -> float:
    """Return the mean distance of probability and share of answered questions, over ten ranges of probabilities."""
    weights, chances = _weights(samples), np.array(list(map(chance, samples)))
    gaps = (chances - [sample.kind == ANSWERED for sample in samples]) * weights
    bins = np.minimum((chances * 10).astype(int), 9)
    return float(sum(abs(gaps[bins == number].sum()) for number in range(10)) / weights.sum())


def mistakes(samples: Sequence[Sample], chance: Chance) -> Iterator[str]:
    for sample in samples:
        is_plain = sample.phrasing == "question" and not sample.sessions and sample.kind != FOREIGN
        if is_plain and (chance(sample) >= THRESHOLD) != (sample.kind == ANSWERED):
            values = " ".join(f"{name} {value:.2f}" for name, value in sample.features._asdict().items())
            yield f"  {chance(sample):.2f} {sample.corpus} {sample.kind}: {sample.text}  ({values})"


if __name__ == "__main__":
    main()
