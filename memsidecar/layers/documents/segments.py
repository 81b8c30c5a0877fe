"""Segments: the cut points of a text, from paragraphs to graphemes, and the structure that cuts should respect."""

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

_FIRST_MARK, _END_OF_MARKS = 0x300, 0x1F000

# Joiners, skin tones, tags of flags, variation selectors, and the later parts of a Hangul syllable.
_JOINED = "\u200c\u200d\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f\U000e0100-\U000e01ef\u1160-\u11ff\ud7b0-\ud7ff"
_FLAG = "[\U0001f1e6-\U0001f1ff]{2}"
MAX_MARKS = 30
"""Marks on one letter beyond this, Unicode's own limit for streams, are split off: it bounds a grapheme."""

UNSPACED = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f"
"""Chinese and Japanese: a word may end after each character."""

MAX_SPACE_CHARACTERS = 32
MAX_WORD_GRAPHEMES = 12
"""Longer words are split into several segments."""

_CLOSING = "\u3001\u3002\uff0c\uff01\uff1f\uff1a\uff1b\uff09\u300d\u300f\u3011\u300b\u201d\u2019\u2026"
# Stricter than domain.text.split_sentences: no end before a lower-case letter, so that abbreviations do not attract
# cuts, and line breaks are ranked apart. A change here changes the chunks of stored documents.
_SENTENCE_END = re.compile(
    "[.!?\u2026\u061f\u0964][\"'\u201d\u2019)\\]]{0,8}(?=\\s{1,32}[^\\sa-z])"
    "|[\u3002\uff01\uff1f][\uff09\u300d\u300f\u3011\u300b\u201d\u2019]{0,8}"
)
_LINE_BREAK = re.compile("\r\n|[\n\r\v\x85\u2028]")
_PAGE_BREAKS = ("\f", "\u2029")


class CutQuality(IntEnum):
    """Quality of a cut at a position, by what begins there. Higher is better."""

    INSIDE = 0
    "Inside a grapheme."
    INSIDE_CODE = 1
    "Inside a code block that is kept whole."
    GRAPHEME = 2
    AFTER_HEADING = 3
    "Text that belongs to the heading before it."
    WORD = 4
    SENTENCE = 5
    LINE = 6
    PARAGRAPH = 7


class TextSpan(NamedTuple):
    """Part of a text without trailing white space."""

    begin: int
    end: int


class Segments:
    """Segments of one text, by index. Index `count` is its end.

    `boundaries` is what begins at a segment; `cut_qualities` the quality of a cut there, lowered in protected spans.
    """

    def __init__(self, text: str, count_tokens: Callable[[str], int], max_tokens: int) -> None:
        """Split the text. A segment has at most `max_tokens`, unless it is a single character with more."""
        splitter = _Splitter(text, count_tokens, max_tokens)
        splitter.split()
        self.text = text
        self.count = len(splitter.starts)
        self.starts = array("q", [*splitter.starts, len(text)])
        self.boundaries = splitter.boundaries + bytes([CutQuality.PARAGRAPH])
        self.boundaries[0] = CutQuality.PARAGRAPH
        self.cut_qualities = self.boundaries[:]
        self.is_space = splitter.is_space
        self._totals = array("q", accumulate(splitter.weights, initial=0))

    def protect_code(self, span: TextSpan) -> None:
        """Avoid cuts inside the span."""
        first, end = bisect_right(self.starts, span.begin), bisect_left(self.starts, span.end)
        self._lower(first, end, CutQuality.INSIDE_CODE)

    def protect_heading(self, span: TextSpan) -> None:
        """Avoid cuts inside the span and right after it."""
        after = bisect_left(self.starts, span.end)
        self._lower(bisect_right(self.starts, span.begin), after, CutQuality.GRAPHEME)
        self._lower(after, after + 1, CutQuality.AFTER_HEADING)

    def _lower(self, first: int, end: int, quality: CutQuality) -> None:
        for at in range(first, min(end, self.count)):
            self.cut_qualities[at] = min(self.cut_qualities[at], quality)

    def weight(self, first: int, end: int) -> int:
        """Return the sum of the tokens of the segments: an estimate, because token counts are not quite additive."""
        return self._totals[end] - self._totals[first]

    def weight_of(self, span: TextSpan) -> int:
        return self.weight(bisect_left(self.starts, span.begin), bisect_left(self.starts, span.end))

    def end_within(self, first: int, weight: float) -> int:
        """Return the last index at most `weight` after a segment; a negative weight gives one before it."""
        return max(0, bisect_right(self._totals, self._totals[first] + weight) - 1)

    def next_text(self, at: int) -> int:
        """Return the first segment from `at` on that is not white space."""
        found = self.is_space.find(False, at)
        return self.count if found < 0 else found

    def text_start(self, at: int) -> int:
        """Return where a chunk starts that begins with this segment: without white space, except a line's indent."""
        start, end = self.starts[at], self.starts[at + 1]
        segment = self.text[start:end]
        space = len(segment) - len(segment.lstrip())
        indent = max(segment.rfind("\n", 0, space), segment.rfind("\r", 0, space)) + 1
        return start + (indent if indent or not start else space)


