"""Cut points: graphemes, words, sentences, code, headings."""

import re
import unicodedata
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from enum import IntEnum
from functools import cache
from itertools import accumulate
from typing import NamedTuple

_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})([^\n]*)", re.MULTILINE)
_INDENTED = re.compile(r"(?:\A|(?<=\n\n)|(?<=\n\r\n))(?:(?: {4}|\t)[^\n]*\n?(?:[ \t\r]*\n)*)+")
_HEADING = re.compile(r"^ {0,3}#{1,6}[ \t][^\n]{0,300}$", re.MULTILINE)
_UNDERLINED = re.compile(r"^ {0,3}[^\s][^\n]{0,300}\n {0,3}(?:={2,}|-{2,})[ \t\r]*$", re.MULTILINE)

_FIRST_MARK, _PAST_LAST_MARK = 0x300, 0x1F000

# Joiners, skin tones, tags of flags, selectors of variants, and the later parts of a Hangul syllable.
_JOINED = "\u200c\u200d\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f\U000e0100-\U000e01ef\u1160-\u11ff\ud7b0-\ud7ff"
_FLAG = "[\U0001f1e6-\U0001f1ff]{2}"
MOST_MARKS = 30
"""More marks on one letter than Unicode's own limit for streams are cut off, so that no letter is without bound."""

UNSPACED = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f"
"""Chinese and Japanese: a word may end behind each letter."""

LONGEST_WHITE = 32
LONGEST_WORD = 12
"""Letters; a longer word is several pieces."""

_CLOSING = "\u3001\u3002\uff0c\uff01\uff1f\uff1a\uff1b\uff09\u300d\u300f\u3011\u300b\u201d\u2019\u2026"
_SENTENCE_END = re.compile(
    "[.!?\u2026\u061f\u0964][\"'\u201d\u2019)\\]]{0,8}(?=\\s{1,32}[^\\sa-z])"
    "|[\u3002\uff01\uff1f][\uff09\u300d\u300f\u3011\u300b\u201d\u2019]{0,8}"
)
_LINE_BREAK = re.compile("\r\n|[\n\r\v\x85\u2028]")
_PAGE_BREAKS = ("\f", "\u2029")


class Span(NamedTuple):
    """From the first character to behind the last one that is not white."""

    begin: int
    end: int


def code_blocks(text: str) -> list[Span]:
    """Fenced blocks, and indented ones outside of them, in order."""
    fenced = list(_fenced(text))
    return sorted([*fenced, *_outside(fenced, _indented(text))])


def headings(text: str) -> Iterator[Span]:
    for pattern in (_HEADING, _UNDERLINED):
        for found in pattern.finditer(text):
            yield _inked(text, found.start(), found.end())


def _fenced(text: str) -> Iterator[Span]:
    """A fence ends at one that is at least as long and says nothing more, or with the text."""
    opened: re.Match[str] | None = None
    for fence in _FENCE.finditer(text):
        if opened is None:
            opened = fence
        elif fence[1].startswith(opened[1]) and not fence[2].strip():
            yield Span(opened.start(), fence.end(1))
            opened = None
    if opened is not None:
        yield _inked(text, opened.start(), len(text))


def _indented(text: str) -> Iterator[Span]:
    for found in _INDENTED.finditer(text):
        span = _inked(text, found.start(), found.end())
        if span.begin < span.end:
            yield span


def _outside(fenced: list[Span], others: Iterator[Span]) -> Iterator[Span]:
    """Both come in order, so one walk along the two is enough."""
    at = 0
    for span in others:
        while at < len(fenced) and fenced[at].end <= span.begin:
            at += 1
        if at == len(fenced) or span.end <= fenced[at].begin:
            yield span


def _inked(text: str, begin: int, end: int) -> Span:
    return Span(begin, begin + len(text[begin:end].rstrip()))


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


class CutQuality(IntEnum):
    """What begins at a place. Cutting there is the better, the higher."""

    INSIDE = 0
    "Nothing: the place is within what a reader takes for one letter."
    KEPT = 1
    "Nothing: the place is within code that is kept whole."
    LETTER = 2
    HEADED = 3
    "What a heading stands over."
    WORD = 4
    SENTENCE = 5
    LINE = 6
    PARAGRAPH = 7


