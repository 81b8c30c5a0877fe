"""Keywords only save time: the rules that have a keyword in a clause find what all rules find in it."""

import re
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from benchmarks.facts import read_cases
from memsidecar.domain.message import Role
from memsidecar.language.rules import (
    attributes,
    german,
    german_text,
    interests,
    people,
    possessions,
    profile,
    retractions,
    tasks,
    tools,
    wishes,
)
from memsidecar.language.rules.assertions import assertions, read_sentences
from memsidecar.language.rules.extractor import RULES
from memsidecar.language.rules.normalization import is_german
from memsidecar.language.rules.rule import FactClaim, PatternRule, RuleIndex, keyword_set

INDEX = RuleIndex(RULES)
PATTERNS = [
    *dict.fromkeys(rule.pattern for rule in RULES if isinstance(rule, PatternRule)),
    *(pattern.pattern for pattern in (interests._FEELS, interests._FORWARD, interests._DRIVES, profile._SIGNATURE)),
    *(pattern.pattern for pattern in (tasks._DEADLINE, tasks._MINE, tasks._HAVING, tasks._TRAVEL)),
    *(pattern.pattern for pattern in (interests._FAVORITE, interests._IS_FAVORITE, wishes._STANDING, wishes._UNWANTED)),
    *(pattern.pattern for pattern in (people._RELATIVE, people._PET, people._HAVE, people._HAVE_PETS, people._IS_MY)),
    *(pattern.pattern for pattern in (tools._CHANGED, attributes._ATTRIBUTE, possessions._THING)),
    retractions._CANCELLED_REMINDER.pattern,
]
MESSAGES = [text for case in read_cases() for role, text in case.turns if role == Role.USER]
PHRASES = sorted({phrase for text in MESSAGES for phrase in re.split(r"(?<=[.,!?\n])\s+|\s(?=and |but )", text)})
WORDS = sorted({word for text in MESSAGES for word in text.split()})
ENDS = st.sampled_from(["", *WORDS])
sentences = st.lists(st.sampled_from(PHRASES) | st.sampled_from(WORDS), min_size=1, max_size=8).map(" ".join)


def by_all_rules(clause: str) -> list[FactClaim]:
    return [claim for rule in RULES for claim in rule.claims(clause)]


def by_candidates(clause: str) -> list[FactClaim]:
    return [claim for rule in INDEX.candidates(clause) for claim in rule.claims(clause)]


def clauses(text: str) -> list[str]:
    return [clause for sentence in read_sentences(text) for clause in assertions(sentence)]


def test_the_labelled_set_gives_the_same_claims_without_keywords() -> None:
    found = [by_candidates(clause) for text in MESSAGES for clause in clauses(text)]
    assert found == [by_all_rules(clause) for text in MESSAGES for clause in clauses(text)]
    assert any(found)


@given(text=sentences, case=st.sampled_from([str, str.lower, str.upper]))
@settings(deadline=None)
def test_any_sentence_gives_the_same_claims_without_keywords(text: str, case: Callable[[str], str]) -> None:
    for clause in (case(text), *clauses(case(text))):
        assert by_candidates(clause) == by_all_rules(clause)


@pytest.mark.long
@pytest.mark.parametrize("pattern", PATTERNS)
@given(data=st.data())
@settings(deadline=None, max_examples=5, suppress_health_check=list(HealthCheck))
def test_what_a_pattern_matches_gives_the_same_claims_without_keywords(pattern: str, data: st.DataObject) -> None:
    compiled = re.compile(pattern, re.IGNORECASE)
    clause = data.draw(st.from_regex(compiled, alphabet=st.characters(codec="ascii"))).lstrip()
    clause += data.draw(ENDS)
    assume(compiled.match(clause))
    assert by_candidates(clause) == by_all_rules(clause)


def test_german_sentences_give_the_same_claims_without_keywords() -> None:
    rules = [*german.RULES, german.named, german_text.order]
    said = [clause for text in MESSAGES if is_german(text) for clause in german_text.clauses(text)]
    found = [[claim for rule in german._INDEX.candidates(clause) for claim in rule.claims(clause)] for clause in said]
    assert found == [[claim for rule in rules for claim in rule.claims(clause)] for clause in said]
    assert any(found)


def test_most_that_is_said_calls_for_few_rules() -> None:
    said = ["How do I parse a file?", "what does this error mean", "I get a timeout after the deploy.", "thanks!"]
    assert all(len(INDEX.candidates(text)) < 0.1 * len(RULES) for text in said)


def test_a_keyword_is_a_whole_word_without_regard_to_case() -> None:
    rule = next(rule for rule in RULES if rule.keywords == keyword_set("born"))
    assert rule in INDEX.candidates("I was BORN, in Rome")
    assert rule not in INDEX.candidates("a newborn")
