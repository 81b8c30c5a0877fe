"""The text analyzer of the index and of queries: tokens, stems, stop words, CJK bigrams."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache
from itertools import pairwise

import regex
import Stemmer
from stop_words import AVAILABLE_LANGUAGES, get_stop_words

ANALYZER_VERSION = 2
"Incremented when the same text gives other terms: tables of another version are rebuilt."

_WORD = regex.compile(r"[\p{L}\p{M}\p{N}]+")
# The same for ASCII text, many times as fast: what is no letter or digit becomes a space.
_ASCII_WORDS = bytes(byte if chr(byte).isalnum() else ord(" ") for byte in range(128)) + bytes(128)

# Letters of scripts that are written without spaces. Digits are excluded: they are tokens in every script. The signs at
# the end belong to several scripts and are listed one by one.
_LETTER = (
    r"[[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
    r"\u3006\u3031-\u3035\u303c\u30fc]&&[\p{L}\p{M}\p{N}--\p{Nd}]]"
)
_CHARACTER = rf"{_LETTER}\p{{M}}*+"  # with its vowel signs and tone marks, which distinguish words
_UNSEGMENTED = regex.compile(_LETTER, regex.V1)
# Blocks that contain all letters of _LETTER among others. This check is ten times as fast, and is enough for English
# text with a typographic quote.
_UNSEGMENTED_BLOCKS = re.compile(
    "[\u0e00-\u0eff\u1000-\u11ff\u1780-\u17ff\u2e80-\ud7ff\uf900-\ufaff\uff00-\uffff"
    "\U00011600-\U0001bfff\U00020000-\U0003ffff]"
)
_CHARACTERS = regex.compile(_CHARACTER, regex.V1)
_BIGRAM = regex.compile(_CHARACTER * 2, regex.V1)
_RUN = regex.compile(rf"((?:{_CHARACTER})+)|[\p{{L}}\p{{M}}\p{{N}}--{_LETTER}]+", regex.V1)

# Vowels and accents that are optional in Arabic and Hebrew. Marks that make another letter (hamza, madda) are kept.
_VOWEL_MARKS = re.compile(
    r"[\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7"
    r"\u0610-\u061a\u064b-\u0652\u0656-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed]+"
)
# Thirty marks on one letter, Unicode's limit for streams, and those after them. The last two are marks after NFKC.
_OVERLONG_MARKS = regex.compile(r"([\p{M}\uff9e\uff9f]{30})[\p{M}\uff9e\uff9f]+")
_MIN_OVERLONG_CHARACTERS = 256  # a shorter text is normalized in no time, whatever it is
MAX_QUERY_TERMS = 64
"""Terms of a query that are looked up. Each costs a search of its own: 10,000 terms took 0.75 s on 5,000 messages. A
question has fewer. Of a document that is pasted as a query, the first terms name the subject."""
_MAX_EXPANSION = 2  # of a long text: one letter becomes 18 characters in NFKC, and some others become several
_DOTTED_I = "i\u0307"  # the result of case folding the Turkish capital
_QUESTION_MARKS = ("?", "\uff1f", "\u061f")

# In the index, stems and the question flag are stored as terms that begin with a mark that no token contains.
_STEM_MARK = "~"
_QUESTION_TERM = "~?"

_MIN_WORDS, _MIN_STOP_WORDS, _MIN_STOP_WORD_SHARE = 4, 2, 0.33
"A text is in another language than English if it has so many words, and so many stop words of that language."

_STEMMER_CACHE_SIZE = 0  # `stem` has a cache; the library's is not thread-safe
_STEM_CACHE_SIZE = 65_536
_MAX_STEMMED_CHARACTERS = 64  # longer tokens are keys and the like, no words of a language

# English stop words. Stop words are indexed, and are matched if a query has no other terms. The single letters are what
# tokenizing leaves of contractions. The list of the library is longer: it has words such as "case" and "computer".
_ENGLISH_STOP_WORDS = frozenset(
    _WORD.findall("""
    a about after again all also am an and any are as at be because been before being both but by can could d
    did do does doing during each for from further had has have having he her here hers herself him himself his
    how i if in into is it its itself just ll m me more most my myself no nor not now of off on once only or
    other our ours out over own re s same she should so some such t than that the their theirs them themselves
    then there these they this those through to too under until up us ve very was we were what when where which
    while who whom whose why will with would you your yours yourself
    """)
)


def tokenize(text: str) -> list[str]:
    """Return the tokens of a text in order, with duplicates, normalized and case-folded.

    Text of an unsegmented script gives each character and each pair of adjacent characters, as Lucene's CJKBigramFilter
    does with unigrams.
    """
    if text.isascii():
        return text.lower().encode().translate(_ASCII_WORDS).decode().split()
    folded = _folded(text)
    return _tokenize_unsegmented(folded) if is_unsegmented(folded) else list(_WORD.findall(folded))


def normalize_nfkc(text: str) -> str:
    """Return the text in NFKC, in linear time. Python sorts the marks on one letter in quadratic time.

    More than 30 marks on a letter, which no language has, are left out. So is the end of a long text if NFKC makes more
    than twice as much of it.
    """
    if len(text) < _MIN_OVERLONG_CHARACTERS or text.isascii():
        return unicodedata.normalize("NFKC", text)
    normalized = unicodedata.normalize("NFKC", _OVERLONG_MARKS.sub(r"\1", text))
    return normalized[: _MAX_EXPANSION * len(text)]


def _folded(text: str) -> str:
    # Case folding decomposes some letters that NFKC composes, so the text is normalized before and after it.
    folded = normalize_nfkc(text).casefold().replace(_DOTTED_I, "i")
    return _VOWEL_MARKS.sub("", unicodedata.normalize("NFKC", folded))


def is_unsegmented(text: str) -> bool:
    """Return whether any part of the text is in a script without spaces between words."""
    return not text.isascii() and _UNSEGMENTED_BLOCKS.search(text) is not None and _UNSEGMENTED.search(text) is not None


def _tokenize_unsegmented(text: str) -> list[str]:
    """Return the tokens of normalized text that may mix scripts."""
    words: list[str] = []
    for run in _RUN.finditer(text):
        words += _cjk_bigrams(run[1]) if run[1] else [run[0]]
    return words


def _cjk_bigrams(run: str) -> list[str]:
    characters = _CHARACTERS.findall(run)
    return [*characters, *map("".join, pairwise(characters))]


def bigram_characters(words: Iterable[str]) -> list[str]:
    """Return the characters of the bigrams among these tokens."""
    return [character for word in words if is_bigram(word) for character in _CHARACTERS.findall(word)]


def drop_bigram_characters(words: Sequence[str]) -> list[str]:
    """Return the tokens without the characters of their bigrams, which match all texts that the bigram matches."""
    in_bigrams = set(bigram_characters(words))
    return [word for word in words if word not in in_bigrams]


def is_bigram(word: str) -> bool:
    return not word.isascii() and _BIGRAM.fullmatch(word) is not None


def text_length(words: Sequence[str]) -> int:
    """Return the number of tokens without bigrams, which repeat characters that are counted already."""
    if all(map(str.isascii, words)):
        return len(words)
    return len(words) - sum(map(is_bigram, words))


def content_terms(words: Sequence[str]) -> list[str]:
    """Return the distinct tokens that are no stop words, neither of English nor of the language of the text."""
    others = [word for word in dict.fromkeys(words) if word not in _ENGLISH_STOP_WORDS]
    language = _other_language(words)
    return others if language is None else [word for word in others if not _is_stop_word(word, language)]


def is_other_language(words: Sequence[str]) -> bool:
    """Return whether a text with these tokens is in another language than English, by its stop words or its script."""
    is_other_script = any(map(is_unsegmented, words)) or not any(map(str.isascii, words))
    return is_other_script or _other_language(words) is not None


def _other_language(words: Sequence[str]) -> str | None:
    """Return the language that has the most of these words as stop words; None if that is English, or too few are."""
    distinct = frozenset(words)
    languages_of = stop_word_languages()
    stop_words = [word for word in distinct if word in languages_of]
    least = max(_MIN_STOP_WORDS, len(distinct & _ENGLISH_STOP_WORDS) + 1)
    if len(stop_words) < least:
        return None
    languages = Counter(language for word in stop_words for language in languages_of[word])
    language, count = max(languages.items(), key=lambda each: (each[1], each[0]), default=("", 0))
    is_clear = any(map(is_unsegmented, distinct)) or (
        len(distinct) >= _MIN_WORDS and count >= _MIN_STOP_WORD_SHARE * len(distinct)
    )
    return language if is_clear and count >= least else None


def _is_stop_word(word: str, language: str) -> bool:
    parts = _CHARACTERS.findall(word) if is_bigram(word) else [word]
    return all(language in stop_word_languages().get(part, ()) for part in parts)


@cache
def stop_word_languages() -> Mapping[str, frozenset[str]]:
    """Return the languages other than English in which a token is a stop word. The first call takes about 70 ms."""
    languages: dict[str, set[str]] = {}
    for language in set(AVAILABLE_LANGUAGES) - {"english"}:
        for word in tokenize(" ".join(get_stop_words(language, cache=False))):
            if len(word) > 1 or not word.isascii():  # a letter names an option, or a programming language
                languages.setdefault(word, set()).add(language)
    return {word: frozenset(each) for word, each in languages.items()}


def content_terms_or_all(words: Sequence[str]) -> list[str]:
    """Return the distinct tokens that are no stop words, or all if there are only stop words."""
    return content_terms(words) or list(dict.fromkeys(words))


def stem(word: str) -> str:
    """Return the English (Porter2) stem; words of other languages mostly stay unchanged.

    A long token is its own stem and is not cached: the cache is bounded in bytes by that, and cannot keep a long secret
    after its session was erased.
    """
    return word if len(word) > _MAX_STEMMED_CHARACTERS else _cached_stem(word)


def stem_all(words: Sequence[str]) -> Iterable[str]:
    """Return the stems of all tokens, with one check of their lengths."""
    all_short = max(map(len, words), default=0) <= _MAX_STEMMED_CHARACTERS
    return map(_cached_stem if all_short else stem, words)


@lru_cache(_STEM_CACHE_SIZE)
def _cached_stem(word: str) -> str:
    return str(Stemmer.Stemmer("english", _STEMMER_CACHE_SIZE).stemWord(word))


def has_question_mark(text: str) -> bool:
    """Return whether the text contains a question; its answer is then in the next message."""
    return any(map(text.__contains__, _QUESTION_MARKS))


def is_question(text: str) -> bool:
    """Return whether the text ends with a question mark; one in the middle may be part of a URL."""
    return text.rstrip().endswith(_QUESTION_MARKS)


def index_terms(text: str) -> str:
    """Return the terms of a text as the index stores them: the tokens, then the question flag and differing stems."""
    words = tokenize(text)
    terms = [*words, _QUESTION_TERM] if has_question_mark(text) else list(words)
    terms += [_STEM_MARK + root for word, root in zip(words, stem_all(words), strict=True) if root != word]
    return " ".join(terms)


def parse_index_terms(stored: str) -> tuple[list[str], bool]:
    """Return the tokens of what `index_terms` returned, and the question flag."""
    words, _, marked = stored.partition(_STEM_MARK)
    return words.split(), marked.startswith("?")


def query_terms(words: Sequence[str]) -> list[str]:
    """Return the terms to look up in the index, so that every inflection of these tokens is found."""
    terms: dict[str, None] = {}
    for word in words:
        root = stem(word)
        terms.update({word: None, root: None, _STEM_MARK + root: None})
    return list(terms)