class _Splitter:
    """Splits a text into segments, as fine as `max_tokens` needs. Each distinct segment is counted once.

    Columns instead of rows: a megabyte of text has hundreds of thousands of segments.
    """

    def __init__(self, text: str, count_tokens: Callable[[str], int], max_tokens: int) -> None:
        self.starts = array("q")
        self.boundaries = bytearray()
        self.is_space = bytearray()
        self.weights = array("q")
        self._text = text
        self._count_tokens = count_tokens
        self._max_tokens = max_tokens
        self._weights_by_text: dict[str, int] = {}
        self._sentence_ends = {match.end() for match in _SENTENCE_END.finditer(text)}

    def split(self) -> None:
        after_unspaced = False
        for match in _segment_pattern().finditer(self._text):
            kind, segment, start = match.lastgroup, match[0], match.start()
            unspaced = kind == "unspaced"
            space = match.start(kind) - start if kind else len(segment)
            boundary = self._boundary(start, segment[:space], unspaced or after_unspaced)
            if self._weigh(segment) <= self._max_tokens:
                self._add(start, boundary, segment, not kind)
            else:
                self._add_finer(start, boundary, segment[:space], segment[space:])
            after_unspaced = unspaced

    def _add(self, start: int, boundary: CutQuality, segment: str, is_space: bool) -> None:
        self.starts.append(start)
        self.boundaries.append(boundary)
        self.is_space.append(is_space)
        self.weights.append(self._weights_by_text[segment])

    def _boundary(self, start: int, space: str, unspaced: bool) -> CutQuality:
        if len(space) > 1 or space == "\n":
            breaks = len(_LINE_BREAK.findall(space))
            if breaks > 1 or any(page_break in space for page_break in _PAGE_BREAKS):
                return CutQuality.PARAGRAPH
            if breaks:
                return CutQuality.LINE
        if start in self._sentence_ends:
            return CutQuality.SENTENCE
        return CutQuality.WORD if space or unspaced else CutQuality.GRAPHEME

    def _add_finer(self, start: int, boundary: CutQuality, space: str, word: str) -> None:
        """Add white space apart, then graphemes, then characters."""
        for part, begins in self._parts(space, word):
            self._weigh(part)
            self._add(start, max(boundary, begins), part, part.isspace())
            start, boundary = start + len(part), CutQuality.INSIDE

    def _parts(self, space: str, word: str) -> Iterator[tuple[str, CutQuality]]:
        for part in [space] if self._weigh(space) <= self._max_tokens else space:
            if part:
                yield part, CutQuality.GRAPHEME
        for grapheme in graphemes(word):
            fits = self._weigh(grapheme) <= self._max_tokens
            for at, part in enumerate([grapheme] if fits else grapheme):
                yield part, CutQuality.INSIDE if at else CutQuality.GRAPHEME

    def _weigh(self, segment: str) -> int:
        weight = self._weights_by_text.get(segment)
        if weight is None:
            weight = self._weights_by_text[segment] = self._count_tokens(segment)
        return weight


