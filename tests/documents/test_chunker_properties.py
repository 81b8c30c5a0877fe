"""Properties of the chunks of any text."""

import unicodedata
from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from memsidecar.layers.documents.chunker import Chunker, ChunkSpan
from memsidecar.tokens.contract import Counter
from memsidecar.tokens.registry import CounterRegistry
from tests.documents.texts import LARGE, LETTERS, texts

COUNTERS = {name: CounterRegistry(name).default for name in ("o200k_base", "chars4")}
# From 8 tokens on every character fits: none has more than a handful.
sizes = st.integers(8, 60).flatmap(lambda size: st.tuples(st.just(size), st.integers(0, size // 2)))
counters = st.sampled_from(list(COUNTERS.values()))


class CountedCounter:
    """A real counter that records the characters it counted."""

    name, exact, adds_lines, ready = "counted", True, False, True

    def __init__(self, counter: Counter) -> None:
        self._counter = counter
        self.characters = 0

    def warm(self) -> None:
        self._counter.warm()

    def count(self, text: str) -> int:
        self.characters += len(text)
        return self._counter.count(text)


def check_all(text: str, chunking: Chunker) -> list[ChunkSpan]:
    chunks = list(chunking(text))
    check_sizes(text, chunks, chunking)
    check_order(chunks)
    check_nothing_is_left_out(text, chunks)
    for before, after in pairwise(chunks):
        check_overlap(text, before, after, chunking)
    return chunks


def check_sizes(text: str, chunks: list[ChunkSpan], chunking: Chunker) -> None:
    for chunk in chunks:
        assert chunk.text == text[chunk.start : chunk.end] and chunk.text.strip()
        assert chunk.tokens == chunking.counter.count(chunk.text) <= chunking.size


def check_order(chunks: list[ChunkSpan]) -> None:
    for before, after in pairwise(chunks):
        assert before.start <= after.start and before.end < after.end


def check_nothing_is_left_out(text: str, chunks: list[ChunkSpan]) -> None:
    covered = 0
    for chunk in chunks:
        assert not text[covered : chunk.start].strip()
        covered = chunk.end
    assert not text[covered:].strip()


def check_overlap(text: str, before: ChunkSpan, after: ChunkSpan, chunking: Chunker) -> None:
    count = chunking.counter.count
    shared = text[after.start : before.end]
    assert count(shared) <= chunking.overlap
    if not shared:
        assert count(text[before.end - 1 : after.start]) > chunking.overlap / 2


@settings(max_examples=400, deadline=None)
@given(text=texts, size=sizes, counter=counters)
@example(text=":0:0000:\n" + " " * 32 + "0", size=(8, 4), counter=COUNTERS["o200k_base"])
def test_every_promise_holds_for_any_text_and_size(text: str, size: tuple[int, int], counter: Counter) -> None:
    check_all(text, Chunker(counter, *size))


@pytest.mark.parametrize("kind", LARGE)
def test_every_promise_holds_for_large_texts(kind: str) -> None:
    check_all(LARGE[kind], Chunker(COUNTERS["o200k_base"], 300, 50))


@pytest.mark.parametrize("counter", COUNTERS.values(), ids=COUNTERS)
@pytest.mark.parametrize("kind", LARGE)
def test_each_part_of_a_text_is_counted_a_few_times_and_no_more(kind: str, counter: Counter) -> None:
    counted = CountedCounter(counter)
    list(Chunker(counted, 300, 50)(LARGE[kind]))
    assert counted.characters <= 12 * len(LARGE[kind])


@settings(max_examples=50, deadline=None)
@given(text=texts, size=sizes)
def test_the_same_text_has_the_same_chunks(text: str, size: tuple[int, int]) -> None:
    chunking = Chunker(COUNTERS["o200k_base"], *size)
    assert list(chunking(text)) == list(chunking(text))


@settings(max_examples=200, deadline=None)
@given(letters=st.lists(st.sampled_from(LETTERS), min_size=1, max_size=150))
def test_a_grapheme_is_not_cut(letters: list[str]) -> None:
    text = "".join(letters)
    places = {len("".join(letters[:at])) for at in range(len(letters) + 1)}
    for chunk in check_all(text, Chunker(COUNTERS["o200k_base"], 60, 25)):
        assert {chunk.start, chunk.end} <= places


@settings(max_examples=200, deadline=None)
@given(text=texts)
def test_a_chunk_starts_with_no_combining_mark(text: str) -> None:
    """Letters with more marks than any language has are excepted."""
    for chunk in Chunker(COUNTERS["o200k_base"], 60, 25)(text):
        if chunk.start and unicodedata.category(chunk.text[0]) == "Mn":
            before = text[: chunk.start]
            letter = before.rstrip("".join(one for one in set(before) if unicodedata.category(one).startswith("M")))
            assert not letter or letter[-1].isspace() or len(before) - len(letter) >= 30


@settings(max_examples=100, deadline=None)
@given(text=st.text(alphabet=" \t\r\n\x0b\x0c\x1c\x85\xa0\u2028\u3000", max_size=200))
def test_white_space_alone_has_no_chunks(text: str) -> None:
    assert list(Chunker(COUNTERS["o200k_base"], 300, 50)(text)) == []


@pytest.mark.parametrize(("size", "overlap"), [(300, 151), (300, 300), (300, -1), (0, 0), (1, 1)])
def test_an_overlap_of_more_than_half_a_chunk_is_refused(size: int, overlap: int) -> None:
    with pytest.raises(ValueError, match="overlap"):
        Chunker(COUNTERS["chars4"], size, overlap)
