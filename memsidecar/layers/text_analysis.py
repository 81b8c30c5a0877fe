"""The one analyzer: tokens, stems, stop words, CJK bigrams."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import pairwise

import regex
import Stemmer

# Digits stay together in every script. The signs at the end belong to several scripts, so they are named one by one.
_LETTER = (
    r"[[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
    r"\u3006\u3031-\u3035\u303c\u30fc]&&[\p{L}\p{M}\p{N}--\p{Nd}]]"
)
_CHARACTER = rf"{_LETTER}\p{{M}}*"  # with its vowel signs and tone marks: without them it is another one

_SOME = regex.compile(_LETTER, regex.V1)
# Where all of them stand among some others: English with a typographic quote is told apart ten times as quick by it.
_NEARBY = re.compile(
    "[\u0e00-\u0eff\u1000-\u11ff\u1780-\u17ff\u2e80-\ud7ff\uf900-\ufaff\uff00-\uffff"
    "\U00011600-\U0001bfff\U00020000-\U0003ffff]"
)
_CHARACTERS = regex.compile(_CHARACTER, regex.V1)
_PAIR = regex.compile(_CHARACTER * 2, regex.V1)
_RUN = regex.compile(rf"((?:{_CHARACTER})+)|[\p{{L}}\p{{M}}\p{{N}}--{_LETTER}]+", regex.V1)

ANALYZER_VERSION = 2
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


def is_unsegmented(text: str) -> bool:
    """Whether any of it is."""
    return not text.isascii() and _NEARBY.search(text) is not None and _SOME.search(text) is not None


def _tokenize_unsegmented(text: str) -> list[str]:
    """The words of a text that may be in any script; it is in its normal form."""
    words: list[str] = []
    for run in _RUN.finditer(text):
        words += _split_run(run[1]) if run[1] else [run[0]]
    return words


def _split_run(run: str) -> list[str]:
    characters = _CHARACTERS.findall(run)
    return [*characters, *map("".join, pairwise(characters))]


def bigram_characters(words: Iterable[str]) -> list[str]:
    """Those that the pairs among these words are made of."""
    return [character for word in words if _is_pair(word) for character in _CHARACTERS.findall(word)]


def drop_bigram_characters(words: Sequence[str]) -> list[str]:
    """The words but for what their pairs are made of: whoever has the pair has that as well."""
    in_pairs = set(bigram_characters(words))
    return [word for word in words if word not in in_pairs]


def text_length(words: Sequence[str]) -> int:
    """How long a text of these words is: pairs are the same characters again, and would make it look twice as long."""
    if all(map(str.isascii, words)):
        return len(words)
    return len(words) - sum(map(_is_pair, words))


def _is_pair(word: str) -> bool:
    return not word.isascii() and _PAIR.fullmatch(word) is not None


def tokenize(text: str) -> list[str]:
    """The words of a text in order, each as often as it occurs, in one spelling.

    Where words are written without blanks, each character and each pair of characters is one.
    """
    if text.isascii():
        return _ASCII_WORD.findall(text.lower())
    folded = _folded(text)
    return _tokenize_unsegmented(folded) if is_unsegmented(folded) else list(_WORD.findall(folded))


def _folded(text: str) -> str:
    # Folding takes some letters apart that the normal form joins, so the form is made on both sides of it.
    folded = unicodedata.normalize("NFKC", text).casefold().replace(_DOTTED_I, "i")
    return _VOWEL_MARKS.sub("", unicodedata.normalize("NFKC", folded))


def content_terms_or_all(words: Sequence[str]) -> list[str]:
    """The words that say what is meant, each once; all of them where only function words are left."""
    return content_terms(words) or list(dict.fromkeys(words))


def content_terms(words: Sequence[str]) -> list[str]:
    """The words that say what is meant, each once; none where only function words are left."""
    return [word for word in dict.fromkeys(words) if word not in _FUNCTION_WORDS]


def stem(word: str) -> str:
    """What the inflections of an English word have in common; words of other languages mostly stay what they are.

    A very long one is its own stem and is not remembered: the cache has to be bounded in bytes, too, and must not keep
    a long secret after its session was erased.
    """
    return word if len(word) > _LONGEST_STEMMED_CHARACTERS else _cached_stem(word)


def stem_all(words: Sequence[str]) -> Iterable[str]:
    """Of all of them at once, which is quicker."""
    all_short = max(map(len, words), default=0) <= _LONGEST_STEMMED_CHARACTERS
    return map(_cached_stem if all_short else stem, words)


@lru_cache(_STEMS_KEPT)
def _cached_stem(word: str) -> str:
    return str(Stemmer.Stemmer("english", _STEMMER_CACHE).stemWord(word))


def has_question_mark(text: str) -> bool:
    """Whether somebody wants to know something; the answer then stands behind it."""
    return any(mark in text for mark in _QUESTION_MARKS)


def is_question(text: str) -> bool:
    """Whether it ends with one: what has a question mark in the middle may be an address, or tell something, too."""
    return text.rstrip().endswith(_QUESTION_MARKS)


def index_terms(text: str) -> str:
    """The words as the index on disk keeps them: each as it is, then notes: that it asks, and other stems."""
    words = tokenize(text)
    kept = [*words, _ASKS] if has_question_mark(text) else list(words)
    kept += [_STEM_MARK + root for word, root in zip(words, stem_all(words), strict=True) if root != word]
    return " ".join(kept)


def parse_index_terms(kept: str) -> tuple[list[str], bool]:
    """The words alone of what `indexed` made, and whether they asked something."""
    words, _, notes = kept.partition(_STEM_MARK)
    return words.split(), notes.startswith("?")


def query_terms(words: Sequence[str]) -> list[str]:
    """What to look for in the index on disk: every inflection of these words is found."""
    wanted: dict[str, None] = {}
    for word in words:
        root = stem(word)
        wanted.update({word: None, root: None, _STEM_MARK + root: None})
    return list(wanted)