def code_blocks(text: str) -> list[TextSpan]:
    """Return fenced blocks, and indented blocks outside of them, in order."""
    fenced = list(_fenced(text))
    return sorted([*fenced, *_outside(fenced, _indented(text))])


def headings(text: str) -> Iterator[TextSpan]:
    for pattern in (_HEADING, _UNDERLINED):
        for match in pattern.finditer(text):
            yield _without_trailing_space(text, match.start(), match.end())


def _fenced(text: str) -> Iterator[TextSpan]:
    """Yield fenced blocks. A closing fence is at least as long as the opening one and has no text after it."""
    opened: re.Match[str] | None = None
    for fence in _FENCE.finditer(text):
        if opened is None:
            opened = fence
        elif fence[1].startswith(opened[1]) and not fence[2].strip():
            yield TextSpan(opened.start(), fence.end(1))
            opened = None
    if opened is not None:
        yield _without_trailing_space(text, opened.start(), len(text))


def _indented(text: str) -> Iterator[TextSpan]:
    for match in _INDENTED.finditer(text):
        span = _without_trailing_space(text, match.start(), match.end())
        if span.begin < span.end:
            yield span


def _outside(fenced: list[TextSpan], others: Iterator[TextSpan]) -> Iterator[TextSpan]:
    """Yield the other spans that overlap no fenced one. Both are in order, so one pass is enough."""
    at = 0
    for span in others:
        while at < len(fenced) and fenced[at].end <= span.begin:
            at += 1
        if at == len(fenced) or span.end <= fenced[at].begin:
            yield span


def _without_trailing_space(text: str, begin: int, end: int) -> TextSpan:
    return TextSpan(begin, begin + len(text[begin:end].rstrip()))


def graphemes(text: str) -> Iterator[str]:
    """Yield the graphemes of a text without white space."""
    return (match.group() for match in re.finditer(grapheme_pattern(), text))


@cache
def grapheme_pattern() -> str:
    """Return a pattern for one grapheme: a letter with its marks, joined emoji, the two halves of a flag."""
    # Not at import: listing every mark of Unicode takes some milliseconds.
    return rf"(?:{_FLAG}|\S)(?:[{_combining_marks()}{_JOINED}]|(?<=\u200d)\S){{0,{MAX_MARKS}}}"


def _combining_marks() -> str:
    """Return every combining mark of Unicode, as ranges for a regular expression."""
    ranges: list[list[int]] = []
    for code_point in range(_FIRST_MARK, _END_OF_MARKS):
        if unicodedata.category(chr(code_point)).startswith("M"):
            if ranges and ranges[-1][1] == code_point - 1:
                ranges[-1][1] = code_point
            else:
                ranges.append([code_point, code_point])
    return "".join(f"\\U{first:08x}-\\U{last:08x}" for first, last in ranges)


@cache
def _segment_pattern() -> re.Pattern[str]:
    """Return a pattern for a segment: a word or a part of it with the white space before it, or white space alone."""
    grapheme = grapheme_pattern()
    unspaced = f"(?P<unspaced>(?=[{UNSPACED}]){grapheme}[{_CLOSING}]{{0,4}})"
    # ASCII apart, because it is common and three times as fast: only its last character can have marks.
    ascii_word = rf"[!-~]{{1,{MAX_WORD_GRAPHEMES}}}(?=[\s!-~]|\Z)"
    other_word = rf"(?:(?![{UNSPACED}]){grapheme}){{1,{MAX_WORD_GRAPHEMES}}}"
    space = rf"\s{{1,{MAX_SPACE_CHARACTERS}}}"
    return re.compile(rf"\s{{0,{MAX_SPACE_CHARACTERS}}}(?:{unspaced}|(?P<word>{ascii_word}|{other_word}))|{space}")
