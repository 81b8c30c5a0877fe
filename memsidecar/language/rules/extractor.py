"""FactExtractor by rules: English statements of the user about themselves, without a model."""

from collections.abc import Iterator, Sequence

from memsidecar.domain.fact import MULTI_VALUED_TYPES, FactType
from memsidecar.domain.message import Role
from memsidecar.language.contract import Finding, Utterance
from memsidecar.language.rules import (
    interests,
    location,
    preferences,
    profile,
    retractions,
    tasks,
    topics,
    wishes,
    work,
)
from memsidecar.language.rules.assertions import assertions, introduces_quote, read_sentences, retracts_as_joke
from memsidecar.language.rules.normalization import expand_answer
from memsidecar.language.rules.rule import FactClaim, Rule, RuleIndex
from memsidecar.language.rules.user_text import Sentence

MAX_FINDINGS_PER_MESSAGE = 20
"A message with more statements of the user about themselves is pasted text."

RULES: list[Rule] = [
    *profile.RULES,
    *work.RULES,
    *location.RULES,
    *interests.RULES,
    *preferences.RULES,
    *wishes.RULES,
    *tasks.RULES,
    *topics.RULES,
    *retractions.RULES,
    profile.signature,
    interests.favorite,
    wishes.standing_order,
    wishes.unwanted,
    tasks.event,
    interests.feeling,
    retractions.cancelled_reminder,
]
"Tried on the clauses that assert something."

_INDEX = RuleIndex(RULES)


class RuleExtractor:
    """FactExtractor that is deterministic, local and thread-safe. It reads English only."""

    @property
    def origin(self) -> str:
        return "rules"

    def extract(self, utterances: Sequence[Utterance]) -> Sequence[Finding]:
        return [
            Finding(claim.type, claim.key, claim.value, claim.confidence, (utterance.message_id,), claim.holds)
            for at, utterance in enumerate(utterances)
            if utterance.role == Role.USER
            for claim in _latest(_claims(expand_answer(utterances, at)))[:MAX_FINDINGS_PER_MESSAGE]
        ]


def _claims(text: str) -> list[FactClaim]:
    claims: list[FactClaim] = []
    for sentence in read_sentences(text):
        if retracts_as_joke(sentence):
            claims.clear()
        if introduces_quote(sentence):
            break
        claims.extend(_sentence_claims(sentence))
    return claims


def _sentence_claims(sentence: Sentence) -> Iterator[FactClaim]:
    yield from topics.open_questions(sentence.text)
    for clause in assertions(sentence):
        for rule in _INDEX.candidates(clause):
            yield from rule.claims(clause)


def _latest(claims: list[FactClaim]) -> list[FactClaim]:
    """Return the last claim of each key. Types with many values, and retractions, keep each value once."""
    latest: dict[tuple[FactType, str, str, bool], FactClaim] = {}
    for claim in claims:
        value = claim.value.lower() if claim.type in MULTI_VALUED_TYPES or not claim.holds else ""
        conflict_key = (claim.type, claim.key, value, claim.holds)
        latest.pop(conflict_key, None)
        latest[conflict_key] = claim
    return list(latest.values())
