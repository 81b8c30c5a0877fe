"""Words of a user's message as habits are counted in: prose only, in small letters, without what says nothing."""

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

import regex

from memsidecar.domain.text import COMMON_WORDS, FUNCTION_WORDS, forms
from memsidecar.layers.episodic.words import stem

_LONGEST_READ_CHARACTERS = 8_000  # a habit shows itself in what is said first; a pasted log has none
_FEWEST_LETTERS, _LONGEST_WORD_CHARACTERS = 3, 24
# What the user did not write themselves, each with the signs without which it cannot be there: most texts have none.
_FOREIGN = [
    (("```", "~~~"), regex.compile(r"^[ ]{0,3}(```|~~~).*?(?:^[ ]{0,3}\1|\Z)", regex.MULTILINE | regex.DOTALL)),
    ((">",), regex.compile(r"^[ ]{0,3}>.*$", regex.MULTILINE)),
    (("http", "www."), regex.compile(r"\b(?:https?://|www\.)\S+")),
]
_WORD = regex.compile(r"[\p{L}\p{M}\p{N}]+(?:['\u2019]\p{L}+)*")
_ASCII_WORD = re.compile(r"[a-z0-9]+(?:'[a-z]+)*")
_SENTENCE = regex.compile(r"(?:[^.!?\n\u3002\u061f]++|\.(?=\w))++[.!?\u3002\u061f]*")
_WORDS_KEPT = 16_384

# What people say to an assistant about anything: no topic of theirs.
_ASKING = forms("""
advice answer article assistant clarify code compare comparison concise create define describe description detail
details detailed difference draft elaborate email error explanation fail fix follow format generate hint improve
information input message note option options output paragraph please project prompt provide recommend recommendation
reply request response review rewrite sentence shorter simple solution solve style suggestion summarize summary task
text thanks tip tips title tldr topic translate tutorial version
brief briefly longer explain show help give write per hour hours minute day days week weeks month months year years
today tomorrow yesterday monday tuesday wednesday thursday friday saturday sunday one two three four five six seven
eight nine ten
""")
_SAYS_NOTHING = frozenset(stem(word) for word in FUNCTION_WORDS | COMMON_WORDS | _ASKING) | FUNCTION_WORDS


def prose_of(text: str) -> str:
    """What the user wrote themselves: no code, no quotation, no address; only the beginning of what is long."""
    # The normal form makes full-width signs plain ones, so that a question mark is one in any script.
    text = unicodedata.normalize("NFKC", text[:_LONGEST_READ_CHARACTERS]).replace("\u2019", "'")
    for signs, pattern in _FOREIGN:
        if any(sign in text for sign in signs):
            text = pattern.sub("\n", text)
    return text


def sentences_of(prose: str) -> Iterator[str]:
    return (found for match in _SENTENCE.finditer(prose) if (found := match[0].strip()))


def words_of(text: str) -> list[str]:
    word = _ASCII_WORD if text.isascii() else _WORD
    return [found.removesuffix("'s") for found in word.findall(text.lower())]


def tells(word: str) -> bool:
    """Whether a word can be what somebody talks about."""
    return 1 < len(word) <= _LONGEST_WORD_CHARACTERS and _tells(word)


@lru_cache(_WORDS_KEPT)
def _tells(word: str) -> bool:
    if len(word) < _FEWEST_LETTERS:
        return not word.isascii()
    return not word.isdigit() and word not in _SAYS_NOTHING and stem(word) not in _SAYS_NOTHING


def shortened(text: str, longest_bytes: int) -> str:
    """Whole words, as many as fit: what is kept must be bounded whatever the script."""
    if len(text.encode("utf-8", "replace")) <= longest_bytes:
        return text
    kept = text.encode("utf-8", "replace")[:longest_bytes].decode("utf-8", "ignore")
    return kept.rpartition(" ")[0] or kept