class Segments:
    """The pieces of one text, by number. Piece `count` is its end.

    `borders` says what begins at a piece; `ranks` how good a place for a cut that is, after `keep` and `head`.
    """

    def __init__(self, text: str, count_tokens: Callable[[str], int], limit: int) -> None:
        """A piece has at most `limit` tokens, unless it is a single character that has more."""
        cutter = _Cutter(text, count_tokens, limit)
        cutter.cut()
        self.text = text
        self.count = len(cutter.starts)
        self.starts = array("q", [*cutter.starts, len(text)])
        self.borders = cutter.borders + bytes([CutQuality.PARAGRAPH])
        self.borders[0] = CutQuality.PARAGRAPH
        self.ranks = self.borders[:]
        self.white = cutter.white
        self._totals = array("q", accumulate(cutter.weights, initial=0))

    def keep(self, span: Span) -> None:
        """Nothing in the span is a good place for a cut."""
        self._lower(bisect_right(self.starts, span.begin), bisect_left(self.starts, span.end), CutQuality.KEPT)

    def head(self, span: Span) -> None:
        """The span stands over what follows it: neither in it nor behind it is a good place for a cut."""
        behind = bisect_left(self.starts, span.end)
        self._lower(bisect_right(self.starts, span.begin), behind, CutQuality.LETTER)
        self._lower(behind, behind + 1, CutQuality.HEADED)

    def _lower(self, first: int, past: int, rank: CutQuality) -> None:
        for at in range(first, min(past, self.count)):
            self.ranks[at] = min(self.ranks[at], rank)

    def weight(self, first: int, past: int) -> int:
        """The pieces' tokens if they were additive, which is nearly so."""
        return self._totals[past] - self._totals[first]

    def weight_of(self, span: Span) -> int:
        return self.weight(bisect_left(self.starts, span.begin), bisect_left(self.starts, span.end))

    def past(self, first: int, weight: float) -> int:
        """The last place that is at most so many tokens behind a piece; less than nothing is before it."""
        return max(0, bisect_right(self._totals, self._totals[first] + weight) - 1)

    def next_inked(self, at: int) -> int:
        """The first piece from here on that is not white."""
        found = self.white.find(False, at)
        return self.count if found < 0 else found

    def begin(self, at: int) -> int:
        """Where a chunk begins that begins with this piece: without white space, but for the indent of a line."""
        start, end = self.starts[at], self.starts[at + 1]
        piece = self.text[start:end]
        ink = len(piece) - len(piece.lstrip())
        indent = max(piece.rfind("\n", 0, ink), piece.rfind("\r", 0, ink)) + 1
        return start + (indent if indent or not start else ink)


class _Cutter:
    """Cuts a text into pieces, from coarse to fine as far as needed. Each different piece is counted once.

    Columns and no rows: a megabyte has hundreds of thousands of pieces.
    """

    def __init__(self, text: str, count_tokens: Callable[[str], int], limit: int) -> None:
        self.starts = array("q")
        self.borders = bytearray()
        self.white = bytearray()
        self.weights = array("q")
        self._text = text
        self._count_tokens = count_tokens
        self._limit = limit
        self._known: dict[str, int] = {}
        self._sentences = {match.end() for match in _SENTENCE_END.finditer(text)}

    def cut(self) -> None:
        after_unspaced = False
        for match in _piece_pattern().finditer(self._text):
            kind, piece, start = match.lastgroup, match[0], match.start()
            unspaced = kind == "unspaced"
            ink = match.start(kind) - start if kind else len(piece)
            border = self._border(start, piece[:ink], unspaced or after_unspaced)
            if self._weigh(piece) <= self._limit:
                self._add(start, border, piece, not kind)
            else:
                self._add_finer(start, border, piece[:ink], piece[ink:])
            after_unspaced = unspaced

    def _add(self, start: int, border: CutQuality, piece: str, white: bool) -> None:
        self.starts.append(start)
        self.borders.append(border)
        self.white.append(white)
        self.weights.append(self._known[piece])

    def _border(self, start: int, white: str, unspaced: bool) -> CutQuality:
        if len(white) > 1 or white == "\n":
            breaks = len(_LINE_BREAK.findall(white))
            if breaks > 1 or any(one in white for one in _PAGE_BREAKS):
                return CutQuality.PARAGRAPH
            if breaks:
                return CutQuality.LINE
        if start in self._sentences:
            return CutQuality.SENTENCE
        return CutQuality.WORD if white or unspaced else CutQuality.LETTER

    def _add_finer(self, start: int, border: CutQuality, white: str, word: str) -> None:
        """White space apart, then letters, then characters."""
        for part, begins in self._parts(white, word):
            self._weigh(part)
            self._add(start, max(border, begins), part, part.isspace())
            start, border = start + len(part), CutQuality.INSIDE

    def _parts(self, white: str, word: str) -> Iterator[tuple[str, CutQuality]]:
        for one in [white] if self._weigh(white) <= self._limit else white:
            if one:
                yield one, CutQuality.LETTER
        for letter in letters(word):
            whole = self._weigh(letter) <= self._limit
            for at, part in enumerate([letter] if whole else letter):
                yield part, CutQuality.INSIDE if at else CutQuality.LETTER

    def _weigh(self, piece: str) -> int:
        weight = self._known.get(piece)
        if weight is None:
            weight = self._known[piece] = self._count_tokens(piece)
        return weight


@cache
def _piece_pattern() -> re.Pattern[str]:
    """A word, or a part of a long one, with the white space before it; or white space alone where there is much."""
    letter = letter_pattern()
    unspaced = f"(?P<unspaced>(?=[{UNSPACED}]){letter}[{_CLOSING}]{{0,4}})"
    # ASCII apart, because it is common and three times as fast: nothing in it joins but at its end.
    word = rf"(?P<word>[!-~]{{1,{LONGEST_WORD}}}(?=[\s!-~]|\Z)|(?:(?![{UNSPACED}]){letter}){{1,{LONGEST_WORD}}})"
    return re.compile(rf"\s{{0,{LONGEST_WHITE}}}(?:{unspaced}|{word})|\s{{1,{LONGEST_WHITE}}}")
