"""Keyword prefilters of expensive patterns: without a keyword, the pattern cannot match."""

import re

from hypothesis import given
from hypothesis import strategies as st

from memsidecar.layers import text_analysis as episodic_words
from memsidecar.layers.procedural import style

ASCII = st.text(st.characters(max_codepoint=127))


def matching(pattern: str) -> st.SearchStrategy[str]:
    return st.from_regex(re.compile(pattern), fullmatch=True)


@given(matching(style._CONCISE.pattern))
def test_the_concise_pattern_needs_a_keyword(line: str) -> None:
    assert any(sign in line for sign in style._CONCISE_KEYWORDS)


@given(matching(style._DETAILED.pattern))
def test_the_detailed_pattern_needs_a_keyword(line: str) -> None:
    assert any(sign in line for sign in style._DETAILED_KEYWORDS)


@given(matching(style._IDENTIFIER.pattern))
def test_the_identifier_pattern_needs_a_sign(prose: str) -> None:
    assert style._count_identifiers(prose) == len(style._IDENTIFIER.findall(prose))


@given(ASCII)
def test_the_fast_path_for_ascii_finds_the_same_words(text: str) -> None:
    assert style.prose_words(text) == [word.removesuffix("'s") for word in style._PROSE_WORD.findall(text.lower())]
    assert episodic_words.tokenize(text) == episodic_words._WORD.findall(text.lower())


@given(st.text(st.sampled_from("`~> htps:/w.\nab"), max_size=60))
def test_the_prefilter_of_other_scripts_misses_nothing(text: str) -> None:
    everything = text
    for _, pattern in style._FOREIGN:
        everything = pattern.sub("\n", everything)
    assert style.extract_prose(text) == everything
