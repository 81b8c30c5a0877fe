"""Which words say much. English is known a little; a word of another language counts as a rare one."""

import re
from collections.abc import Iterable

from memsidecar.domain.english import COMMON_WORDS, FUNCTION_WORDS, forms

_WORD = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)*")
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u0e00-\u0e7f]+")
_SUFFIX = re.compile(r"(?:ing|edly|ed|ies|es|s|ly)\Z")
_POSSESSIVE = re.compile(r"['\u2019]s?\Z")


def words_of(text: str) -> list[str]:
    """The words as they are written; a script without spaces in pairs of signs."""
    words: list[str] = []
    for word in _WORD.findall(text):
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
    forms("""
january february march april june july august september october november december monday tuesday wednesday thursday
friday saturday sunday spring summer autumn winter noon midnight deadline birthday anniversary quarter
""")
)
DECIDING = forms("""
accepted agreed allergic approved assigned booked bought cancelled canceled chose chosen committed concluded confirmed
decided decision declined deployed engaged enrolled finished fixed goal graduated hired launched married moved must
named owner picked planned planning postponed prefer prefers preferred promised quit rejected required requirement
resolved scheduled settled signed switched
""")
EMPTY_OPENINGS = re.compile(
    r"(?:hey|hi|hello|thanks|thank you|thx|bye|goodbye|good (?:morning|evening|night|luck)|see you|take care|wow|whoa|"
    r"yeah|yes|yep|sure|ok|okay|cool|awesome|great|nice|congrat\w*|no problem|you're welcome|haha|lol|"
    r"sounds (?:good|great)|of course|certainly|absolutely|glad|happy to help|i'm (?:glad|sorry|happy to)|"
    r"let me know|hope)\b",
    re.IGNORECASE,
)
SPEAKER = forms("i i'm i've i'd i'll me my mine myself we we're we've we'd we'll us our ours")
LISTENER = forms("you you're you've you'd you'll your yours yourself")
VAGUE_OPENINGS = re.compile(
    r"(?:it|it's|that|that's|this|these|those|they|they're|he|she|he's|she's|so|and|but|or|which|there)\b",
    re.IGNORECASE,
)
