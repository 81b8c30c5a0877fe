"""Length wishes, technical depth, prose extraction."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from enum import IntFlag
from functools import lru_cache

import regex

from memsidecar.domain.text import COMMON_WORDS, FUNCTION_WORDS, word_set
from memsidecar.layers.text_analysis import stem

_LONGEST_READ_CHARACTERS = 8_000  # a habit shows itself in what is said first; a pasted log has none
_FEWEST_LETTERS, _LONGEST_WORD_CHARACTERS = 3, 24
# What the user did not write themselves, each with the signs without which it cannot be there: most texts have none.
_FOREIGN = [
    (("```", "~~~"), regex.compile(r"^[ ]{0,3}(```|~~~).*?(?:^[ ]{0,3}\1|\Z)", regex.MULTILINE | regex.DOTALL)),
    ((">",), regex.compile(r"^[ ]{0,3}>.*$", regex.MULTILINE)),
    (("http", "www."), regex.compile(r"\b(?:https?://|www\.)\S+")),
]
_PROSE_WORD = regex.compile(r"[\p{L}\p{M}\p{N}]+(?:['\u2019]\p{L}+)*")
_ASCII_WORD = re.compile(r"[a-z0-9]+(?:'[a-z]+)*")
_SENTENCE = regex.compile(r"(?:[^.!?\n\u3002\u061f]++|\.(?=\w))++[.!?\u3002\u061f]*")
_WORDS_KEPT = 16_384

# What people say to an assistant about anything: no topic of theirs.
_ASKING = word_set("""
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


class LengthPreference(IntFlag):
    """What a message asks of the length of answers."""

    NONE = 0
    CONCISE = 1
    DETAILED = 2


_ANSWER = r"(?:answers?|repl(?:y|ies)|responses?|explanations?|version)"
_CONCISE = regex.compile(
    rf"\btl;?dr\b|\bshorter,? (?:please|pls|{_ANSWER})\b|\bshort {_ANSWER}\b|\bmore (?:concise|succinct)(?:ly)?\b"
    r"|(?:^|please |[.,!;:] )be (?:very |more )?(?:brief|short|concise|succinct|terse)\b"
    r"|\b(?:keep (?:it|this|that|(?:your )?(?:answers?|replies))|make (?:it|this|that)|stay|answer)"
    r" (?:more |very |much |a bit )?(?:shorter|brief|short|concise|succinct)\b"
    r"|\b(?:answer|explain|reply|say it) (?:\w+ )?(?:briefly|concisely)\b|\bbriefly(?: explain|,|$)"
    r"|\b(?:in|just) (?:one|a single|1|two|2|a few) (?:short )?(?:sentences?|words|lines?)\b"
    rf"|\b(?:that|{_ANSWER})(?:'s| is| was| are) (?:way |much |far )?too (?:long|verbose|wordy|detailed)\b"
    r"|\bless (?:verbose|wordy|detail)\b|\bin a nutshell\b|\bget to the point\b"
    r"|\bjust the (?:gist|answer|short version)\b|^(?:please )?(?:much )?shorter(?: please)?\W*$"
)
_DETAILED = regex.compile(
    r"\b(?:more|greater|full|further) (?:details?|depth|detailed|elaborate|thorough)\b|\bin(?:-| )(?:detail|depth)\b"
    r"|\belaborate\b|\bgo(?:ing)? (?:deeper|into (?:more )?(?:detail|depth))\b|\bexpand (?:on|upon)\b"
    rf"|\blonger {_ANSWER}\b|\bexplain (?:it |this |that )?(?:more|further|thoroughly|at length)\b|\bbe more thorough\b"
    rf"|\b(?:that|{_ANSWER})(?:'s| is| was| are) (?:way |much |far )?too (?:short|brief)\b"
)
# Without one of these there is no wish, and most messages have none: they are looked for first, because it is quicker.
_CONCISE_KEYWORDS = (
    "tl",
    "short",
    "concise",
    "succinct",
    "brief",
    "terse",
    "sentence",
    "word",
    "line",
    "verbose",
    "detail",
    "too long",
    "in a nutshell",
    "to the point",
    "just the",
)
_DETAILED_KEYWORDS = (
    "detail",
    "depth",
    "elaborate",
    "thorough",
    "deeper",
    "expand",
    "longer",
    "explain",
    "too short",
    "too brief",
)
_DENIED = regex.compile(r"\b(?:no|not|don't|do not|without|less|never|needn't|not need)(?: \w+){0,3} $")

