"""Hypothesis strategies for messages: texts, JSON and bytes, some too large for a message's metadata."""

from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

# Each example talks to the sidecar, and they share it.
many = settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))

odd_texts = st.sampled_from(
    ["", " ", "\n", "\0", "é", "日本語", "🙂", "\ud800", "[empty]", "$", '{"$": 1}', "word " * 20, "long " * 8_000]
)
texts = st.one_of(odd_texts, st.text(max_size=60))
filled_texts = texts.filter(bool)
ids = st.text(st.characters(codec="utf-8", exclude_categories=["Cc"]), min_size=1, max_size=20)
numbers = st.one_of(st.integers(-(2**70), 2**70), st.floats(allow_nan=False, allow_infinity=False))
leaves = st.one_of(st.none(), st.booleans(), numbers, texts)
keys = st.one_of(st.just("$"), st.text(max_size=8))


def maybe(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(st.none(), values)


def jsons(depth: int = 3) -> st.SearchStrategy[Any]:
    if depth == 0:
        return leaves
    inner = jsons(depth - 1)
    return st.one_of(leaves, st.lists(inner, max_size=3), st.dictionaries(keys, inner, max_size=3))


objects = st.dictionaries(keys, jsons(), max_size=4)
blobs = st.one_of(st.binary(max_size=40), st.integers(0, 3).map(lambda seed: bytes([seed, 255, 0, 128]) * 6_000))
