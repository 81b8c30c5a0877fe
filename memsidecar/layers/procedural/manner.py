"""How somebody writes, and how they want to be answered. English only; of other languages nothing is claimed."""

import re
from collections.abc import Sequence
from enum import IntFlag

import regex

from memsidecar.domain.text import forms


class Wish(IntFlag):
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
_SIGNS_OF_CONCISE = (
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
_SIGNS_OF_DETAILED = (
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
_WORD = re.compile(r"[a-z+#]+")
_JARGON = forms("""
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


def wish_of(prose: str) -> Wish:
    """What of two contrary wishes is meant, nobody knows: then none."""
    line = " ".join(prose.lower().split())
    asked = (Wish.CONCISE if _asks(_CONCISE, _SIGNS_OF_CONCISE, line) else Wish.NONE) | (
        Wish.DETAILED if _asks(_DETAILED, _SIGNS_OF_DETAILED, line) else Wish.NONE
    )
    return asked if asked in {Wish.CONCISE, Wish.DETAILED} else Wish.NONE


def is_technical(text: str, prose: str) -> bool:
    """A block of code; or identifiers and words of the trade, at least two of them and not lost among others."""
    if _CODE.search(text):
        return True
    words = _WORD.findall(prose.lower())
    identifiers, jargon = _identifiers(prose), sum(word in _JARGON for word in words)
    signs = identifiers + jargon
    return signs >= _FEWEST_SIGNS and (identifiers >= _FEWEST_SIGNS or signs >= _JARGON_SHARE * len(words))


def _identifiers(prose: str) -> int:
    may_be = any(sign in prose for sign in _SIGNS_OF_IDENTIFIERS) or _INNER_SIGN_OF_IDENTIFIERS.search(prose)
    return len(_IDENTIFIER.findall(prose)) if may_be else 0


def _asks(pattern: regex.Pattern[str], signs: Sequence[str], line: str) -> bool:
    return any(sign in line for sign in signs) and any(
        not _DENIED.search(line[max(0, found.start() - 40) : found.start()]) for found in pattern.finditer(line)
    )
