"""Scripts without blanks between words, and Hangul, where particles are written to the word.

Where a word ends there, only a dictionary knows. So each character is a word, and each two that stand side by side are
one, too: whatever part of a sentence is asked for, its pairs are in it, and what has all of them mostly has it whole.
"""

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise

import regex

# Digits stay together in every script. The signs at the end belong to several scripts, so they are named one by one.
_LETTER = (
    r"[[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
    r"\u3006\u3031-\u3035\u303c\u30fc]&&[\p{L}\p{M}\p{N}--\p{Nd}]]"
)
_CHARACTER = rf"{_LETTER}\p{{M}}*+"  # with its vowel signs and tone marks: without them it is another one

_SOME = regex.compile(_LETTER, regex.V1)
# Where all of them stand among some others: English with a typographic quote is told apart ten times as quick by it.
_NEARBY = re.compile(
    "[\u0e00-\u0eff\u1000-\u11ff\u1780-\u17ff\u2e80-\ud7ff\uf900-\ufaff\uff00-\uffff"
    "\U00011600-\U0001bfff\U00020000-\U0003ffff]"
)
_CHARACTERS = regex.compile(_CHARACTER, regex.V1)
_PAIR = regex.compile(_CHARACTER * 2, regex.V1)
_RUN = regex.compile(rf"((?:{_CHARACTER})+)|[\p{{L}}\p{{M}}\p{{N}}--{_LETTER}]+", regex.V1)


def is_unspaced(text: str) -> bool:
    """Whether any of it is."""
    return not text.isascii() and _NEARBY.search(text) is not None and _SOME.search(text) is not None


def split(text: str) -> list[str]:
    """The words of a text that may be in any script; it is in its normal form."""
    words: list[str] = []
    for run in _RUN.finditer(text):
        words += _split_run(run[1]) if run[1] else [run[0]]
    return words


def _split_run(run: str) -> list[str]:
    characters = _CHARACTERS.findall(run)
    return [*characters, *map("".join, pairwise(characters))]


def characters_of(words: Iterable[str]) -> list[str]:
    """Those that the pairs among these words are made of."""
    return [character for word in words if _is_pair(word) for character in _CHARACTERS.findall(word)]


def without_characters(words: Sequence[str]) -> list[str]:
    """The words but for what their pairs are made of: whoever has the pair has that as well."""
    in_pairs = set(characters_of(words))
    return [word for word in words if word not in in_pairs]


def length_of(words: Sequence[str]) -> int:
    """How long a text of these words is: pairs are the same characters again, and would make it look twice as long."""
    if all(map(str.isascii, words)):
        return len(words)
    return len(words) - sum(map(_is_pair, words))


def _is_pair(word: str) -> bool:
    return not word.isascii() and _PAIR.fullmatch(word) is not None
