"""Words: the same for what is said and what is asked, in RAM and in the index."""

import unicodedata

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from memsidecar.layers.episodic.words import as_written, asked, asks, content_words, indexed, stem, words_of

LETTERS = st.text(st.characters(categories=["L"]), min_size=1, max_size=12)


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
    ],
)
def test_these_are_the_same_word(one: str, other: str) -> None:
    assert words_of(one) == words_of(other)


@given(st.lists(LETTERS, max_size=6))
def test_words_of_words_are_themselves(words: list[str]) -> None:
    once = words_of(" ".join(words))
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
