"""The work for a query and the memory for its words are bounded, whatever is asked."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memsidecar.layers.episodic import EpisodicLimits
from memsidecar.layers.episodic.postings import Postings
from memsidecar.layers.episodic.query import WORDS_COUNTED, analysed
from memsidecar.layers.text_analysis import _stemmed, asked, indexed, stem, words_of
from tests.episodic.parts import KEYWORD, MODES, NO_RAM, world

MANY = 20_000
OTHERS = [f"w{at}" for at in range(MANY)]
LONG = st.builds(
    lambda letter, length, ending: letter * length + ending,
    st.characters(categories=["L"]),
    st.integers(55, 75),
    st.sampled_from(["", "s", "ed", "ing", "ingly"]),
).filter(lambda text: len(words_of(text)) == 1)  # some letters are spelt out with a sign in between


def test_only_the_first_distinct_words_of_a_query_count() -> None:
    query = analysed("tea tea the " + " ".join(OTHERS) + " Ann", [frozenset({"w1"}), frozenset({"ann"})], None)
    assert query.words == ("tea", "the", *OTHERS[: WORDS_COUNTED - 2])
    assert query.names == {"w1"}
    assert query.content == ("tea", "w0", *OTHERS[2 : WORDS_COUNTED - 2])


@pytest.mark.parametrize("limits", [EpisodicLimits(), NO_RAM], ids=["in RAM", "by candidates"])
def test_a_very_long_query_is_answered_by_its_beginning(limits: EpisodicLimits) -> None:
    with world(limits=limits) as memory:
        memory.add("a cup of tea")
        memory.add("a glass of milk")
        memory.index()
        for mode in MODES:
            assert memory.find(" ".join(["tea", *OTHERS]), mode=mode, session_id="s")
        by_words = {"mode": KEYWORD, "session_id": "s"}
        assert memory.find(" ".join(["tea", *OTHERS, "milk"]), **by_words) == ["a cup of tea"]
        assert memory.find(" ".join(["milk", *OTHERS, "tea"]), **by_words) == ["a glass of milk"]


@pytest.mark.parametrize("limits", [EpisodicLimits(), NO_RAM], ids=["in RAM", "by candidates"])
def test_a_long_query_without_blanks_is_answered_by_its_beginning(limits: EpisodicLimits) -> None:
    beginning = "".join(chr(0x5000 + at) for at in range(WORDS_COUNTED - 2))
    rest = "".join(chr(0x6000 + at) for at in range(5_000))
    with world(limits=limits) as memory:
        memory.add("我喝了一杯茶水")
        memory.add("我喝了一杯咖啡")
        memory.index()
        by_words = {"mode": KEYWORD, "session_id": "s"}
        assert memory.find(f"{beginning}咖啡{rest}茶水", **by_words) == ["我喝了一杯咖啡"]


@given(LONG, LONG)
def test_long_words_are_found_by_the_index_and_in_ram_alike(one: str, other: str) -> None:
    (left,), (right,) = words_of(one), words_of(other)
    postings = Postings()
    postings.extend(0, [[right]])
    in_ram = bool(len(postings.occurrences(left)[0]))
    on_disk = bool(set(asked([left])) & set(indexed(other).split(" ")))
    assert in_ram == on_disk == (stem(left) == stem(right))
    assert set(asked([left])) & set(indexed(one).split(" "))


def test_long_words_are_not_kept_as_stems() -> None:
    _stemmed.cache_clear()
    secret = "k" * 64 + "ings"
    assert stem(secret) == secret
    assert secret in indexed(secret) and secret in asked([secret])
    assert _stemmed.cache_info().currsize == 0
    assert stem("running") == "run" and _stemmed.cache_info().currsize == 1
