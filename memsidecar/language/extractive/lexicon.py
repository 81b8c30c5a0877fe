"""Word lists and the classification of words for sentence scores."""

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
_MAX_CACHED_WORDS = 16_384
_MAX_CACHED_WORD_CHARACTERS = 32


def split_words(text: str) -> list[str]:
    """Return the words as written; a script without spaces is split into pairs of characters.

    Layers have a tokenizer with stems for the index. This one keeps the case, which tells names, and lies below them.
    """
    words = _WORD.findall(text)
    if text.isascii():
        return words
    return [part for word in words for part in (_pairs(word) if _UNSPACED.match(word) else [word])]


def _pairs(word: str) -> list[str]:
    return [word[at : at + 2] for at in range(max(1, len(word) - 1))]


def root(word: str) -> str:
    """Return the word without its inflection, roughly: enough to tell that two sentences are about the same thing."""
    base = _POSSESSIVE.sub("", word.lower()).replace("\u2019", "'")
    short = _SUFFIX.sub("", base)
    return short.rstrip("e") if len(short) > 2 else base


def _roots(words: Iterable[str]) -> frozenset[str]:
    return frozenset(form for word in words for form in (root(word), word))


_STOP_ROOTS = _roots(FUNCTION_WORDS)
_COMMON_ROOTS = _roots(COMMON_WORDS)
_CALENDAR_ROOTS = _roots(
    word_set("""
january february march april june july august september october november december monday tuesday wednesday thursday
friday saturday sunday spring summer autumn winter noon midnight deadline birthday anniversary quarter
""")
)

DECISION_WORDS = word_set("""
accepted agreed allergic approved assigned booked bought cancelled canceled chose chosen committed concluded confirmed
decided decision declined deployed engaged enrolled finished fixed goal graduated hired launched married moved must
named owner picked planned planning postponed prefer prefers preferred promised quit rejected required requirement
resolved scheduled settled signed switched
""")
RESULT_WORDS = word_set("""
because broke broken caused causes completed crashed deadlock error failed failing fails fixes improved increased
introduced measured merged migrated outage passed passes published reached reduced released reproduced resolved
result results reverted rolled shipped solved solution succeeded upgraded
""")
FIRST_PERSON = word_set("i i'm i've i'd i'll me my mine myself we we're we've we'd we'll us our ours")
SECOND_PERSON = word_set("you you're you've you'd you'll your yours yourself")

PLEASANTRY = re.compile(
    r"(?:hey|hi|hello|thanks|thank you|thx|bye|goodbye|good (?:morning|evening|night|luck)|see you|take care|wow|whoa|"
    r"yeah|yes|yep|sure|ok|okay|cool|awesome|great|nice|congrat\w*|no problem|you're welcome|haha|lol|"
    r"sounds (?:good|great)|of course|certainly|absolutely|glad|happy to help|i'm (?:glad|sorry|happy to)|"
    r"let me know|hope)\b",
    re.IGNORECASE,
)
VAGUE_OPENING = re.compile(
    r"(?:it|it's|that|that's|this|these|those|they|they're|he|she|he's|she's|so|and|but|or|which|there)\b",
    re.IGNORECASE,
)


class WordKind(IntEnum):
    """The class of a word by itself. A capitalised word counts as a name only where it does not begin a sentence."""

    STOP = 0
    NUMBER = 1
    CALENDAR = 2
    COMMON = 3
    NAME = 4
    RARE = 5


class Word(NamedTuple):
    """`form` is the spelling of the word lists: lower case with a plain apostrophe."""

    root: str
    kind: WordKind
    form: str


def classify(word: str) -> Word:
    """Classify a word. Results are cached, except for very long words, which hardly repeat."""
    return _classify_cached(word) if len(word) <= _MAX_CACHED_WORD_CHARACTERS else _classify(word)


def _classify(word: str) -> Word:
    key = root(word)
    return Word(key, _kind(word, key), word.lower().replace("\u2019", "'"))


_classify_cached = lru_cache(_MAX_CACHED_WORDS)(_classify)


def _kind(word: str, key: str) -> WordKind:
    if key in _STOP_ROOTS or not (len(key) > 1 or not key.isascii() or key.isdigit()):
        return WordKind.STOP
    if any(character.isdigit() for character in word):
        return WordKind.NUMBER
    if key in _CALENDAR_ROOTS:
        return WordKind.CALENDAR
    if key in _COMMON_ROOTS:
        return WordKind.COMMON
    return WordKind.NAME if word[0].isupper() else WordKind.RARE
