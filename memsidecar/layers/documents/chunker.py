"""Token-exact chunks with overlap."""

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from memsidecar.layers.documents.segments import CutQuality, Segments, code_blocks, headings
from memsidecar.tokens.contract import Counter

VERSION = 1
"""Of the rules in this room: other rules make other chunks of the same text."""

_FULL_SHARE = 0.95
_LEAST_SHARE = 0.5
_SLACK_TOKENS = 4
_GUESSES = 4
_LEAST_RATIO, _GREATEST_RATIO = 0.25, 4.0
_UNITS = (CutQuality.SENTENCE, CutQuality.WORD, CutQuality.LETTER, CutQuality.INSIDE)


class ChunkSpan(NamedTuple):
    """A chunk: `text` is the whole text from `start` to `end`."""

    start: int
    end: int
    text: str
    tokens: int


@dataclass(frozen=True)
class Chunker:
    """Cuts a text into chunks of at most `size` tokens, counted exactly.

    Chunks are stretches of the text, in order; between one's end and the next one's new text there is only white
    space. A chunk ends at the last paragraph, else line, else sentence, else word in its second half. Code that fits
    beside an overlap is kept whole, and a heading stays with what follows it, even where a chunk gets short by that.

    A chunk begins with the overlap: the end of the one before, as many whole sentences or lines of it as fit into
    `overlap` tokens together with the white space behind them; where not one fits, words; where not one, letters. It
    is empty only where a single character and the white space behind it have more than half of `overlap` tokens.

    A single character that has more than `size` tokens, which no tokenizer that is known has, is a chunk all the same.
    """

    counter: Counter
    size: int
    overlap: int

    def __post_init__(self) -> None:
        # The settings are checked where they are read; this is for whoever builds one by hand.
        if self.size < 1 or not 0 <= 2 * self.overlap <= self.size:
            raise ValueError(f"an overlap of {self.overlap} tokens is more than half of {self.size}")

    @property
    def name(self) -> str:
        """What the chunks depend on, besides the text."""
        return f"{self.size}/{self.overlap}/{self.counter.name}/{VERSION}"

    def __call__(self, text: str) -> Iterator[ChunkSpan]:
        """The chunks, one after the other; none of a text without anything but white space."""
        return _Cutting(self, text).stretches() if text else iter(())

    @property
    def longest_kept(self) -> int:
        """Tokens of code up to which it is kept whole."""
        return self.size - self.overlap - _SLACK_TOKENS


class _Cutting:
    """One text on its way. `begin`, `fresh`, `past` are pieces: where the chunk begins, its new text, its end."""

    def __init__(self, rules: Chunker, text: str) -> None:
        self._text = text
        self._count = rules.counter.count
        self._size, self._overlap = rules.size, rules.overlap
        limit = max(1, (rules.overlap or rules.size) // 4)
        self._pieces = Segments(text, self._count, limit)
        self._ratio = 1.0
        self._stand_together(rules.longest_kept)

    def _stand_together(self, longest_kept: int) -> None:
        for block in code_blocks(self._text):
            light = self._pieces.weight_of(block) <= 2 * longest_kept
            if light and self._count(self._text[block.begin : block.end]) <= longest_kept:
                self._pieces.keep(block)
        for heading in headings(self._text):
            self._pieces.head(heading)

    def stretches(self) -> Iterator[ChunkSpan]:
        begin = fresh = self._pieces.next_inked(0)
        while fresh < self._pieces.count:
            past, stretch = self._next(begin, fresh)
            yield stretch
            fresh = self._pieces.next_inked(past)
            begin = self._overlap_before(fresh, begin, past, stretch.end)

    def _next(self, begin: int, fresh: int) -> tuple[int, ChunkSpan]:
        """The best chunk that begins there and has something new."""
        reach = self._reach(begin, fresh)
        if reach == fresh and begin < fresh:
            return self._next(fresh, fresh)
        while reach > fresh + 1:
            past = self._best_end(begin, fresh, reach)
            stretch = self._stretch(begin, past)
            if stretch.tokens <= self._size:
                return past, stretch
            reach = past - 1
        return fresh + 1, self._stretch(begin, fresh + 1)

    def _stretch(self, begin: int, past: int) -> ChunkSpan:
        start = self._pieces.begin(begin)
        text = self._text[start : self._pieces.starts[past]].rstrip()
        return ChunkSpan(start, start + len(text), text, self._count(text))

    def _reach(self, begin: int, fresh: int) -> int:
        """How far the chunk could go at most; `fresh` when not one piece fits.

        Guesses from how the pieces' weights compare with exact counts so far, then halves what is left.
        """
        fits, too_far, guesses = fresh, self._pieces.count + 1, 0
        while too_far - fits > 1:
            guess = self._pieces.past(begin, self._size / self._ratio)
            if guesses >= _GUESSES:
                guess = (fits + min(too_far, 2 * fits - fresh + 2)) // 2
            guess = min(max(guess, fits + 1), too_far - 1)
            tokens = self._stretch(begin, guess).tokens
            self._learn(tokens, self._pieces.weight(begin, guess))
            if tokens > self._size:
                too_far = guess
            else:
                fits = guess
                if tokens >= _FULL_SHARE * self._size:
                    break
            guesses += 1
        return fits

    def _learn(self, tokens: int, weight: int) -> None:
        """Within bounds: white space at the end weighs much and is not counted, and says nothing about what follows."""
        if weight:
            self._ratio = min(max(tokens / weight, _LEAST_RATIO), _GREATEST_RATIO)

    def _best_end(self, begin: int, fresh: int, reach: int) -> int:
        if reach == self._pieces.count:
            return reach
        ranks = self._pieces.ranks
        middle = self._pieces.past(begin, self._pieces.weight(begin, reach) * _LEAST_SHARE) + 1
        middle = min(max(middle, fresh + 1), reach)
        best = max(ranks[middle : reach + 1])
        if best >= CutQuality.WORD:
            return ranks.rindex(best, middle, reach + 1)
        for at in range(middle - 1, fresh, -1):
            if ranks[at] >= CutQuality.WORD:
                return at
        best = max(ranks[fresh + 1 : reach + 1])
        return ranks.rindex(best, fresh + 1, reach + 1)

    def _overlap_before(self, fresh: int, begin: int, past: int, end: int) -> int:
        """Where the next chunk begins: at new text, or before it by the overlap."""
        if not self._overlap or fresh == self._pieces.count:
            return fresh
        borders, white = self._pieces.borders, self._pieces.white
        last = white.rindex(False, begin, past)
        first = max(begin, self._pieces.past(last + 1, -4 * self._overlap))
        new_text = self._pieces.begin(fresh)

        def fits(at: int) -> bool:
            start = self._pieces.begin(at)
            return all(self._count(self._text[start:stop]) <= self._overlap for stop in {end, new_text})

        for unit in _UNITS:
            starts = [at for at in range(first, last + 1) if borders[at] >= unit and not white[at]]
            found = bisect_left(starts, True, key=fits)
            if found < len(starts):
                return starts[found]
        return fresh
