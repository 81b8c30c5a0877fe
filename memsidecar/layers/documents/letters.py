"""What a reader takes for one letter, and which scripts do without spaces: where a text may be cut at all."""

import re
import unicodedata
from collections.abc import Iterator
from functools import cache

_FIRST_MARK, _PAST_LAST_MARK = 0x300, 0x1F000

# Joiners, skin tones, tags of flags, selectors of variants, and the later parts of a Hangul syllable.
_JOINED = "\u200c\u200d\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f\U000e0100-\U000e01ef\u1160-\u11ff\ud7b0-\ud7ff"
_FLAG = "[\U0001f1e6-\U0001f1ff]{2}"
MOST_MARKS = 30
"""More marks on one letter than Unicode's own limit for streams are cut off, so that no letter is without bound."""

UNSPACED = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f"
"""Chinese and Japanese: a word may end behind each letter."""


@cache
def letter_pattern() -> str:
    """One letter with all that belongs to it: marks, joined emoji, a flag's two halves."""
    # Not at import: naming every mark of Unicode takes some milliseconds.
    return rf"(?:{_FLAG}|\S)(?:[{_marks()}{_JOINED}]|(?<=\u200d)\S){{0,{MOST_MARKS}}}"


def letters(text: str) -> Iterator[str]:
    """The letters of a text without white space."""
    return (match.group() for match in re.finditer(letter_pattern(), text))


def _marks() -> str:
    """Every combining mark of Unicode, as ranges for a regular expression."""
    ranges: list[list[int]] = []
    for number in range(_FIRST_MARK, _PAST_LAST_MARK):
        if unicodedata.category(chr(number)).startswith("M"):
            if ranges and ranges[-1][1] == number - 1:
                ranges[-1][1] = number
            else:
                ranges.append([number, number])
    return "".join(f"\\U{first:08x}-\\U{last:08x}" for first, last in ranges)
