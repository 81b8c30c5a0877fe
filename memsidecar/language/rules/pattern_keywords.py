"""Required words of a regex; goes when rules name their keywords."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from memsidecar.language.rules.lexicon import listed

ANYTHING = "\0"
"What a pattern leaves open. It grows together with the letters beside it: no word can be told from such a run."
GAP = " "
DIGIT, CAPITAL, AT = "0", "A", "@"
"Words of a kind: any digit is this word, and so is any capital letter but the first of a sentence and the pronoun."
FEW_TEXTS, MANY_TEXTS, TEXTS = 150, 500, 1_000
"With more ways to write one part than these, it is read in pieces, not told apart by order, or not gone through."

_RUN = re.compile(rf"[a-z{ANYTHING}]+|[{DIGIT}{AT}]")
_NO_GLUE = re.compile(rf"[^a-z{ANYTHING}]+")
_GLUE = re.compile(rf"[a-z{ANYTHING}]")
_DIGITS = re.compile(r"\d")
# The last letter before a quantifier is not of the word: it alone is repeated.
_LITERAL = re.compile(r"[a-zA-Z]+(?![?*+{])|[^\\()\[\]|?*+{}^$.]")
_PLAIN_CHOICE = re.compile(r"\(\?:([^\\()\[\]?*+{}^$.]*)\)")
_CLASS = re.compile(r"\[\]?(?:\\.|[^\]\\])*\]")
_OPEN_CLASS = re.compile(r"[a-zA-Z0-9\\^]")
_TIMES = re.compile(r"(?:([?*+])|\{(\d*)(?:,(\d*))?\})\??")
_GROUP = re.compile(r"\((?P<kind>\?(?:P<\w+>|-i:|:|<?[=!]))?")
_LOOKS_ASIDE = frozenset(("?!", "?<!", "?<="))
_EDGE_OF_A_WORD = re.compile(r"\(\?<?!(?:\\w|\[\\w[^\\\]]*\])\)")
_SHORTHANDS = {"w": ANYTHING, "d": DIGIT, "S": ANYTHING, "s": GAP, "W": GAP, "b": GAP, "^": GAP, "$": GAP}


class Need(NamedTuple):
    """One of the words, or all the words of one of the phrases."""

    words: frozenset[str]
    phrases: tuple[frozenset[str], ...] = ()

    def all_phrases(self) -> Iterable[frozenset[str]]:
        return (*(frozenset({word}) for word in self.words), *self.phrases)

    def signs(self) -> frozenset[str]:
        """Words without one of which it is not met."""
        return self.words.union(max(phrase, key=_rarity) for phrase in self.phrases)


Way = tuple[Need, ...]
"All that has to be met for one way in which a pattern may match."


def ways_of(*patterns: str) -> tuple[Way, ...]:
    """What a text needs for one of the patterns to match it, as far as it can be told: all of one of the ways.

    The match has to begin where a word does, and a word is a run of Latin letters in lower case, a digit or an @.
    """
    reader = _PatternReader("|".join(patterns))
    parts = reader.parts(bounded=True)
    if reader.at != len(reader.pattern):
        raise reader.unknown()
    return tuple(tuple(dict.fromkeys(part.all_needs(bounded=True))) for part in parts)


def most_telling_first(needs: Iterable[Need]) -> list[Need]:
    return sorted(needs, key=lambda need: min(map(_rarity, need.signs())), reverse=True)


def need_of(phrases: Iterable[str]) -> Need:
    """One of the phrases, each in lower case."""
    return _merged({frozenset(_RUN.findall(phrase)) or frozenset({phrase}) for phrase in phrases})


_COMMON = listed(
    "a an the i m to of in at for on is are my our we be been have has do from by with it this that you me"
)


def _rarity(word: str) -> tuple[bool, int, str]:
    """As a rule, long words are rare."""
    return word not in _COMMON, len(word), word


@dataclass
class _Part:
    """A stretch of a pattern: how it may read, and what else it needs.

    `is_tail` says that the texts are only its end; what comes before them is told by the needs alone.
    """

    texts: set[str] = field(default_factory=lambda: {""})
    needs: list[Need] = field(default_factory=list)
    is_tail: bool = False

    def all_needs(self, *, bounded: bool) -> list[Need]:
        """With what its texts need, when anything may follow them."""
        return [*self.needs, *_need({f"{text}{ANYTHING}" for text in self.placed(bounded=bounded)})]

    def placed(self, *, bounded: bool) -> set[str]:
        """Its texts where a word begins, or else behind anything."""
        return self.texts if bounded or self.is_tail else {f"{ANYTHING}{text}" for text in self.texts}

    def as_texts(self) -> set[str]:
        """Without further needs: of a tail, the most telling is made a text again."""
        if not self.is_tail:
            return self.texts
        end = GAP if self.ends_in_a_gap() else ANYTHING
        phrases = most_telling_first(self.needs)[0].all_phrases() if self.needs else [()]
        return {GAP.join((ANYTHING, *phrase, end)) for phrase in phrases}

    def begins_a_word(self, *, bounded: bool) -> bool:
        """Whether what follows it does."""
        at_the_start = bounded and not self.is_tail
        return all(not _GLUE.match(text[-1]) if text else at_the_start for text in self.texts)

    def ends_in_a_gap(self) -> bool:
        return self.begins_a_word(bounded=False)

    def begins_with_a_gap(self) -> bool:
        return not self.is_tail and all(text and not _GLUE.match(text) for text in self.texts)

    def repeated(self, least: int, most: int) -> "_Part":
        """What may be left out is not needed: of more than a few letters, only where they end is kept."""
        if (least, most) == (1, 1):
            return self
        if not self.is_tail and not any(map(_GLUE.search, self.texts)):
            some = self.texts
        elif self.ends_in_a_gap():
            some = {ANYTHING + GAP}
        elif self.begins_with_a_gap():
            some = {GAP + ANYTHING}
        else:
            some = self.texts if most == 1 and not self.is_tail else {ANYTHING}
        return _Part(some if least else some | {""})

    def append(self, other: "_Part", *, bounded: bool) -> None:
        if len(self.texts) * len(other.texts) > FEW_TEXTS:
            self.complete(bounded=bounded)
        if other.is_tail or (len(self.texts) > 1 and len(self.texts) * len(other.texts) > TEXTS):
            begins = self.begins_a_word(bounded=bounded)
            self.needs = [*self.all_needs(bounded=bounded), *other.needs]
            self.texts, self.is_tail = other.placed(bounded=begins), True
        else:
            self.needs += other.needs
            self.texts = {mine + its for mine in self.texts for its in other.texts}
            if len(self.texts) > MANY_TEXTS:
                self.texts = set(map(_condensed, self.texts))

    def complete(self, *, bounded: bool) -> None:
        """Turns what is read into a need at each gap: words that stand side by side need each other all the same."""
        if self.ends_in_a_gap() and any(map(_RUN.search, self.texts)):
            self.needs += _need(self.placed(bounded=bounded))
            self.texts, self.is_tail = {GAP}, True


class _PatternReader:
    """Reads what the rules are written in, and refuses what it does not know."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.at = 0
        self._depth = 0

    def parts(self, *, bounded: bool) -> list[_Part]:
        """What there is to choose from."""
        parts = [self._sequence(bounded=bounded)]
        while self._next("|"):
            parts.append(self._sequence(bounded=bounded))
        return parts

    def _choice(self, *, bounded: bool) -> _Part:
        parts = self.parts(bounded=bounded)
        if len(parts) == 1:
            return parts[0]
        return _Part(set().union(*(part.as_texts() for part in parts)))

    def _sequence(self, *, bounded: bool) -> _Part:
        part = _Part()
        while self.at < len(self.pattern) and self.pattern[self.at] not in "|)":
            item = self._item(bounded=part.begins_a_word(bounded=bounded))
            part.append(item.repeated(*self._times()), bounded=bounded)
            if not self._depth:
                part.complete(bounded=bounded)
        return part

    def _item(self, *, bounded: bool) -> _Part:
        if edge := _EDGE_OF_A_WORD.match(self.pattern, self.at):
            self.at = edge.end()
            return _Part({GAP})
        if plain := _PLAIN_CHOICE.match(self.pattern, self.at):
            self.at = plain.end()
            return _Part(set(_DIGITS.sub(DIGIT, plain[1].lower()).split("|")))
        char = self.pattern[self.at]
        if char == "(":
            return self._group(bounded=bounded)
        if char == "[":
            return _Part(_texts_of_class(self._read(_CLASS)[1:-1]))
        if char in "^$.\\":
            return _Part({self._mark()})
        return _Part({_DIGITS.sub(DIGIT, self._read(_LITERAL).lower())})

    def _group(self, *, bounded: bool) -> _Part:
        kind = self._read(_GROUP)[1:]
        self._depth += 1
        part = self._choice(bounded=bounded)
        self._depth -= 1
        if not self._next(")"):
            raise self.unknown()
        if kind == "?=":
            return _Part({GAP if part.begins_with_a_gap() else ""}, part.all_needs(bounded=bounded))
        return _Part() if kind in _LOOKS_ASIDE else part

    def _mark(self) -> str:
        escaped = self._next("\\")
        char = self.pattern[self.at]
        self.at += 1
        if escaped and char.isalnum() and char not in _SHORTHANDS:
            raise self.unknown()
        if not escaped and char == ".":
            return ANYTHING
        return _SHORTHANDS.get(char, GAP)

    def _times(self) -> tuple[int, int]:
        match = _TIMES.match(self.pattern, self.at)
        if match is None:
            return 1, 1
        self.at = match.end()
        sign, least, most = match.groups()
        if sign:
            return int(sign == "+"), 1 if sign == "?" else TEXTS
        return int(least or 0), int((least if most is None else most) or TEXTS)

    def _next(self, mark: str) -> bool:
        found = self.pattern.startswith(mark, self.at)
        self.at += len(mark) if found else 0
        return found

    def _read(self, expected: re.Pattern[str]) -> str:
        match = expected.match(self.pattern, self.at)
        if match is None:
            raise self.unknown()
        self.at = match.end()
        return match[0]

    def unknown(self) -> ValueError:
        return ValueError(f"cannot be read from {self.at} on: {self.pattern}")


