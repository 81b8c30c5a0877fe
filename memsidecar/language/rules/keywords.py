"""Keyword bit sets."""

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from memsidecar.language.rules.normalization import I_LEFT_OUT, IM_LEFT_OUT, MEANT
from memsidecar.language.rules.pattern_keywords import (
    AT,
    CAPITAL,
    DIGIT,
    Need,
    Way,
    most_telling_first,
    need_of,
    ways_of,
)
from memsidecar.language.rules.user_text import OF_SELF

_ASCII = map(chr, range(128))
_APART = str.maketrans({char: char.lower() if char.isalpha() else " " for char in _ASCII})
_LETTERS = re.compile(r"[a-z]+")
# Patterns without regard to case take these for letters of the Latin alphabet, lower() does not.
_TAKEN_FOR = str.maketrans({"\u0130": "i", "\u0131": "i", "\u017f": "s", "\u212a": "k"})
_DIGIT = re.compile(r"\d")
_CAPITAL = re.compile(r"[A-Z](?<!^.)(?<!I(?![A-Za-z]))")
_SUBJECTS_ADDED = {I_LEFT_OUT: ("i",), IM_LEFT_OUT: ("i", "m", CAPITAL), OF_SELF: ("i", "m")}
"""What is put before a clause that leaves its subject out, by what such a clause, or its sentence, has to match. With a
subject before it, the capital letter of a sentence is one like any other."""


def words_of(sentence: str) -> list[str]:
    """All that a need may ask for."""
    if sentence.isascii():
        words = sentence.translate(_APART).split()
    else:
        words = [*_LETTERS.findall(sentence.translate(_TAKEN_FOR).lower()), CAPITAL]
    if _CAPITAL.search(sentence):
        words.append(CAPITAL)
    if _DIGIT.search(sentence):
        words.append(DIGIT)
    if AT in sentence:
        words.append(AT)
    return words


def implying_words() -> dict[str, set[str]]:
    """By a word, those through which a text may come to have it, once it is spelled and completed."""
    implying: dict[str, set[str]] = {}
    for written, meant in MEANT.items():
        for word in words_of(meant.lower()):
            implying.setdefault(word, set()).update(need_of([written]).signs())
    for pattern, subject in _SUBJECTS_ADDED.items():
        signs = {sign for way in ways_of(pattern.pattern) for sign in most_telling_first(way)[0].signs()}
        for word in subject:
            implying.setdefault(word, set()).update(signs, *(implying.get(sign, ()) for sign in signs))
    return implying


class Gate(NamedTuple):
    """Shut where a text lacks words. `choices` are the needs with phrases: the marks of each that would do."""

    marks: int
    choices: tuple[tuple[int, ...], ...]

    def is_open(self, marks: int) -> bool:
        if marks & self.marks != self.marks:
            return False
        return not self.choices or all(any(marks & one == one for one in choice) for choice in self.choices)


class Vocabulary:
    """The words that matter to somebody. A text leaves the marks of all that its words, or what they imply, may meet.

    This is asked for every sentence that anybody says, and so marks are bits: a need has one, and a word of a phrase.
    """

    def __init__(self, implying: Mapping[str, Iterable[str]]) -> None:
        self._implying = implying
        self._taken: dict[Need | str, int] = {}
        self._left_by: dict[str, int] = {}

    def marks(self, text: str) -> int:
        """Of two texts together, the marks are those of both."""
        marks, left_by = 0, self._left_by
        for word in words_of(text):
            if word in left_by:
                marks |= left_by[word]
        return marks

    def gate(self, way: Way) -> Gate:
        if not way:
            raise ValueError("what needs no word would have to be tried on any text")
        with_phrases = (need for need in way if need.phrases)
        return Gate(sum(map(self.mark, set(way))), tuple(map(self._choice, with_phrases)))

    def mark(self, need: Need) -> int:
        """Left wherever the need may be met."""
        return self._mark(need, need.signs())

    def _choice(self, need: Need) -> tuple[int, ...]:
        return tuple(sum(self._mark(word, (word,)) for word in phrase) for phrase in need.all_phrases())

    def _mark(self, what: Need | str, words: Iterable[str]) -> int:
        if what in self._taken:
            return self._taken[what]
        mark = self._taken[what] = 1 << len(self._taken)
        for word in words:
            for one in (word, *self._implying.get(word, ())):
                self._left_by[one] = self._left_by.get(one, 0) | mark
        return mark
