"""Exact counts equal tiktoken's own, on any text, in any thread."""

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import tiktoken
from hypothesis import given, settings
from hypothesis import strategies as st

from memsidecar.tokens import tiktoken_counter
from memsidecar.tokens.contract import independent_lines
from memsidecar.tokens.tiktoken_counter import MAX_WHITESPACE_RUN, VOCABULARIES, TiktokenCounter, load_encoding
from tests.support.work import costs_at_most

References = dict[str, tiktoken.Encoding]

CORPUS = {
    "empty": "",
    "prose": "It's 1,234.56 o'clock; they'd say WE'LL see -- won't we?  Three  spaces   here.\n\n\tTabbed.\r\n",
    "code": Path(__file__).read_text(encoding="utf-8"),
    "json": '{"query": "weather in Zürich", "days": [1, 22, 333, 4444], "deep": {"a": null}}',
    "emoji": "👍🏽 👩‍👩‍👧‍👦 🇨🇭 🤷‍♀️ ok 😀😀😀",
    "cjk": "今日は良い天気ですね。我们明天见\uff01안녕하세요 세계",
    "arabic": "مرحبا بالعالم، كيف حالك اليوم؟ ١٢٣",
    "mixed scripts": "Ünïcödé Straße ΑΒΓ привет नमस्ते ไทย שלום",
    "combining marks": "e\u0301a\u0300\u0302 Z\u0351\u0343",
    "special tokens": "<|endoftext|> a <|im_start|>user<|im_sep|> <|fim_prefix|><|endofprompt|>",
    "white space": " \u00a0\u3000\t \x0b\x0c \x1c\x1d \u2028 x \n \n  y   ",
    "controls": "\x00\x01\x7f\ufeff\u200b\ufffd",
}


@pytest.mark.parametrize("text", CORPUS.values(), ids=CORPUS.keys())
def test_a_count_equals_tiktokens_own(counter: TiktokenCounter, reference: References, text: str) -> None:
    assert counter.count(text) == len(reference[counter.name].encode_ordinary(text))


FRAGMENTS = [*" \t\r\n.!'/-#<a9Z\u00e9\u3000\u2028\x1c\x85\u4e2d", "\n- ", "\n# ", "\n\n", " \n", "'s", "https://"]


@given(fragments=st.lists(st.sampled_from(FRAGMENTS), max_size=30))
@settings(max_examples=500)
def test_the_counts_of_independent_lines_add_up(counter: TiktokenCounter, fragments: list[str]) -> None:
    text = "".join(fragments)
    lines = independent_lines(text)
    assert "".join(lines) == text
    assert sum(map(counter.count, lines)) == counter.count(text)


def test_items_of_a_list_are_independent_lines() -> None:
    assert independent_lines("## Said\n- One.\n- Two:\n  more\n") == ["## Said\n", "- One.\n", "- Two:\n  more\n"]


@given(text=st.text(max_size=400))
def test_any_text_counts_as_in_tiktoken(counter: TiktokenCounter, reference: References, text: str) -> None:
    assert counter.count(text) == len(reference[counter.name].encode_ordinary(text))


@given(text=st.text(st.characters(), max_size=100))
def test_even_lone_surrogates_do_not_raise(counter: TiktokenCounter, text: str) -> None:
    assert counter.count(text + "\ud800") >= 1


@pytest.mark.parametrize("name", VOCABULARIES)
def test_the_split_pattern_is_tiktokens_own(reference: References, name: str) -> None:
    assert "|".join(VOCABULARIES[name].split_patterns) == reference[name]._pat_str


def test_special_token_text_is_more_than_one_token(counter: TiktokenCounter) -> None:
    assert counter.count("<|endoftext|>") > 1


@pytest.mark.long
@pytest.mark.parametrize("unit", ["a", " ", "\t", "\n", "😀", "漢", "=", "1", " \u00a0", "\x00"])
def test_the_time_of_a_repeated_unit_is_linear(counter: TiktokenCounter, unit: str) -> None:
    """Eight times the text costs 8 times as much in linear time, 64 times in quadratic time."""
    part, whole = (unit * (size // len(unit.encode())) + "x" for size in (1 << 17, 1 << 20))
    assert counter.count(whole) > 1
    assert costs_at_most(24, lambda: counter.count(part), lambda: counter.count(whole), slack_seconds=0.02)


@pytest.mark.long
@pytest.mark.parametrize("unit", [" ", "\t"])
@pytest.mark.parametrize("beyond", [0, 1, 2, 18, MAX_WHITESPACE_RUN // 2 + 1])
def test_a_run_that_is_cut_counts_as_in_one_piece(
    counter: TiktokenCounter, reference: References, unit: str, beyond: int
) -> None:
    run = unit * (MAX_WHITESPACE_RUN + beyond)
    in_one_piece = len(reference[counter.name]._encode_single_piece(run))
    assert counter.count(f"word{run}{unit}word") == 1 + in_one_piece + counter.count(f"{unit}word")


def test_a_long_text_without_long_runs_is_not_cut() -> None:
    text = "some words and\n" * 60_000 + " " * MAX_WHITESPACE_RUN + "\x1c" * (MAX_WHITESPACE_RUN + 1)
    assert list(tiktoken_counter._blocks(text)) == [text]


@given(lengths=st.lists(st.integers(0, 3 * MAX_WHITESPACE_RUN), min_size=1, max_size=4))
@settings(max_examples=20, deadline=None)
def test_cutting_loses_nothing_and_leaves_no_long_run(lengths: list[int]) -> None:
    text = "x".join(" " * length for length in lengths)
    parts = list(tiktoken_counter._blocks(text))
    assert "".join(parts) == text
    assert not any(" " * (MAX_WHITESPACE_RUN + 1) in part for part in parts)


def test_creating_a_counter_loads_nothing() -> None:
    counter = TiktokenCounter("o200k_base")
    assert not counter.ready
    counter.warm()
    assert counter.ready


def test_concurrent_threads_load_the_vocabulary_once(monkeypatch: pytest.MonkeyPatch) -> None:
    loads: list[str] = []

    def slow_load(name: str, folder: Path) -> tiktoken.Encoding:
        loads.append(name)
        time.sleep(0.05)
        return load_encoding(name, folder)

    monkeypatch.setattr(tiktoken_counter, "load_encoding", slow_load)
    counter = TiktokenCounter("cl100k_base")
    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(counter.count, ["hello world"] * 8)) == {2}
    assert loads == ["cl100k_base"]
