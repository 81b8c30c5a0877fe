"""Quantized vectors and postings of a partition, compared with naive implementations."""

import sys
from collections import Counter
from collections.abc import Sequence

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from memsidecar.layers.episodic.index_batch import unit
from memsidecar.layers.episodic.postings import MAX_TERM_FREQUENCY, Postings
from memsidecar.layers.episodic.quantized_vectors import QuantizedVectors
from memsidecar.layers.text_analysis import stem

WORDS = st.sampled_from(["run", "running", "runs", "tea", "teas", "the", "天気", "a"])


@given(st.lists(st.lists(st.lists(WORDS, max_size=8), max_size=10), max_size=4), WORDS)
def test_postings_match_a_naive_count(batches: Sequence[Sequence[Sequence[str]]], word: str) -> None:
    """Batches and texts may be empty."""
    postings, texts = Postings(), list[Sequence[str]]()
    for batch in batches:
        postings.extend(len(texts), batch)
        texts += batch
    exact = [row for row, words in enumerate(texts) if word in words]
    counts = {row: sum(stem(one) == stem(word) for one in words) for row, words in enumerate(texts)}
    rows, found = postings.occurrences(word)
    assert postings.rows_of(word).tolist() == exact
    assert dict(zip(rows.tolist(), found.tolist(), strict=True)) == {row: one for row, one in counts.items() if one}
    assert rows.tolist() == sorted(rows.tolist())


def test_the_count_of_a_repeated_term_is_capped() -> None:
    postings = Postings()
    postings.extend(0, [["tea"] * 1_000, ["tea"]])
    rows, counts = postings.occurrences("tea")
    assert (rows.tolist(), counts.tolist()) == ([0, 1], [MAX_TERM_FREQUENCY, 1])


def test_postings_can_grow_while_results_are_held() -> None:
    postings = Postings()
    postings.extend(0, [["tea"]])
    rows, (together, counts) = postings.rows_of("tea"), postings.occurrences("tea")
    postings.extend(1, [["tea"]])
    assert (rows.tolist(), together.tolist(), counts.tolist()) == ([0], [0], [1])


@given(st.lists(st.integers(0, 40), max_size=4), st.sampled_from([1, 8, 256]), st.integers(0, 1 << 32))
@settings(deadline=None)
def test_quantized_products_are_close_to_those_of_floats(sizes: list[int], dimensions: int, seed: int) -> None:
    """The quantization error of a value is at most half a 127th of the largest value; a product adds the errors."""
    random = np.random.default_rng(seed)
    packed, kept = QuantizedVectors(dimensions), [np.zeros((0, dimensions), np.float32)]
    for size in sizes:
        some = random.standard_normal((size, dimensions)) ** 3
        some[random.random(size) < 0.2] = 0
        vectors = np.stack([unit(row.astype(np.float32)) for row in some]) if size else kept[0]
        packed.extend(vectors)
        kept.append(vectors)
    vectors, query = np.concatenate(kept), unit(random.standard_normal(dimensions).astype(np.float32))
    off, query_off = np.abs(vectors).max(axis=1, initial=0) / 254, np.abs(query).max() / 254
    bound = off * np.abs(query).sum() + query_off * np.abs(vectors).sum(axis=1) + off * query_off * dimensions + 1e-5
    assert (np.abs(packed.dots(query) - vectors @ query) <= bound).all()
    assert np.allclose(packed.rows(np.arange(len(vectors))), vectors, atol=1 / 254 + 1e-6)


def test_quantized_products_of_embeddings_are_close_enough_for_ranking() -> None:
    random = np.random.default_rng(1)
    vectors = random.standard_normal((3_000, 256)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    packed = QuantizedVectors(256)
    packed.extend(vectors)
    assert np.abs(packed.dots(vectors[0]) - vectors @ vectors[0]).max() < 0.005


@given(st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), min_size=1, max_size=16))
def test_any_finite_numbers_become_a_unit_vector(numbers: list[float]) -> None:
    vector = unit(np.array(numbers, np.float32))
    length = float(np.linalg.norm(vector.astype(np.float64)))
    assert np.isclose(length, 1.0, atol=1e-5) if Counter(numbers).keys() - {0.0} else length == 0


def test_reserved_arrays_do_not_grow() -> None:
    packed = QuantizedVectors(8)
    packed.reserve(100)
    room = packed.size_bytes
    for _ in range(10):
        packed.extend(np.eye(8, dtype=np.float32)[np.arange(10) % 8])
    assert (len(packed), packed.size_bytes) == (100, room)


def test_dot_products_do_not_change_the_reference_count_of_none() -> None:
    """A library that releases a reference to None too often crashes the process later."""
    vectors = QuantizedVectors(8)
    vectors.extend(np.eye(8, dtype=np.float32))
    before = sys.getrefcount(None)
    for _ in range(2_000):
        vectors.dots(np.ones(8, np.float32))
    assert abs(sys.getrefcount(None) - before) < 1_000