def _texts_of_class(listed: str) -> set[str]:
    if listed.isalpha():
        return set(listed.lower())
    return {ANYTHING if _OPEN_CLASS.search(listed) else GAP}


def _condensed(text: str) -> str:
    """With the same words and the same ends: many texts differ by nothing else."""
    if not _NO_GLUE.search(text):
        return text
    begin, *within, end = _NO_GLUE.split(text)
    words = {word for word in within if ANYTHING not in word}.union(mark for mark in (DIGIT, AT) if mark in text)
    return GAP.join((begin, *sorted(words), end))


def _need(texts: Iterable[str]) -> list[Need]:
    """The words of one of the texts; nothing, where a text has none that can be told."""
    phrases = {frozenset(run for run in _RUN.findall(text) if ANYTHING not in run) for text in texts}
    return [_merged(phrases)] if all(phrases) else []


def _merged(phrases: set[frozenset[str]]) -> Need:
    """Without the phrases that have all the words of another."""
    words = frozenset(word for phrase in phrases if len(phrase) == 1 for word in phrase)
    least: list[frozenset[str]] = []
    for phrase in sorted(phrases, key=len):
        if words.isdisjoint(phrase) and not any(map(phrase.issuperset, least)):
            least.append(phrase)
    return Need(words, tuple(least))
