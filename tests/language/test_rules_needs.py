"""No rule is left untried where it would find something: what its patterns match has the words that let it through."""

import re
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from benchmarks.facts import read_cases
from memsidecar.domain.message import Role
from memsidecar.language.rules import interests, preferences, profile, retractions, tasks, topics
from memsidecar.language.rules.extractor import FORMS, RULES, Shortlist
from memsidecar.language.rules.keywords import Vocabulary, implying_words, words_of
from memsidecar.language.rules.normalization import MEANT, may_be_a_correction
from memsidecar.language.rules.pattern_keywords import CAPITAL, need_of, ways_of
from memsidecar.language.rules.tasks import _WHEN

_PATTERNS = [
    *dict.fromkeys(form.begins for form in FORMS),
    *(one.pattern for one in (interests._FEELS, interests._FORWARD, interests._DRIVES, topics._LABELLED, _WHEN)),
    *(one.pattern for one in (tasks._DEADLINE, tasks._MINE, tasks._HAVING, tasks._TRAVEL, tasks._ERRAND)),
    *(one.pattern for one in (interests._FAVORITE, interests._IS_FAVORITE, preferences._STANDING)),
    *(one.pattern for one in (retractions._CALLED_OFF, profile._HERE)),
]
_SAID = [text for case in read_cases() for role, text in case.turns if role == Role.USER]
_PIECES = sorted({piece for text in _SAID for piece in re.split(r"(?<=[.,!?\n])\s+|\s(?=and |but )", text)})
_VOCABULARY = Vocabulary(implying_words())
_SHORTLIST = Shortlist(_VOCABULARY, RULES)


def _is_met(pattern: str, text: str) -> bool:
    return any(not way or _VOCABULARY.gate(way).is_open(_VOCABULARY.marks(text)) for way in ways_of(pattern))


@pytest.mark.long
@pytest.mark.parametrize("pattern", _PATTERNS)
@given(data=st.data())
@settings(deadline=None, max_examples=5, suppress_health_check=list(HealthCheck))
def test_what_a_pattern_matches_has_the_words_that_it_needs(pattern: str, data: st.DataObject) -> None:
    compiled = re.compile(pattern, re.IGNORECASE)
    text = data.draw(st.from_regex(compiled)).lstrip()
    assume(compiled.match(text))
    assert _is_met(pattern, text)


@given(
    pieces=st.lists(st.sampled_from(_PIECES), min_size=1, max_size=3),
    case=st.sampled_from([str, str.lower, str.upper]),
)
@settings(deadline=None)
def test_a_rule_that_finds_something_is_on_the_shortlist(pieces: list[str], case: Callable[[str], str]) -> None:
    clause = case(" ".join(pieces))
    listed = _SHORTLIST.of(_VOCABULARY.marks(f"so {clause}"))
    assert all(rule in listed for rule in RULES if list(rule.claims(clause)))


def test_most_that_is_said_calls_for_no_rule() -> None:
    asked = ["How do I parse a file?", "what does this error mean", "I get a timeout after the deploy.", "thanks!"]
    assert not any(_SHORTLIST.of(_VOCABULARY.marks(text)) for text in asked)


@pytest.mark.parametrize(
    ("pattern", "text", "is_met"),
    [
        (r"i (?:love|like) ", "we love it", False),
        (r"i (?:love|like) ", "I really like it", True),
        (r"calls? me ", "he recalls me", False),
        (r"i can't (?=.*\bnow\b)", "I can't go", False),
        (r"red|green", "redder", True),  # nothing says that it ends there
        (r"(?:red|green)\b", "redder", False),
        (r"(?:foo bar )?baz\b", "xbaz", False),
        (r"x(?:foo bar )?baz ", "xbaz ", True),
        (r"[\w ]{2,9} here\b", "nowhere", False),
        (r"\d{1,3} years", "many years", False),
        (r"\w+@\w+", "no address", False),
    ],
)
def test_needs_are_words(pattern: str, text: str, is_met: bool) -> None:
    assert _is_met(pattern, text) == is_met


@pytest.mark.parametrize("pattern", [r"(?i)a", r"\x41b", r"(a", r"a)", r"(a)\1"])
def test_a_pattern_that_cannot_be_read_is_refused(pattern: str) -> None:
    with pytest.raises(ValueError, match="cannot be read"):
        ways_of(pattern)


def test_what_needs_no_word_is_refused() -> None:
    with pytest.raises(ValueError, match="needs no word"):
        _VOCABULARY.gate(())


@pytest.mark.parametrize("letter", ["ı", "İ", "ſ", "\u212a"])
def test_letters_that_patterns_take_for_others_are_words_of_these(letter: str) -> None:
    (plain,) = [plain for plain in "isk" if re.match(plain, letter, re.IGNORECASE)]
    assert plain in words_of(letter)


@pytest.mark.parametrize("written", MEANT)
def test_a_word_implies_what_it_is_spelled_like(written: str) -> None:
    assert _VOCABULARY.gate((need_of([MEANT[written].lower()]),)).is_open(_VOCABULARY.marks(f"so {written} it"))


@pytest.mark.parametrize("meant", sorted({*MEANT, *MEANT.values()}))
def test_no_spelling_makes_a_correction(meant: str) -> None:
    assert not may_be_a_correction(f"{meant} Rome")
    assert not may_be_a_correction(f"no {meant} Rome")


@pytest.mark.parametrize(("text", "has"), [("I am Bob", True), ("When I go", False), ("I'm here, I'll go", False)])
def test_a_capital_is_one_within_the_sentence(text: str, has: bool) -> None:
    assert (CAPITAL in words_of(text)) == has
