"""RuleExtractor; rules whose keywords occur."""

from collections.abc import Iterable, Iterator, Sequence

from memsidecar.domain.fact import MULTI_VALUED_TYPES, FactType
from memsidecar.domain.message import Role
from memsidecar.language.contract import Finding, Utterance
from memsidecar.language.rules import interests, location, preferences, profile, retractions, tasks, topics, work
from memsidecar.language.rules.assertions import Heard, Listener, assertions, hands_over, takes_back
from memsidecar.language.rules.keywords import Gate, Vocabulary, implying_words
from memsidecar.language.rules.normalization import in_full
from memsidecar.language.rules.pattern_keywords import most_telling_first
from memsidecar.language.rules.rule import Claim, Form, Rule
from memsidecar.language.rules.user_text import Sentence


class Shortlist:
    """Rules, by the mark of what they need that is seldom met."""

    def __init__(self, vocabulary: Vocabulary, rules: Iterable[Rule]) -> None:
        self._rules = tuple(rules)
        self._gates: dict[int, list[tuple[int, Gate]]] = {}
        for at, rule in enumerate(self._rules):
            for way in rule.ways:
                gate = vocabulary.gate(way)
                self._gates.setdefault(vocabulary.mark(most_telling_first(way)[0]), []).append((at, gate))
        self._signs = sum(self._gates)

    def of(self, marks: int) -> list[Rule]:
        """In their order."""
        found: set[int] = set()
        signs = marks & self._signs
        while signs:
            lowest = signs & -signs
            found.update(at for at, gate in self._gates[lowest] if gate.is_open(marks))
            signs ^= lowest
        return [self._rules[at] for at in sorted(found)]


FINDINGS_PER_MESSAGE = 20
"Nobody tells more of themselves in one message; who seems to, pasted it."

FORMS: list[Form] = [
    *profile.FORMS,
    *work.FORMS,
    *location.FORMS,
    *interests.FORMS,
    *preferences.FORMS,
    *tasks.FORMS,
    *topics.FORMS,
    *retractions.FORMS,
]
RULES: list[Rule] = [
    topics.left_open,
    *(form.rule() for form in FORMS),
    profile.signed,
    interests.favorite,
    preferences.standing_order,
    tasks.events,
    interests.feelings,
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
        value = claim.value.lower() if claim.type in MULTI_VALUED_TYPES or not claim.holds else ""
        slot = (claim.type, claim.key, value, claim.holds)
        last.pop(slot, None)
        last[slot] = claim
    return list(last.values())
