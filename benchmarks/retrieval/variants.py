"""Ablations: the contribution of each part of the ranking, and the sensitivity to its constants."""

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack
from dataclasses import asdict, replace
from functools import cached_property
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from benchmarks.retrieval.recall import Variant, reciprocal_ranks, weighted, with_names
from memsidecar.embedding.bundled_model import BundledModel, StaticModel, token_weights
from memsidecar.embedding.contract import Embedder
from memsidecar.embedding.static import StaticEmbedder
from memsidecar.layers.episodic import columns, signals
from memsidecar.layers.episodic.query import Mode, Weights

DEFAULT = "default"
_NONE = Weights(**dict.fromkeys(asdict(Weights()), 0.0))
_LOCAL = ("keyword", "keyword_context", "semantic", "semantic_context", "answers", "speaker")
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
        "Vectors (token weights)": list(_token_weights()),
    }


def default() -> Variant:
    return Variant(DEFAULT, weighted())


def _used() -> list[str]:
    return [name for name, weight in asdict(Weights()).items() if weight]


def _baselines() -> Iterator[Variant]:
    yield Variant("keywords alone (mode keyword)", weighted(mode=Mode.KEYWORD))
    yield Variant("vectors alone (mode semantic)", weighted(mode=Mode.SEMANTIC))
    plain = StaticEmbedder(model=_Model(None))
    yield Variant("vectors alone, plain mean of tokens", weighted(mode=Mode.SEMANTIC), plain)
    rare = StaticEmbedder()
    yield Variant("vectors alone, names kept in the query", with_names(rare, Mode.SEMANTIC))
    yield Variant("vectors alone, names kept, plain mean", with_names(plain, Mode.SEMANTIC), plain)
    yield Variant("RRF of keywords and vectors", reciprocal_ranks)
    yield Variant("RRF of keywords and vectors, plain mean", reciprocal_ranks, plain)


def _left_out() -> Iterator[Variant]:
    for name in _used():
        yield Variant(f"without {name}", weighted(replace(Weights(), **{name: 0.0})))


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
    """With a reach of 0, a row and its neighbourhood are the same, so their weights add up."""
    weights = Weights()
    alone = replace(
        weights,
        keyword=weights.keyword + weights.keyword_context,
        semantic=weights.semantic + weights.semantic_context,
        keyword_context=0.0,
        semantic_context=0.0,
    )
    yield Variant("reach 0", weighted(alone))
    yield _decay("reach 1", columns.DECAY, 0.0)
    for decay in (0.5, 1.0):
        yield _decay(f"reach 2, decay {decay:g}", decay, decay**2)


def _decay(name: str, near: float, far: float) -> Variant:
    steps = {"prev": near, "next": near, "prev2": far, "next2": far}
    values = {step: np.float32(weight) for step, weight in steps.items()}
    return Variant(name, weighted(), altered=lambda: patch.dict(columns.NEIGHBOUR_WEIGHTS, values))


def _bm25() -> Iterator[Variant]:
    for saturation, share in ((0.5, 0.4), (1.2, 0.4), (0.9, 0.2), (0.9, 0.75), (1.2, 0.75)):
        name = f"k1 {saturation:g}, b {share:g}{' (text book)' if (saturation, share) == (1.2, 0.75) else ''}"
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


def _token_weights() -> Iterator[Variant]:
    yield Variant("uniform token weights (plain mean)", weighted(), StaticEmbedder(model=_Model(None)))
    for smoothing in (1e-5, 1e-4, 1e-3):
        embedder: Embedder = StaticEmbedder(model=_Model(smoothing))
        yield Variant(f"a = {smoothing:g}", weighted(), embedder)


class _Model(BundledModel):
    """The bundled model with other token weights: with this smoothing, or uniform."""

    def __init__(self, smoothing: float | None) -> None:
        super().__init__()
        self._smoothing = smoothing

    def loaded(self) -> StaticModel:
        return self._reweighted

    @cached_property
    def _reweighted(self) -> StaticModel:
        model = super().loaded()
        return replace(model, weights=self._weights(model))

    def _weights(self, model: StaticModel) -> NDArray[np.float32]:
        if self._smoothing is None:
            return np.ones(len(model.matrix), np.float32)
        tokens = [model.tokenizer.id_to_token(number) or "" for number in range(len(model.matrix))]
        return token_weights(tokens, self._smoothing)
