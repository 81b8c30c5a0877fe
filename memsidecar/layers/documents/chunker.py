"""Chunker: splits a text into overlapping chunks with exact token counts."""

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from memsidecar.layers.documents.segments import CutQuality, Segments, code_blocks, headings
from memsidecar.tokens.contract import Counter

VERSION = 1
"""Version of the rules in this package. It must change when the same text would give other chunks."""

_FULL_SHARE = 0.95
_MIN_SHARE = 0.5
_SLACK_TOKENS = 4
_MAX_ESTIMATES = 4
_MIN_RATIO, _MAX_RATIO = 0.25, 4.0
_OVERLAP_UNITS = (CutQuality.SENTENCE, CutQuality.WORD, CutQuality.GRAPHEME, CutQuality.INSIDE)


class ChunkSpan(NamedTuple):
    """Chunk: `text` is the part of the whole text from `start` to `end`."""

    start: int
    end: int
    text: str
    tokens: int


@dataclass(frozen=True)
class Chunker:
    """Splits a text into chunks of at most `size` tokens, counted exactly.

    Chunks are spans of the text, in order. Between the end of a chunk and the new text of the next one there is only
    white space. A chunk ends at the last paragraph, else line, else sentence, else word in its second half. A code
    block that fits beside an overlap is kept whole, and a heading stays with the text after it, even if a chunk gets
    short.

    A chunk begins with the overlap: as many whole sentences or lines from the end of the previous chunk as fit into
    `overlap` tokens together with the white space after them; if not one fits, words; if not one fits, graphemes. The
    overlap is empty only if a single character and the white space after it have more than half of `overlap` tokens.

    A single character with more than `size` tokens, which no known tokenizer has, is a chunk nevertheless.
    """

    counter: Counter
    size: int
    overlap: int

    def __post_init__(self) -> None:
        # The settings are checked when they are loaded; this guards other callers.
        if self.size < 1 or not 0 <= 2 * self.overlap <= self.size:
            raise ValueError(f"an overlap of {self.overlap} tokens is more than half of {self.size}")

    @property
    def name(self) -> str:
        """Identifier of everything that the chunks depend on besides the text."""
        return f"{self.size}/{self.overlap}/{self.counter.name}/{VERSION}"

    @property
    def max_code_tokens(self) -> int:
        """Tokens up to which a code block is kept whole."""
        return self.size - self.overlap - _SLACK_TOKENS

    def __call__(self, text: str) -> Iterator[ChunkSpan]:
        """Yield the chunks in order; none for a text of white space only."""
        return _ChunkerState(self, text).spans() if text else iter(())


class _ChunkerState:
    """State for one text. A chunk begins at segment `begin`, its new text at `fresh`, and it ends before `end`."""

    def __init__(self, rules: Chunker, text: str) -> None:
        self._text = text
        self._count = rules.counter.count
        self._size, self._overlap = rules.size, rules.overlap
        max_segment_tokens = max(1, (rules.overlap or rules.size) // 4)
        self._segments = Segments(text, self._count, max_segment_tokens)
        self._ratio = 1.0
        self._protect_structure(rules.max_code_tokens)

    def _protect_structure(self, max_code_tokens: int) -> None:
        for block in code_blocks(self._text):
            may_fit = self._segments.weight_of(block) <= 2 * max_code_tokens
            if may_fit and self._count(self._text[block.begin : block.end]) <= max_code_tokens:
                self._segments.protect_code(block)
        for heading in headings(self._text):
            self._segments.protect_heading(heading)

    def spans(self) -> Iterator[ChunkSpan]:
        begin = fresh = self._segments.next_text(0)
        while fresh < self._segments.count:
            end, span = self._next(begin, fresh)
            yield span
            fresh = self._segments.next_text(end)
            begin = self._overlap_start(fresh, begin, end, span.end)

    def _next(self, begin: int, fresh: int) -> tuple[int, ChunkSpan]:
        """Return the end and the span of the best chunk that begins at `begin` and has new text."""
        reach = self._max_end(begin, fresh)
        if reach == fresh and begin < fresh:
            return self._next(fresh, fresh)
        while reach > fresh + 1:
            end = self._best_end(begin, fresh, reach)
            span = self._span(begin, end)
            if span.tokens <= self._size:
                return end, span
            reach = end - 1
        return fresh + 1, self._span(begin, fresh + 1)

    def _span(self, begin: int, end: int) -> ChunkSpan:
        start = self._segments.text_start(begin)
        text = self._text[start : self._segments.starts[end]].rstrip()
        return ChunkSpan(start, start + len(text), text, self._count(text))

    def _max_end(self, begin: int, fresh: int) -> int:
        """Return the last end that fits into `size`; `fresh` if not one new segment fits.

        The first tries estimate from the ratio of exact counts to segment weights so far; then it bisects.
        """
        fits, too_far, estimates = fresh, self._segments.count + 1, 0
        while too_far - fits > 1:
            end = self._segments.end_within(begin, self._size / self._ratio)
            if estimates >= _MAX_ESTIMATES:
                end = (fits + min(too_far, 2 * fits - fresh + 2)) // 2
            end = min(max(end, fits + 1), too_far - 1)
            tokens = self._span(begin, end).tokens
            self._update_ratio(tokens, self._segments.weight(begin, end))
            if tokens > self._size:
                too_far = end
            else:
                fits = end
                if tokens >= _FULL_SHARE * self._size:
                    break
            estimates += 1
        return fits

    def _update_ratio(self, tokens: int, weight: int) -> None:
        """Update within bounds: trailing white space has weight but is not counted, and predicts nothing."""
        if weight:
            self._ratio = min(max(tokens / weight, _MIN_RATIO), _MAX_RATIO)

    def _best_end(self, begin: int, fresh: int, reach: int) -> int:
        if reach == self._segments.count:
            return reach
        qualities = self._segments.cut_qualities
        middle = self._segments.end_within(begin, self._segments.weight(begin, reach) * _MIN_SHARE) + 1
        middle = min(max(middle, fresh + 1), reach)
        best = max(qualities[middle : reach + 1])
        if best >= CutQuality.WORD:
            return qualities.rindex(best, middle, reach + 1)
        for at in range(middle - 1, fresh, -1):
            if qualities[at] >= CutQuality.WORD:
                return at
        best = max(qualities[fresh + 1 : reach + 1])
        return qualities.rindex(best, fresh + 1, reach + 1)

    def _overlap_start(self, fresh: int, begin: int, end: int, text_end: int) -> int:
        """Return where the next chunk begins: at its new text, or before it by the overlap."""
        if not self._overlap or fresh == self._segments.count:
            return fresh
        boundaries, is_space = self._segments.boundaries, self._segments.is_space
        last = is_space.rindex(False, begin, end)
        first = max(begin, self._segments.end_within(last + 1, -4 * self._overlap))
        new_text = self._segments.text_start(fresh)

        def fits(at: int) -> bool:
            start = self._segments.text_start(at)
            return all(self._count(self._text[start:stop]) <= self._overlap for stop in {text_end, new_text})

        for unit in _OVERLAP_UNITS:
            starts = [at for at in range(first, last + 1) if boundaries[at] >= unit and not is_space[at]]
            found = bisect_left(starts, True, key=fits)
            if found < len(starts):
                return starts[found]
        return fresh
