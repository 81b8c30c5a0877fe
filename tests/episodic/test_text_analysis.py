"""Text analysis: the same terms for messages and queries, in RAM and in the index."""

import unicodedata

import pytest
import regex
from hypothesis import assume, example, given
from hypothesis import strategies as st

from memsidecar.layers.episodic.query import SearchQuery, analyze_query, remove_names
from memsidecar.layers.text_analysis import (
    MAX_QUERY_TERMS,
    content_terms_or_all,
    drop_bigram_characters,
    has_question_mark,
    index_terms,
    is_unsegmented,
    parse_index_terms,
    query_terms,
    stem,
    text_length,
    tokenize,
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
    """Return the terms by a simple definition that ignores unspaced scripts."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return regex.findall(r"[\p{L}\p{M}\p{N}]+", folded)


@given(st.text(max_size=200))
def test_index_terms_parse_to_the_tokens_of_the_text(text: str) -> None:
    assert parse_index_terms(index_terms(text)) == (tokenize(text), has_question_mark(text))


@given(st.text(max_size=200))
def test_no_token_has_a_separator_or_white_space(text: str) -> None:
    for word in tokenize(text):
        assert word.split() == [word]
        assert "~" not in word


@given(LETTERS)
def test_letters_of_any_script_are_tokens(text: str) -> None:
    assert tokenize(text)


@given(LETTERS)
def test_spelling_and_casing_do_not_matter(text: str) -> None:
    for other in (text.upper(), text.lower(), text.title(), text.swapcase()):
        if other.casefold() == text.casefold():
            assert tokenize(other) == tokenize(text)
    for form in ("NFC", "NFD", "NFKC", "NFKD"):
        assert tokenize(unicodedata.normalize(form, text)) == tokenize(text)


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
def test_equivalent_words_have_the_same_stem(one: str, other: str) -> None:
    assert tokenize(one) == tokenize(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [("cafe", "café"), ("uber", "über"), ("दल", "दिल"), ("ان", "أن"), ("กิน", "กัน"), ("か", "が"), ("igdır", "iğdır")],
)
def test_different_words_have_different_stems(one: str, other: str) -> None:
    assert not set(tokenize(one)) & set(tokenize(other)) - {"น"}


@given(st.text(max_size=200) | st.text(st.characters(max_codepoint=0x1FFF), max_size=50))
@example("Don’t — naïve café, Straße 4711, getUserById, max_retry_count")
@example("Мы переехали, दिल्ली में, Tôi thích ăn phở, ½ x² Ⅷ 🎉 ﬁn ا")
def test_tokens_of_spaced_scripts_are_runs_of_letters_marks_and_digits(text: str) -> None:
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    assume(not SPELT_OTHERWISE.search(folded))
    assert tokenize(text) == runs_of_letters(text)
    assert text_length(tokenize(text)) == len(runs_of_letters(text))


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
def test_unspaced_text_has_characters_and_bigrams_as_tokens(text: str, words: str) -> None:
    assert tokenize(text) == words.split()


@given(RUNS, st.data())
def test_every_part_of_a_run_is_found_in_it(run: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(run) - 1))
    part = run[start : data.draw(st.integers(start + 1, len(run)))]
    assert set(tokenize(part)) <= set(tokenize(f"see {run}!"))


@given(st.text(max_size=30) | RUNS)
def test_every_bigram_comes_with_its_characters(text: str) -> None:
    words = tokenize(text)
    left = drop_bigram_characters(words)
    assert set(left) <= set(words)
    assert set(tokenize(" ".join(left))) == set(words)


@given(st.lists(RUNS, max_size=4))
def test_the_length_of_unspaced_text_is_its_number_of_characters(runs: list[str]) -> None:
    text = unicodedata.normalize("NFKC", " ".join(runs))
    assert text_length(tokenize(text)) == len(text.replace(" ", ""))


def test_a_query_counts_its_bigrams_and_not_their_characters() -> None:
    numbers = "".join(chr(0x4E00 + at) for at in range(MAX_QUERY_TERMS - 1))
    query = analyze_query(SearchQuery(f"{numbers}咖啡"), [], None)
    assert len(query.words) == MAX_QUERY_TERMS and query.words[-1] == "咖啡"
    assert {"咖啡", "咖", "啡"} <= set(query.content)


def test_an_unspaced_name_matches_as_a_whole() -> None:
    speakers = [frozenset({"小王"}), frozenset({"ann"})]
    assert analyze_query(SearchQuery("小王说了什么"), speakers, None).names == {"小王"}
    assert analyze_query(SearchQuery("王府井在哪里"), speakers, None).names == frozenset()
    assert remove_names("小王 说了什么", {"小王"}) == "说了什么"
    assert remove_names("Ann's 小王说了什么", {"小王", "ann"}) == "小王说了什么"


@given(st.lists(LETTERS, max_size=6))
def test_tokens_of_spaced_text_are_their_own_tokens(words: list[str]) -> None:
    once = tokenize(" ".join(words))
    assume(not any(map(is_unsegmented, once)))
    assert tokenize(" ".join(once)) == once


@pytest.mark.parametrize("word", ["run", "running", "runs", "Runs"])
@pytest.mark.parametrize("text", ["I run.", "running late", "she runs"])
def test_every_inflection_is_found_by_every_other(word: str, text: str) -> None:
    assert set(query_terms(tokenize(word))) & set(index_terms(text).split(" "))


@given(LETTERS, LETTERS)
def test_words_of_one_stem_are_found_by_each_other(one: str, other: str) -> None:
    (left, *rest), right = tokenize(one), tokenize(other)
    assume(not rest and len(right) == 1)
    same = stem(left) == stem(right[0])
    assert bool(set(query_terms([left])) & set(index_terms(other).split(" "))) == same


def test_a_query_of_stop_words_keeps_them() -> None:
    assert content_terms_or_all(["the", "the", "of"]) == ["the", "of"]
    assert content_terms_or_all(["the", "cat", "of", "cat"]) == ["cat"]


@given(st.text(max_size=50))
def test_a_text_with_a_question_mark_is_a_question(text: str) -> None:
    assert has_question_mark(text + "?") and has_question_mark(text + "？") and has_question_mark("؟" + text)
    assert has_question_mark(text) == any(sign in text for sign in "?？؟")
