"""What is looked for before an expensive pattern is tried: without it, the pattern cannot match."""

import re

from hypothesis import given
from hypothesis import strategies as st

from memsidecar.layers import text_analysis as episodic_words
from memsidecar.layers.procedural import style

ASCII = st.text(st.characters(max_codepoint=127))


def matching(pattern: str) -> st.SearchStrategy[str]:
    return st.from_regex(re.compile(pattern), fullmatch=True)


@given(matching(style._CONCISE.pattern))
def test_no_wish_for_short_answers_without_a_sign_of_it(line: str) -> None:
    assert any(sign in line for sign in style._CONCISE_KEYWORDS)


@given(matching(style._DETAILED.pattern))
def test_no_wish_for_long_answers_without_a_sign_of_it(line: str) -> None:
    assert any(sign in line for sign in style._DETAILED_KEYWORDS)


@given(matching(style._IDENTIFIER.pattern))
def test_no_identifier_without_a_sign_of_it(prose: str) -> None:
    assert style._count_identifiers(prose) == len(style._IDENTIFIER.findall(prose))


@given(ASCII)
def test_the_words_of_plain_text_are_those_of_any_text(text: str) -> None:
    assert style.prose_words(text) == [word.removesuffix("'s") for word in style._PROSE_WORD.findall(text.lower())]
    assert episodic_words.tokenize(text) == episodic_words._WORD.findall(text.lower())


@given(st.text(st.sampled_from("`~> htps:/w.\nab"), max_size=60))
def test_nothing_foreign_without_its_signs(text: str) -> None:
    everything = text
    for _, pattern in style._FOREIGN:
        everything = pattern.sub("\n", everything)
    assert style.extract_prose(text) == everything
