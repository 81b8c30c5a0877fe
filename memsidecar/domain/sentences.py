"""Sentences: where a text can be cut so that what is left can still be read."""

import re
from collections.abc import Callable
from itertools import pairwise

# A line's end counts as well: lists and headings have no full stops. Latin marks need white space behind them, so that
# neither 3.14 nor example.org is cut; the others stand for themselves.
_END = re.compile(
    "[.!?\u2026\u061f\u0964][\"'\u201d\u2019)\\]]{0,8}\\s+"
    "|[\u3002\uff01\uff1f][\uff09\u300d\u300f\u3011\u300b\u201d\u2019]{0,8}\\s*"
    "|\n\\s*"
)


def sentences(text: str) -> list[str]:
    """The sentences in order, each with the white space behind it: joined, they are the text."""
    borders = [0, *(found.end() for found in _END.finditer(text)), len(text)]
    return [text[begin:end] for begin, end in pairwise(borders) if begin < end]


def cut(text: str, max_tokens: int, count: Callable[[str], int]) -> str:
    """As many whole sentences from the beginning as fit; empty where not even the first one does."""
    pieces = sentences(text)
    fitting, too_many = 0, len(pieces) + 1
    while fitting + 1 < too_many:
        middle = (fitting + too_many) // 2
        if count("".join(pieces[:middle]).rstrip()) <= max_tokens:
            fitting = middle
        else:
            too_many = middle
    return "".join(pieces[:fitting]).rstrip()
