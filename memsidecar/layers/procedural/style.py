"""Style of a user: requested answer length, technical depth; the user's own prose in a message."""

import re
from collections.abc import Iterator, Sequence
from enum import IntFlag
from functools import lru_cache

import regex

from memsidecar.domain.text import COMMON_WORDS, FUNCTION_WORDS, word_set
from memsidecar.layers.text_analysis import normalize_nfkc, stem

_MAX_READ_CHARACTERS = 8_000  # style shows in the beginning of a message; a pasted log has none
_MIN_WORD_CHARACTERS, _MAX_WORD_CHARACTERS = 3, 24
_MAX_CACHED_WORDS = 16_384
# Code, quotations and URLs, each with keywords without which its pattern cannot match: most texts have none.
_FOREIGN = [
    (("```", "~~~"), regex.compile(r"^[ ]{0,3}(```|~~~).*?(?:^[ ]{0,3}\1|\Z)", regex.MULTILINE | regex.DOTALL)),
    ((">",), regex.compile(r"^[ ]{0,3}>.*$", regex.MULTILINE)),
    (("http", "www."), regex.compile(r"\b(?:https?://|www\.)\S+")),
]
_PROSE_WORD = regex.compile(r"[\p{L}\p{M}\p{N}]+(?:['\u2019]\p{L}+)*")
_ASCII_WORD = re.compile(r"[a-z0-9]+(?:'[a-z]+)*")
# Not domain.text.split_sentences: `extract_prose` maps full-width marks to ASCII ones, which end a sentence in scripts
# without spaces although no white space follows.
_SENTENCE = regex.compile(r"(?:[^.!?\n\u3002\u061f]++|\.(?=\w))++[.!?\u3002\u061f]*")

# Words of requests to an assistant: they name no topic. In addition to the stop words of domain.text.
_REQUEST_WORDS = word_set("""
advice answer article assistant clarify code compare comparison concise create define describe description detail
details detailed difference draft elaborate email error explanation fail fix follow format generate hint improve
information input message note option options output paragraph please project prompt provide recommend recommendation
reply request response review rewrite sentence shorter simple solution solve style suggestion summarize summary task
text thanks tip tips title tldr topic translate tutorial version
brief briefly longer explain show help give write per hour hours minute day days week weeks month months year years
today tomorrow yesterday monday tuesday wednesday thursday friday saturday sunday one two three four five six seven
eight nine ten
""")
_NOT_CONTENT = frozenset(stem(word) for word in FUNCTION_WORDS | COMMON_WORDS | _REQUEST_WORDS) | FUNCTION_WORDS


class LengthPreference(IntFlag):
    """Length of answers that a message asks for."""

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
# A pattern can only match a text with one of its keywords. Most messages have none, and the check is fast.
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
_NEGATION = regex.compile(r"\b(?:no|not|don't|do not|without|less|never|needn't|not need)(?: \w+){0,3} $")

_CODE_FENCE = regex.compile(r"^[ ]{0,3}(?:```|~~~)", regex.MULTILINE)
_IDENTIFIER = regex.compile(
    r"\b[a-z]+_[a-z_\d]+\b|\b[a-z]{2,}[A-Z][a-z]+\w*\b|\b\w+\(\)|\b[A-Z]\w+(?:Error|Exception)\b|(?<!\S)--[a-z][\w-]+"
    r"|\b\w+\.(?:py|js|ts|go|rs|java|cpp|json|ya?ml|toml|sql|sh|csv|html|css|proto|conf|ini)\b|(?<!\S)/\w+/[\w/.-]+"
    r"|\bv\d+\.\d+\.\d+\b|`[^`\n]+`"
)
_IDENTIFIER_KEYWORDS = ("_", "()", "Error", "Exception", "--", "/", "`")
_IDENTIFIER_HINT = regex.compile(r"\w\.\w|[a-z][A-Z]")
_JARGON_WORD = re.compile(r"[a-z+#]+")
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
_MIN_TECHNICAL_TERMS = 2


def find_length_preference(prose: str) -> LengthPreference:
    """Return the requested answer length; NONE for no request or two contrary ones."""
    line = " ".join(prose.lower().split())
    concise = _requests(_CONCISE, _CONCISE_KEYWORDS, line)
    detailed = _requests(_DETAILED, _DETAILED_KEYWORDS, line)
    if concise == detailed:
        return LengthPreference.NONE
    return LengthPreference.CONCISE if concise else LengthPreference.DETAILED


def _requests(pattern: regex.Pattern[str], keywords: Sequence[str], line: str) -> bool:
    return any(keyword in line for keyword in keywords) and any(
        not _NEGATION.search(line[max(0, match.start() - 40) : match.start()]) for match in pattern.finditer(line)
    )


def is_technical(text: str, prose: str) -> bool:
    """Whether the text has a code block, or at least two identifiers or technical words that are not a small share."""
    if _CODE_FENCE.search(text):
        return True
    words = _JARGON_WORD.findall(prose.lower())
    identifiers, jargon = _count_identifiers(prose), sum(word in _JARGON for word in words)
    if identifiers >= _MIN_TECHNICAL_TERMS:
        return True
    return identifiers + jargon >= max(_MIN_TECHNICAL_TERMS, _JARGON_SHARE * len(words))


def _count_identifiers(prose: str) -> int:
    may_match = any(keyword in prose for keyword in _IDENTIFIER_KEYWORDS) or _IDENTIFIER_HINT.search(prose)
    return len(_IDENTIFIER.findall(prose)) if may_match else 0


def extract_prose(text: str) -> str:
    """Return what the user wrote: without code, quotations and URLs; only the beginning of a long text."""
    # NFKC maps full-width marks to ASCII ones, so that a question mark is the same in any script.
    text = normalize_nfkc(text[:_MAX_READ_CHARACTERS]).replace("\u2019", "'")
    for keywords, pattern in _FOREIGN:
        if any(keyword in text for keyword in keywords):
            text = pattern.sub("\n", text)
    return text


def prose_sentences(prose: str) -> Iterator[str]:
    return (sentence for match in _SENTENCE.finditer(prose) if (sentence := match[0].strip()))


def prose_words(text: str) -> list[str]:
    """Return the lower-case words with inner apostrophes ("don't"), without a possessive 's."""
    pattern = _ASCII_WORD if text.isascii() else _PROSE_WORD
    return [word.removesuffix("'s") for word in pattern.findall(text.lower())]


def is_content_word(word: str) -> bool:
    """Whether a word can name a topic."""
    return 1 < len(word) <= _MAX_WORD_CHARACTERS and _is_content_word(word)


@lru_cache(_MAX_CACHED_WORDS)
def _is_content_word(word: str) -> bool:
    if len(word) < _MIN_WORD_CHARACTERS:
        return not word.isascii()
    return not word.isdigit() and word not in _NOT_CONTENT and stem(word) not in _NOT_CONTENT


def truncate_to_bytes(text: str, max_bytes: int) -> str:
    """Return as many whole words as fit into `max_bytes` of UTF-8."""
    encoded = text.encode("utf-8", "replace")
    if len(encoded) <= max_bytes:
        return text
    fitting = encoded[:max_bytes].decode("utf-8", "ignore")
    return fitting.rpartition(" ")[0] or fitting
