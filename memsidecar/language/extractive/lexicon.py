"""Word weights."""

import re
from collections.abc import Iterable
from enum import IntEnum
from functools import lru_cache
from typing import NamedTuple

from memsidecar.domain.text import COMMON_WORDS, FUNCTION_WORDS, word_set

_WORD = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)*")
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u0e00-\u0e7f]+")
_SUFFIX = re.compile(r"(?:ing|edly|ed|ies|es|s|ly)\Z")
_POSSESSIVE = re.compile(r"['\u2019]s?\Z")
_WORDS_KEPT = 16_384
_LONGEST_KEPT_CHARACTERS = 32


def words_of(text: str) -> list[str]:
    """The words as they are written; a script without spaces in pairs of signs."""
    found = _WORD.findall(text)
    if text.isascii():
        return found
    words: list[str] = []
    for word in found:
        if _UNSPACED.match(word):
            words += [word[at : at + 2] for at in range(max(1, len(word) - 1))]
        else:
            words.append(word)
    return words


def root(word: str) -> str:
    """What inflections have in common, roughly: only used to see that two sentences speak of the same."""
    bare = _POSSESSIVE.sub("", word.lower()).replace("\u2019", "'")
    short = _SUFFIX.sub("", bare)
    return short.rstrip("e") if len(short) > 2 else bare


def _roots(words: Iterable[str]) -> frozenset[str]:
    return frozenset(form for word in words for form in (root(word), word))


STOP = _roots(FUNCTION_WORDS)
COMMON = _roots(COMMON_WORDS)


# What dates are made of, and what decides: said rarely, and asked for later.
CALENDAR = _roots(
    word_set("""
january february march april june july august september october november december monday tuesday wednesday thursday
friday saturday sunday spring summer autumn winter noon midnight deadline birthday anniversary quarter
""")
)
DECIDING = word_set("""
accepted agreed allergic approved assigned booked bought cancelled canceled chose chosen committed concluded confirmed
decided decision declined deployed engaged enrolled finished fixed goal graduated hired launched married moved must
named owner picked planned planning postponed prefer prefers preferred promised quit rejected required requirement
resolved scheduled settled signed switched
""")


class Kind(IntEnum):
    """What a word is worth by itself. A name is only one where it does not begin a sentence."""

    EMPTY = 0
    NUMBER = 1
    CALENDAR = 2
    COMMON = 3
    NAME = 4
    RARE = 5


class Known(NamedTuple):
    root: str
    kind: Kind
    form: str
    "As the lists of this page have it."


def known(word: str) -> Known:
    """People use few words again and again: those are remembered. What is very long is no word."""
    return _remembered(word) if len(word) <= _LONGEST_KEPT_CHARACTERS else _looked_up(word)


def _looked_up(word: str) -> Known:
    key = root(word)
    return Known(key, _kind(word, key), word.lower().replace("\u2019", "'"))


_remembered = lru_cache(_WORDS_KEPT)(_looked_up)


def _kind(word: str, key: str) -> Kind:
    if key in STOP or not (len(key) > 1 or not key.isascii() or key.isdigit()):
        return Kind.EMPTY
    if any(sign.isdigit() for sign in word):
        return Kind.NUMBER
    if key in CALENDAR:
        return Kind.CALENDAR
    if key in COMMON:
        return Kind.COMMON
    return Kind.NAME if word[0].isupper() else Kind.RARE


EMPTY_OPENINGS = re.compile(
    r"(?:hey|hi|hello|thanks|thank you|thx|bye|goodbye|good (?:morning|evening|night|luck)|see you|take care|wow|whoa|"
    r"yeah|yes|yep|sure|ok|okay|cool|awesome|great|nice|congrat\w*|no problem|you're welcome|haha|lol|"
    r"sounds (?:good|great)|of course|certainly|absolutely|glad|happy to help|i'm (?:glad|sorry|happy to)|"
    r"let me know|hope)\b",
    re.IGNORECASE,
)
SPEAKER = word_set("i i'm i've i'd i'll me my mine myself we we're we've we'd we'll us our ours")
LISTENER = word_set("you you're you've you'd you'll your yours yourself")
VAGUE_OPENINGS = re.compile(
    r"(?:it|it's|that|that's|this|these|those|they|they're|he|she|he's|she's|so|and|but|or|which|there)\b",
    re.IGNORECASE,
)
