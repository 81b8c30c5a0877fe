"""Which episodes of a shelf have which words: the exact words, found by any of their inflections."""

from array import array
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from memsidecar.layers.text_analysis import stem

Rows = NDArray[np.int64]
Counts = NDArray[np.float32]

MAX_TERM_FREQUENCY = 255  # of one word in one episode; the row's number is kept in the 24 bits above
_ROW_BITS = 24
_POSTING_BYTES, _WORD_BYTES = 4, 260


class Postings:
    """Grows by rows in ascending order. Not thread-safe: whoever owns it sees to that.

    With `stems`, words of other stems are left out: for a shelf that is made for one query.
    """

    def __init__(self, stems: frozenset[str] | None = None) -> None:
        self._stems = stems
        self._numbers: dict[str, int] = {}
        self._by_number: list[array[int]] = []
        self._by_stem: dict[str, list[int]] = {}
        self._posting_count = 0

    @property
    def size_bytes(self) -> int:
        return self._posting_count * _POSTING_BYTES + len(self._numbers) * _WORD_BYTES

    def extend(self, first_row: int, texts: Sequence[Sequence[str]]) -> None:
        """Add the words of consecutive rows; all at once, because one by one takes four times as long."""
        numbered = [self._numbered(words) for words in texts]
        rows = np.repeat(np.arange(first_row, first_row + len(texts)), [len(one) for one in numbered])
        words = np.array([number for one in numbered for number in one], np.int64)
        together, counts = np.unique(words << _ROW_BITS | rows, return_counts=True)
        postings = (together & (1 << _ROW_BITS) - 1) << 8 | np.minimum(counts, MAX_TERM_FREQUENCY)
        self._posting_count += len(postings)
        self._append(together >> _ROW_BITS, postings.astype(np.uint32))

    def _append(self, words: Rows, postings: NDArray[np.uint32]) -> None:
        starts = np.flatnonzero(np.diff(words, prepend=-1)).tolist()
        for start, end in pairwise([*starts, len(words)]):
            self._by_number[words[start]].frombytes(postings[start:end].tobytes())

    def _numbered(self, words: Sequence[str]) -> list[int]:
        if self._stems is not None:
            words = [word for word in words if stem(word) in self._stems]
        numbers = self._numbers
        return [numbers[word] if word in numbers else self._new(word) for word in words]

    def _new(self, word: str) -> int:
        number = self._numbers[word] = len(self._numbers)
        self._by_number.append(array("I"))
        self._by_stem.setdefault(stem(word), []).append(number)
        return number

    def rows_of(self, word: str) -> Rows:
        """The rows with exactly this word."""
        number = self._numbers.get(word)
        return np.empty(0, np.int64) if number is None else (self._packed(number) >> 8).astype(np.int64)

    def rows_with(self, word: str, count: int) -> Rows:
        """The rows with exactly this word exactly so often."""
        number = self._numbers.get(word)
        if number is None:
            return np.empty(0, np.int64)
        packed = self._packed(number)
        rows: Rows = (packed[(packed & MAX_TERM_FREQUENCY) == min(count, MAX_TERM_FREQUENCY)] >> 8).astype(np.int64)
        return rows

    def occurrences(self, word: str) -> tuple[Rows, Counts]:
        """The rows with the word in any inflection, in ascending order, and how often each has it."""
        inflections = self._by_stem.get(stem(word), [])
        if not inflections:
            return np.empty(0, np.int64), np.empty(0, np.float32)
        packed = np.concatenate([self._packed(number) for number in inflections])
        rows, counts = (packed >> 8).astype(np.int64), (packed & MAX_TERM_FREQUENCY).astype(np.float32)
        if len(inflections) == 1:
            return rows, counts
        together, places = np.unique(rows, return_inverse=True)
        return together, np.bincount(places, counts).astype(np.float32)

    def _packed(self, number: int) -> NDArray[np.uint32]:
        """Not to be kept: while somebody looks into the array, it cannot grow."""
        return np.frombuffer(self._by_number[number], np.uint32)
