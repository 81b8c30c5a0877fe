"""Words: the same for what is said and what is asked, in RAM and in the index."""

import unicodedata

import pytest
import regex
from hypothesis import assume, example, given
from hypothesis import strategies as st

from memsidecar.layers.episodic.query import WORDS_COUNTED, analysed, without
from memsidecar.layers.text_analysis import (
    as_written,
    asked,
    asks,
    content_words,
    indexed,
    is_unspaced,
    length_of,
    stem,
    without_characters,
    words_of,
)

LETTERS = st.text(st.characters(categories=["L"]), min_size=1, max_size=12)
RUNS = st.text(st.sampled_from("咖啡店我々〇猫のはアーラﾗｰメ서울에가ชกราดປລកខမန"), min_size=1, max_size=12)
"""What is written without blanks."""
SPELT_OTHERWISE = regex.compile(
    r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}\u3006\u3031-\u3035\u303c\u30fc]"
    r"|[\p{M}&&[\u0590-\u05ff\u0600-\u06ff]]|i\u0307",
    regex.V1,
)
"""What gives other words than runs of letters, marks and digits."""


def runs_of_letters(text: str) -> list[str]:
    """All that words were, before scripts without blanks were thought of."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return regex.findall(r"[\p{L}\p{M}\p{N}]+", folded)


@given(st.text(max_size=200))
def test_what_is_indexed_is_read_back_as_the_words_of_the_text(text: str) -> None:
    assert as_written(indexed(text)) == (words_of(text), asks(text))


@given(st.text(max_size=200))
def test_no_word_has_a_sign_of_ours_or_white_space(text: str) -> None:
    for word in words_of(text):
        assert word.split() == [word]
        assert "~" not in word


@given(LETTERS)
def test_letters_of_any_script_are_words(text: str) -> None:
    assert words_of(text)


@given(LETTERS)
def test_spelling_and_casing_do_not_matter(text: str) -> None:
    for other in (text.upper(), text.lower(), text.title(), text.swapcase()):
        if other.casefold() == text.casefold():
            assert words_of(other) == words_of(text)
    for form in ("NFC", "NFD", "NFKC", "NFKD"):
        assert words_of(unicodedata.normalize(form, text)) == words_of(text)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Straße", "STRASSE"),
        ("ＡＢＣ", "abc"),
        ("ﬁn", "FIN"),
        ("ΟΔΥΣΣΕΥΣ", "οδυσσευς"),
        ("café", "cafe\u0301"),
        ("ΐ", "Ϊ́"),
        ("الكتاب", "الكتابُ"),
        ("هذا", "هٰذَا"),
        ("שלום", "שָׁלוֹם"),
        ("İstanbul", "istanbul"),
        ("İSTANBUL", "ISTANBUL"),
        ("ﾗｰﾒﾝ", "ラーメン"),
        ("ガ", "カ\u3099"),
    ],
)
def test_these_are_the_same_word(one: str, other: str) -> None:
    assert words_of(one) == words_of(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [("cafe", "café"), ("uber", "über"), ("दल", "दिल"), ("ان", "أن"), ("กิน", "กัน"), ("か", "が"), ("igdır", "iğdır")],
)
def test_these_are_different_words(one: str, other: str) -> None:
    assert not set(words_of(one)) & set(words_of(other)) - {"น"}


@given(st.text(max_size=200) | st.text(st.characters(max_codepoint=0x1FFF), max_size=50))
@example("Don’t — naïve café, Straße 4711, getUserById, max_retry_count")
@example("Мы переехали, दिल्ली में, Tôi thích ăn phở, ½ x² Ⅷ 🎉 ﬁn ا")
def test_without_these_scripts_words_are_runs_of_letters_marks_and_digits(text: str) -> None:
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    assume(not SPELT_OTHERWISE.search(folded))
    assert words_of(text) == runs_of_letters(text)
    assert length_of(words_of(text)) == len(runs_of_letters(text))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("咖啡。", "咖 啡 咖啡"),
        ("使用LanceDB数据库", "使 用 使用 lancedb 数 据 库 数据 据库"),
        ("PS5を買った", "ps5 を 買 っ た を買 買っ った"),
        ("ラーメン", "ラ ー メ ン ラー ーメ メン"),
        ("人々", "人 々 人々"),
        ("3月5日", "3 月 5 日"),
        ("서울에 가", "서 울 에 서울 울에 가"),
        ("ผัด", "ผั ด ผัด"),
        ("๒๕๖๗", "๒๕๖๗"),
        ("ດີ", "ດີ"),
        ("មាន", "មា ន មាន"),
        ("မြန်မာ", "မြ န် မာ မြန် န်မာ"),
        ("é数", "é 数"),
    ],
)
def test_without_blanks_each_character_and_each_pair_is_a_word(text: str, words: str) -> None:
    assert words_of(text) == words.split()


@given(RUNS, st.data())
def test_every_part_of_a_run_is_found_in_it(run: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(run) - 1))
    part = run[start : data.draw(st.integers(start + 1, len(run)))]
    assert set(words_of(part)) <= set(words_of(f"see {run}!"))


@given(st.text(max_size=30) | RUNS)
def test_nobody_has_the_pairs_and_not_the_characters(text: str) -> None:
    words = words_of(text)
    left = without_characters(words)
    assert set(left) <= set(words)
    assert set(words_of(" ".join(left))) == set(words)


@given(st.lists(RUNS, max_size=4))
def test_a_text_without_blanks_is_as_long_as_its_characters(runs: list[str]) -> None:
    text = unicodedata.normalize("NFKC", " ".join(runs))
    assert length_of(words_of(text)) == len(text.replace(" ", ""))


def test_the_pairs_of_a_query_are_counted_and_not_their_characters() -> None:
    numbers = "".join(chr(0x4E00 + at) for at in range(WORDS_COUNTED - 1))
    query = analysed(f"{numbers}咖啡", [], None)
    assert len(query.words) == WORDS_COUNTED and query.words[-1] == "咖啡"
    assert {"咖啡", "咖", "啡"} <= set(query.content)


def test_a_name_without_blanks_is_known_whole_and_takes_nothing_else_out_of_the_query() -> None:
    speakers = [frozenset({"小王"}), frozenset({"ann"})]
    assert analysed("小王说了什么", speakers, None).names == {"小王"}
    assert analysed("王府井在哪里", speakers, None).names == frozenset()
    assert without("小王 说了什么", {"小王"}) == "说了什么"
    assert without("Ann's 小王说了什么", {"小王", "ann"}) == "小王说了什么"


@given(st.lists(LETTERS, max_size=6))
def test_words_of_words_are_themselves_where_blanks_are_written(words: list[str]) -> None:
    once = words_of(" ".join(words))
    assume(not any(map(is_unspaced, once)))
    assert words_of(" ".join(once)) == once


@pytest.mark.parametrize("word", ["run", "running", "runs", "Runs"])
@pytest.mark.parametrize("text", ["I run.", "running late", "she runs"])
def test_every_inflection_is_found_by_every_other(word: str, text: str) -> None:
    assert set(asked(words_of(word))) & set(indexed(text).split(" "))


@given(LETTERS, LETTERS)
def test_words_of_one_stem_are_found_by_each_other(one: str, other: str) -> None:
    (left, *rest), right = words_of(one), words_of(other)
    assume(not rest and len(right) == 1)
    same = stem(left) == stem(right[0])
    assert bool(set(asked([left])) & set(indexed(other).split(" "))) == same


def test_a_query_of_function_words_keeps_them() -> None:
    assert content_words(["the", "the", "of"]) == ["the", "of"]
    assert content_words(["the", "cat", "of", "cat"]) == ["cat"]


@given(st.text(max_size=50))
def test_a_text_asks_where_it_has_a_question_mark(text: str) -> None:
    assert asks(text + "?") and asks(text + "？") and asks("؟" + text)
    assert asks(text) == any(sign in text for sign in "?？؟")
