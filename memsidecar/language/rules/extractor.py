"""The rules, all of them, over what the user said."""

from collections.abc import Iterator, Sequence

from memsidecar.domain.fact import LISTS, FactType
from memsidecar.domain.message import Role
from memsidecar.language.contract import Finding, Utterance
from memsidecar.language.rules import (
    feelings,
    identity,
    livelihood,
    plans,
    preferences,
    retractions,
    tastes,
    threads,
    whereabouts,
)
from memsidecar.language.rules.answers import in_full
from memsidecar.language.rules.doubts import assertions, hands_over, takes_back
from memsidecar.language.rules.forms import Claim, Form, Rule
from memsidecar.language.rules.heard import Heard, Listener
from memsidecar.language.rules.sentences import Sentence
from memsidecar.language.rules.shortlist import Shortlist
from memsidecar.language.rules.vocabulary import Vocabulary, implying_words

FINDINGS_PER_MESSAGE = 20
"Nobody tells more of themselves in one message; who seems to, pasted it."

FORMS: list[Form] = [
    *identity.FORMS,
    *livelihood.FORMS,
    *whereabouts.FORMS,
    *tastes.FORMS,
    *preferences.FORMS,
    *plans.FORMS,
    *threads.FORMS,
    *retractions.FORMS,
]
RULES: list[Rule] = [
    threads.left_open,
    *(form.rule() for form in FORMS),
    identity.signed,
    tastes.favorite,
    preferences.standing_order,
    plans.events,
    feelings.feelings,
    retractions.called_off,
]
_VOCABULARY = Vocabulary(implying_words())
_LISTENER = Listener(_VOCABULARY)
_SHORTLIST = Shortlist(_VOCABULARY, RULES)


class RuleExtractor:
    """Facts by rule: at once, without a model, the same for the same words. Of other tongues than English, nothing."""

    @property
    def origin(self) -> str:
        return "rules"

    def extract(self, utterances: Sequence[Utterance]) -> Sequence[Finding]:
        spoken = (at for at, one in enumerate(utterances) if one.role == Role.USER)
        return [finding for at in spoken for finding in _findings(utterances[at].message_id, in_full(utterances, at))]


def _findings(message_id: str, text: str) -> Iterator[Finding]:
    for claim in _current(_claims(text))[:FINDINGS_PER_MESSAGE]:
        yield Finding(claim.type, claim.key, claim.value, claim.confidence, (message_id,), claim.holds)


def _claims(text: str) -> list[Claim]:
    found: list[Claim] = []
    passed: list[Heard] = []
    for heard in _LISTENER.hear(text):
        rules = _SHORTLIST.of(heard.marks)
        joked = bool(found) and takes_back(heard.meant())
        # Where there is nothing to find it does not matter whose words they are: only once something follows them.
        if not rules and not joked:
            passed.append(heard)
            continue
        if any(hands_over(one.meant()) for one in passed):
            break
        passed.clear()
        if joked:
            found.clear()
        if hands_over(heard.meant()):
            break
        found.extend(_told(heard.meant(), rules))
    return found


def _told(sentence: Sentence, rules: list[Rule]) -> Iterator[Claim]:
    yield from (claim for rule in rules if rule.of_sentence for claim in rule.claims(sentence.text))
    of_clauses = [rule for rule in rules if not rule.of_sentence]
    for clause in assertions(sentence) if of_clauses else ():
        yield from (claim for rule in of_clauses for claim in rule.claims(clause))


def _current(claims: list[Claim]) -> list[Claim]:
    """Where one value is kept under a key, the last that was said; where many, each once."""
    last: dict[tuple[FactType, str, str, bool], Claim] = {}
    for claim in claims:
        value = claim.value.lower() if claim.type in LISTS or not claim.holds else ""
        slot = (claim.type, claim.key, value, claim.holds)
        last.pop(slot, None)
        last[slot] = claim
    return list(last.values())
