"""Words as they are matched: the same for messages, documents and queries, in RAM and in the index on disk."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import lru_cache

import regex
import Stemmer

from memsidecar.layers.episodic.unspaced import is_unspaced, split

WORDS_VERSION = 2
"Raised when the same text gives other words than before: tables that were made with those are then made anew."

_WORD = regex.compile(r"[\p{L}\p{M}\p{N}]+")
_ASCII_WORD = re.compile(r"[a-z0-9]+")  # the same where nothing else is written, several times as quick
# Vowels and accents that Arabic and Hebrew are read without as well. What makes another letter (hamza, madda) stays.
_VOWEL_MARKS = re.compile(
    r"[\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7"
    r"\u0610-\u061a\u064b-\u0652\u0656-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed]+"
)
_DOTTED_I = "i\u0307"  # what folding makes of the Turkish capital
_STEM_MARK = "~"  # no word has it, so what begins with it is a note of ours
_ASKS = "~?"
_QUESTION_MARKS = ("?", "\uff1f", "\u061f")
_STEMMER_CACHE = 0  # `stem` has a cache of its own, and the library's is not made for many threads
_STEMS_KEPT = 65_536
_LONGEST_STEMMED_CHARACTERS = 64  # longer ones are no words of a language but keys and the like

# Words that say nothing about what is asked for. They are indexed like all others, and matched when nothing else is
# left of a query. The single letters are what an apostrophe leaves behind.
_FUNCTION_WORDS = frozenset(
    _WORD.findall("""
    a about after again all also am an and any are as at be because been before being both but by can could d
    did do does doing during each for from further had has have having he her here hers herself him himself his
    how i if in into is it its itself just ll m me more most my myself no nor not now of off on once only or
    other our ours out over own re s same she should so some such t than that the their theirs them themselves
    then there these they this those through to too under until up us ve very was we were what when where which
    while who whom whose why will with would you your yours yourself
    """)
)


def words_of(text: str) -> list[str]:
    """The words of a text in order, each as often as it occurs, in one spelling.

    Where words are written without blanks, each character and each pair of characters is one.
    """
    if text.isascii():
        return _ASCII_WORD.findall(text.lower())
    folded = _folded(text)
    return split(folded) if is_unspaced(folded) else list(_WORD.findall(folded))


def _folded(text: str) -> str:
    # Folding takes some letters apart that the normal form joins, so the form is made on both sides of it.
    folded = unicodedata.normalize("NFKC", text).casefold().replace(_DOTTED_I, "i")
    return _VOWEL_MARKS.sub("", unicodedata.normalize("NFKC", folded))


def content_words(words: Sequence[str]) -> list[str]:
    """The words that say what is meant, each once; all of them where only function words are left."""
    return telling_words(words) or list(dict.fromkeys(words))


def telling_words(words: Sequence[str]) -> list[str]:
    """The words that say what is meant, each once; none where only function words are left."""
    return [word for word in dict.fromkeys(words) if word not in _FUNCTION_WORDS]


def stem(word: str) -> str:
    """What the inflections of an English word have in common; words of other languages mostly stay what they are.

    A very long one is its own stem and is not remembered: the cache has to be bounded in bytes, too, and must not keep
    a long secret after its session was erased.
    """
    return word if len(word) > _LONGEST_STEMMED_CHARACTERS else _stemmed(word)


def stems(words: Sequence[str]) -> Iterable[str]:
    """Of all of them at once, which is quicker."""
    all_short = max(map(len, words), default=0) <= _LONGEST_STEMMED_CHARACTERS
    return map(_stemmed if all_short else stem, words)


@lru_cache(_STEMS_KEPT)
def _stemmed(word: str) -> str:
    return str(Stemmer.Stemmer("english", _STEMMER_CACHE).stemWord(word))


def asks(text: str) -> bool:
    """Whether somebody wants to know something; the answer then stands behind it."""
    return any(mark in text for mark in _QUESTION_MARKS)


def is_question(text: str) -> bool:
    """Whether it ends with one: what has a question mark in the middle may be an address, or tell something, too."""
    return text.rstrip().endswith(_QUESTION_MARKS)


def indexed(text: str) -> str:
    """The words as the index on disk keeps them: each as it is, then notes: that it asks, and other stems."""
    words = words_of(text)
    kept = [*words, _ASKS] if asks(text) else list(words)
    kept += [_STEM_MARK + root for word, root in zip(words, stems(words), strict=True) if root != word]
    return " ".join(kept)


def as_written(kept: str) -> tuple[list[str], bool]:
    """The words alone of what `indexed` made, and whether they asked something."""
    words, _, notes = kept.partition(_STEM_MARK)
    return words.split(), notes.startswith("?")


def asked(words: Sequence[str]) -> list[str]:
    """What to look for in the index on disk: every inflection of these words is found."""
    wanted: dict[str, None] = {}
    for word in words:
        root = stem(word)
        wanted.update({word: None, root: None, _STEM_MARK + root: None})
    return list(wanted)
