"""Rule, pattern table."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from memsidecar.domain.fact import FactType
from memsidecar.language.rules.pattern_keywords import Way, ways_of


class Claim(NamedTuple):
    """A finding before it is known in which message it was."""

    type: FactType
    key: str
    value: str
    confidence: float
    holds: bool = True


class Rule(NamedTuple):
    """Reads a clause, or a whole `sentence`, even one that asks; without the words that it needs it finds nothing."""

    claims: Callable[[str], Iterable[Claim]]
    ways: tuple[Way, ...]
    of_sentence: bool = False


def matching(
    *patterns: re.Pattern[str], of_sentence: bool = False
) -> Callable[[Callable[[str], Iterable[Claim]]], Rule]:
    """Makes a rule of what finds something only where one of the patterns matches."""
    ways = ways_of(*(pattern.pattern for pattern in patterns))
    return lambda claims: Rule(claims, ways, of_sentence)


Reader = Callable[[str], Iterable[str]]
"The values in the rest of a clause; none where it is not what it began as."
Key = str | Callable[[str], str]


class Selective:
    """A reader that finds nothing unless the rest begins as the pattern says, and has what one of the ways needs."""

    def __init__(self, read: Reader, pattern: str = "", ways: tuple[Way, ...] = ((),)) -> None:
        self._read = read
        self.pattern = pattern
        self.ways = ways

    def __call__(self, rest: str) -> Iterable[str]:
        return self._read(rest)


def beginning(pattern: str, group: int = 0, flags: int = re.IGNORECASE) -> Selective:
    """Reads what the rest begins with, where it does as the pattern says."""
    compiled = re.compile(pattern, flags)

    def read(rest: str) -> Iterator[str]:
        match = compiled.match(rest)
        if match:
            yield match[group]

    return Selective(read, pattern)


@dataclass(frozen=True)
class Form:
    """`begins` is matched at the clause's start without regard to case; `key` may be made from the value."""

    begins: str
    type: FactType
    key: Key
    read: Reader
    confidence: float
    holds: bool = True
    pattern: re.Pattern[str] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "pattern", re.compile(self.begins, re.IGNORECASE))

    def rule(self) -> Rule:
        if not isinstance(self.read, Selective):
            return Rule(self.claims, ways_of(self.begins))
        ways = ways_of(f"(?:{self.begins})(?:{self.read.pattern})" if self.read.pattern else self.begins)
        return Rule(self.claims, tuple((*way, *other) for way in ways for other in self.read.ways))

    def claims(self, clause: str) -> Iterator[Claim]:
        match = self.pattern.match(clause)
        if match is None:
            return
        for value in self.read(clause[match.end() :]):
            key = self.key if isinstance(self.key, str) else self.key(value)
            yield Claim(self.type, key, value, self.confidence, self.holds)


def table(kind: FactType, key: Key, *rows: tuple[str, Reader, float], holds: bool = True) -> list[Form]:
    """The ways to say one thing, each with how it begins, who reads on, and how sure that is."""
    return [Form(begins, kind, key, read, confidence, holds) for begins, read, confidence in rows]