_CODE = regex.compile(r"^[ ]{0,3}(?:```|~~~)", regex.MULTILINE)
_IDENTIFIER = regex.compile(
    r"\b[a-z]+_[a-z_\d]+\b|\b[a-z]{2,}[A-Z][a-z]+\w*\b|\b\w+\(\)|\b[A-Z]\w+(?:Error|Exception)\b|(?<!\S)--[a-z][\w-]+"
    r"|\b\w+\.(?:py|js|ts|go|rs|java|cpp|json|ya?ml|toml|sql|sh|csv|html|css|proto|conf|ini)\b|(?<!\S)/\w+/[\w/.-]+"
    r"|\bv\d+\.\d+\.\d+\b|`[^`\n]+`"
)
_SIGNS_OF_IDENTIFIERS = ("_", "()", "Error", "Exception", "--", "/", "`")
_INNER_SIGN_OF_IDENTIFIERS = regex.compile(r"\w\.\w|[a-z][A-Z]")
_STYLE_WORD = re.compile(r"[a-z+#]+")
_JARGON = word_set("""
algorithm api apis array async asyncio aws azure backend bash bitmap boolean bytecode cache callback cli closure
cluster compile compiler concurrency config coroutine cpu css cuda daemon database dataframe deadlock debugger
decorator dependency deploy deployment deserialize django dns docker dockerfile embedding endpoint enum firewall
framework frontend function gateway git github golang gpu gradient grpc hash hashmap html http https idempotent
inference integer iterator javascript jit json jwt kafka kubectl kubernetes latency linux localhost malloc middleware
mutex mysql namespace nginx npm null nullable numpy oauth optimizer orm overflow pandas parameter parser payload pip
pipeline pointer polymorphism postgres postgresql protobuf python pytorch query queue recursion recursive redis
refactor regex repo repository rollback rpc schema script sdk segfault serialize server shard socket sql sqlite ssh
ssl stacktrace stderr stdout struct subnet syntax tensor terraform thread threads throughput timeout tls transaction
tuple typescript ubuntu unicode variable vm webhook websocket xml yaml
""")
_JARGON_SHARE = 0.15
_FEWEST_SIGNS = 2


def find_length_preference(prose: str) -> LengthPreference:
    """What of two contrary wishes is meant, nobody knows: then none."""
    line = " ".join(prose.lower().split())
    asked = (LengthPreference.CONCISE if _asks(_CONCISE, _CONCISE_KEYWORDS, line) else LengthPreference.NONE) | (
        LengthPreference.DETAILED if _asks(_DETAILED, _DETAILED_KEYWORDS, line) else LengthPreference.NONE
    )
    return asked if asked in {LengthPreference.CONCISE, LengthPreference.DETAILED} else LengthPreference.NONE


def is_technical(text: str, prose: str) -> bool:
    """A block of code; or identifiers and words of the trade, at least two of them and not lost among others."""
    if _CODE.search(text):
        return True
    words = _STYLE_WORD.findall(prose.lower())
    identifiers, jargon = _count_identifiers(prose), sum(word in _JARGON for word in words)
    signs = identifiers + jargon
    return signs >= _FEWEST_SIGNS and (identifiers >= _FEWEST_SIGNS or signs >= _JARGON_SHARE * len(words))


def _count_identifiers(prose: str) -> int:
    may_be = any(sign in prose for sign in _SIGNS_OF_IDENTIFIERS) or _INNER_SIGN_OF_IDENTIFIERS.search(prose)
    return len(_IDENTIFIER.findall(prose)) if may_be else 0


def _asks(pattern: regex.Pattern[str], signs: Sequence[str], line: str) -> bool:
    return any(sign in line for sign in signs) and any(
        not _DENIED.search(line[max(0, found.start() - 40) : found.start()]) for found in pattern.finditer(line)
    )


def extract_prose(text: str) -> str:
    """What the user wrote themselves: no code, no quotation, no address; only the beginning of what is long."""
    # The normal form makes full-width signs plain ones, so that a question mark is one in any script.
    text = unicodedata.normalize("NFKC", text[:_LONGEST_READ_CHARACTERS]).replace("\u2019", "'")
    for signs, pattern in _FOREIGN:
        if any(sign in text for sign in signs):
            text = pattern.sub("\n", text)
    return text


def prose_sentences(prose: str) -> Iterator[str]:
    return (found for match in _SENTENCE.finditer(prose) if (found := match[0].strip()))


def prose_words(text: str) -> list[str]:
    word = _ASCII_WORD if text.isascii() else _PROSE_WORD
    return [found.removesuffix("'s") for found in word.findall(text.lower())]


def is_content_word(word: str) -> bool:
    """Whether a word can be what somebody talks about."""
    return 1 < len(word) <= _LONGEST_WORD_CHARACTERS and _tells(word)


@lru_cache(_WORDS_KEPT)
def _tells(word: str) -> bool:
    if len(word) < _FEWEST_LETTERS:
        return not word.isascii()
    return not word.isdigit() and word not in _SAYS_NOTHING and stem(word) not in _SAYS_NOTHING


def truncate_to_bytes(text: str, longest_bytes: int) -> str:
    """Whole words, as many as fit: what is kept must be bounded whatever the script."""
    if len(text.encode("utf-8", "replace")) <= longest_bytes:
        return text
    kept = text.encode("utf-8", "replace")[:longest_bytes].decode("utf-8", "ignore")
    return kept.rpartition(" ")[0] or kept
