"""Limits on the terms of a query and on cached stems."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memsidecar.layers.episodic import EpisodicLimits
from memsidecar.layers.episodic.postings import Postings
from memsidecar.layers.episodic.query import SearchQuery, analyze_query
from memsidecar.layers.text_analysis import MAX_QUERY_TERMS, _cached_stem, index_terms, query_terms, stem, tokenize
from tests.episodic.components import KEYWORD, MODES, NO_RAM, episodic_client

MANY = 2_000
OTHERS = [f"w{at}" for at in range(MANY)]
LONG = st.builds(
    lambda letter, length, ending: letter * length + ending,
    st.characters(categories=["L"]),
    st.integers(55, 75),
    st.sampled_from(["", "s", "ed", "ing", "ingly"]),
).filter(lambda text: len(tokenize(text)) == 1)  # some letters are spelt out with a sign in between


def test_only_the_first_distinct_terms_of_a_query_count() -> None:
    query = analyze_query(
        SearchQuery("tea tea the " + " ".join(OTHERS) + " Ann"), [frozenset({"w1"}), frozenset({"ann"})], None
    )
    assert query.words == ("tea", "the", *OTHERS[: MAX_QUERY_TERMS - 2])
    assert query.names == {"w1"}
    assert query.content == ("tea", "w0", *OTHERS[2 : MAX_QUERY_TERMS - 2])


@pytest.mark.parametrize("limits", [EpisodicLimits(), NO_RAM], ids=["in RAM", "by candidates"])
def test_a_very_long_query_is_truncated(limits: EpisodicLimits) -> None:
    with episodic_client(limits=limits) as memory:
        memory.add("a cup of tea")
        memory.add("a glass of milk")
        memory.index()
        for mode in MODES:
            assert memory.find(" ".join(["tea", *OTHERS]), mode=mode, session_id="s")
        by_words = {"mode": KEYWORD, "session_id": "s"}
        assert memory.find(" ".join(["tea", *OTHERS, "milk"]), **by_words) == ["a cup of tea"]
        assert memory.find(" ".join(["milk", *OTHERS, "tea"]), **by_words) == ["a glass of milk"]


@pytest.mark.parametrize("limits", [EpisodicLimits(), NO_RAM], ids=["in RAM", "by candidates"])
def test_a_long_unspaced_query_is_truncated(limits: EpisodicLimits) -> None:
    beginning = "".join(chr(0x5000 + at) for at in range(MAX_QUERY_TERMS - 2))
    rest = "".join(chr(0x6000 + at) for at in range(5_000))
    with episodic_client(limits=limits) as memory:
        memory.add("我喝了一杯茶水")
        memory.add("我喝了一杯咖啡")
        memory.index()
        by_words = {"mode": KEYWORD, "session_id": "s"}
        assert memory.find(f"{beginning}咖啡{rest}茶水", **by_words) == ["我喝了一杯咖啡"]


@given(LONG, LONG)
def test_long_words_are_found_by_the_index_and_in_ram_alike(one: str, other: str) -> None:
    (left,), (right,) = tokenize(one), tokenize(other)
    postings = Postings()
    postings.extend(0, [[right]])
    in_ram = bool(len(postings.occurrences(left)[0]))
    on_disk = bool(set(query_terms([left])) & set(index_terms(other).split(" ")))
    assert in_ram == on_disk == (stem(left) == stem(right))
    assert set(query_terms([left])) & set(index_terms(one).split(" "))


def test_stems_of_long_words_are_not_cached() -> None:
    _cached_stem.cache_clear()
    secret = "k" * 64 + "ings"
    assert stem(secret) == secret
    assert secret in index_terms(secret) and secret in query_terms([secret])
    assert _cached_stem.cache_info().currsize == 0
    assert stem("running") == "run" and _cached_stem.cache_info().currsize == 1
