"""Which facts to show first for a question. What is chosen stands in a fixed order, for the sake of prompt caches."""

from collections.abc import Sequence

from memsidecar.domain.fact import FactType
from memsidecar.layers.episodic.words import content_words, stem, words_of
from memsidecar.layers.semantic.fact import KnownFact

MUCH_ASKED_FOR = 0.5
"From this share of its words on a fact is what the query is about. Less may be chance, and every change of the chosen"
"facts is a new beginning of the prompt, which no cache knows."


def ordered(facts: Sequence[KnownFact], query: str) -> list[KnownFact]:
    """Pinned ones, then who the user is, then what the query is about, then the surest and oldest."""
    asked = frozenset(map(stem, content_words(words_of(query))))
    return sorted(facts, key=lambda fact: (_rank(fact), -_relevance(fact, asked), -fact.confidence, _age(fact)))


def _age(fact: KnownFact) -> tuple[int, str, str]:
    return fact.extracted_us, fact.key, fact.value


def _relevance(fact: KnownFact, asked: frozenset[str]) -> float:
    """The share of the words of its value that are asked for, where that is much."""
    folded = fact.value.casefold()
    if not any(word in folded for word in asked):
        return 0.0  # nearly always, and much sooner than by taking it apart
    said = frozenset(map(stem, content_words(words_of(fact.value))))
    share = len(said & asked) / len(said) if said else 0.0
    return share if share >= MUCH_ASKED_FOR else 0.0


def _rank(fact: KnownFact) -> int:
    return 0 if fact.pinned else 1 if fact.type is FactType.USER_PROFILE else 2


def text_of(fact: KnownFact) -> str:
    """Where the value stands in the key, because there are many of a kind, it is said once."""
    kind, _, rest = fact.key.partition(":")
    key = kind if rest == fact.value else fact.key
    return f"{key.replace('_', ' ')}: {fact.value}"
