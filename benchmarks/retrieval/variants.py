"""Ablations: the contribution of each part of the ranking, and the sensitivity to its constants."""

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack
from dataclasses import asdict, replace
from unittest.mock import patch

import numpy as np

from benchmarks.retrieval.recall import Variant, reciprocal_ranks, weighted, with_names
from memsidecar.embedding.static import StaticEmbedder
from memsidecar.layers.episodic import columns, signals
from memsidecar.layers.episodic.query import Mode, Weights

DEFAULT = "default"
_NONE = Weights(**dict.fromkeys(asdict(Weights()), 0.0))
_LOCAL = ("keyword_context", "semantic", "semantic_context", "speaker")
"Signals that can be used alone; recency is off, and the session's signal is derived from the others."


def everything() -> dict[str, list[Variant]]:
    """Return the variants by heading."""
    return {
        "Other rankings": list(_baselines()),
        "Without one signal": list(_left_out()),
        "One signal alone": list(_alone()),
        "Neighbours": list(_neighbourhoods()),
        "Each weight halved and doubled": list(_tuned()),
        "Keywords (BM25)": list(_bm25()),
    }


def default() -> Variant:
    return Variant(DEFAULT, weighted())


def _used() -> list[str]:
    return [name for name, weight in asdict(Weights()).items() if weight]


def _baselines() -> Iterator[Variant]:
    yield Variant("keywords alone (mode keyword)", weighted(mode=Mode.KEYWORD))
    yield Variant("vectors alone (mode semantic)", weighted(mode=Mode.SEMANTIC))
    yield Variant("vectors alone, names kept in the query", with_names(StaticEmbedder(), Mode.SEMANTIC))
    yield Variant("RRF of keywords and vectors", reciprocal_ranks)


def _left_out() -> Iterator[Variant]:
    for name in _used():
        yield Variant(f"without {name}", weighted(replace(Weights(), **{name: 0.0})))
    undated = patch.object(signals, "_OTHER_TIME", np.float32(1))
    yield Variant("without dates in the question", weighted(), altered=lambda: undated)


def _alone() -> Iterator[Variant]:
    for name in _LOCAL:
        yield Variant(f"{name} alone", weighted(replace(_NONE, **{name: 1.0})))


def _tuned() -> Iterator[Variant]:
    for name in _used():
        for word, factor in (("half", 0.5), ("twice", 2.0)):
            weight = getattr(Weights(), name) * factor
            yield Variant(f"{word} {name} ({weight:g})", weighted(replace(Weights(), **{name: weight})))
    yield Variant("all weights 1", weighted(replace(Weights(), **dict.fromkeys(_used(), 1.0))))


def _neighbourhoods() -> Iterator[Variant]:
    yield _decay("reach 0", 0.0, 0.0)
    yield _decay("reach 1", columns.DECAY, 0.0)
    for decay in (0.5, 1.0):
        yield _decay(f"reach 2, decay {decay:g}", decay, decay**2)


def _decay(name: str, near: float, far: float) -> Variant:
    steps = {"prev": near, "next": near, "prev2": far, "next2": far}
    values = {step: np.float32(weight) for step, weight in steps.items()}
    return Variant(name, weighted(), altered=lambda: patch.dict(columns.NEIGHBOUR_WEIGHTS, values))


def _bm25() -> Iterator[Variant]:
    for saturation, share in ((0.5, 0.4), (1.2, 0.4), (0.9, 0.2), (0.9, 0.75), (1.2, 0.75)):
        name = f"k1 {saturation:g}, b {share:g}{' (textbook)' if (saturation, share) == (1.2, 0.75) else ''}"
        altered = _Altered({"BM25_K1": saturation, "BM25_B": share})
        yield Variant(name, weighted(), altered=altered)


class _Altered:
    """Change constants of the module `signals` temporarily."""

    def __init__(self, figures: Mapping[str, float]) -> None:
        self._figures = figures

    def __call__(self) -> AbstractContextManager[object]:
        stack = ExitStack()
        for name, figure in self._figures.items():
            stack.enter_context(patch.object(signals, name, np.float32(figure)))
        return stack
