"""Rules that find claims in a clause, and the keywords that make a rule a candidate for it."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from memsidecar.domain.fact import FactType

_WORD = re.compile(r"[a-z]+")


class FactClaim(NamedTuple):
    """A finding without its source message."""

    type: FactType
    key: str
    value: str
    confidence: float
    holds: bool = True
    updates: bool = False


class Rule(Protocol):
    """Finds claims in a text. A text without any of the `keywords` has no claims: the rule need not be tried on it."""

    @property
    def keywords(self) -> frozenset[str]: ...

    def claims(self, text: str) -> Iterable[FactClaim]: ...


class RuleIndex:
    """Rules by their keywords."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        self._rules = tuple(rules)
        self._by_keyword: dict[str, list[int]] = {}
        for number, rule in enumerate(self._rules):
            for keyword in rule.keywords:
                self._by_keyword.setdefault(keyword, []).append(number)

    def candidates(self, text: str) -> list[Rule]:
        """Return the rules that have a keyword in the text, in their original order."""
        numbers: set[int] = set()
        for word in _words(text):
            numbers.update(self._by_keyword.get(word, ()))
        return [self._rules[number] for number in sorted(numbers)]


def keyword_set(keywords: str) -> frozenset[str]:
    """Return the words of a text as an index compares them: "to-do" has two, and so has "I'll"."""
    return frozenset(_words(keywords))


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


ReadValues = Callable[[str], Iterable[str]]
"Returns the values in the rest of a clause, behind the matched pattern; none where the rest does not fit."
Key = str | Callable[[str], str]
"The key of a claim, or a function that makes it from the value."


@dataclass(frozen=True)
class PatternRule:
    """Matches `pattern` at the start of a clause without regard to case; `read` takes the values from what follows."""

    pattern: str
    keywords: frozenset[str]
    type: FactType
    key: Key
    read: ReadValues
    confidence: float
    holds: bool = True
    _compiled: re.Pattern[str] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_compiled", re.compile(self.pattern, re.IGNORECASE))

    def claims(self, text: str) -> Iterator[FactClaim]:
        match = self._compiled.match(text)
        if match is None:
            return
        for value in self.read(text[match.end() :]):
            key = self.key if isinstance(self.key, str) else self.key(value)
            yield FactClaim(self.type, key, value, self.confidence, self.holds)


def pattern_rules(
    kind: FactType, key: Key, *rows: tuple[str, str, ReadValues, float], holds: bool = True
) -> list[PatternRule]:
    """Make rules for one type and key from rows of pattern, keywords, reader and confidence."""
    return [
        PatternRule(pattern, keyword_set(keywords), kind, key, read, confidence, holds)
        for pattern, keywords, read, confidence in rows
    ]


@dataclass(frozen=True)
class FunctionRule:
    """A rule that is more than one pattern."""

    keywords: frozenset[str]
    claims: Callable[[str], Iterable[FactClaim]]


def with_keywords(keywords: str) -> Callable[[Callable[[str], Iterable[FactClaim]]], FunctionRule]:
    """Make a rule of a function that finds nothing in a text without any of the keywords."""
    return lambda claims: FunctionRule(keyword_set(keywords), claims)


def reading(pattern: str, group: int = 0, flags: int = re.IGNORECASE) -> ReadValues:
    """Return a reader whose value is what the pattern matches at the start of the rest."""
    compiled = re.compile(pattern, flags)

    def read(rest: str) -> Iterator[str]:
        match = compiled.match(rest)
        if match:
            yield match[group]

    return read
