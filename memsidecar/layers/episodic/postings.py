"""Inverted index of a partition: terms as they were written, found by any of their inflections."""

from array import array
from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from memsidecar.layers.text_analysis import stem

Rows = NDArray[np.int64]
Counts = NDArray[np.float32]

MAX_TERM_FREQUENCY = 255
"A posting is a uint32: the row in 24 bits, the term frequency in 8."
_ROW_BITS, _FREQUENCY_BITS = 24, 8
_POSTING_BYTES, _TERM_BYTES = 4, 260


class Postings:
    """Grows by rows in ascending order. Not thread-safe: the partition's lock guards it.

    With `stems`, terms of other stems are not indexed; used for a partition that is built for one query.
    """

    def __init__(self, stems: frozenset[str] | None = None) -> None:
        self._stems = stems
        self._term_ids: dict[str, int] = {}
        self._by_term: list[array[int]] = []
        self._by_stem: dict[str, list[int]] = {}
        self._posting_count = 0

    @property
    def size_bytes(self) -> int:
        return self._posting_count * _POSTING_BYTES + len(self._term_ids) * _TERM_BYTES

    def extend(self, first_row: int, texts: Sequence[Sequence[str]]) -> None:
        """Add the terms of consecutive rows; in one batch, which takes a quarter of the time of single rows."""
        ids_by_row = [self._ids(terms) for terms in texts]
        rows = np.repeat(np.arange(first_row, first_row + len(texts)), [len(ids) for ids in ids_by_row])
        terms = np.array([term for ids in ids_by_row for term in ids], np.int64)
        pairs, counts = np.unique(terms << _ROW_BITS | rows, return_counts=True)
        postings = (pairs & (1 << _ROW_BITS) - 1) << _FREQUENCY_BITS | np.minimum(counts, MAX_TERM_FREQUENCY)
        self._posting_count += len(postings)
        self._append(pairs >> _ROW_BITS, postings.astype(np.uint32))

    def _append(self, terms: Rows, postings: NDArray[np.uint32]) -> None:
        starts = np.flatnonzero(np.diff(terms, prepend=-1)).tolist()
        for start, end in pairwise([*starts, len(terms)]):
            self._by_term[terms[start]].frombytes(postings[start:end].tobytes())

    def _ids(self, terms: Sequence[str]) -> list[int]:
        if self._stems is not None:
            terms = [term for term in terms if stem(term) in self._stems]
        ids = self._term_ids
        return [ids[term] if term in ids else self._new_id(term) for term in terms]

    def _new_id(self, term: str) -> int:
        term_id = self._term_ids[term] = len(self._term_ids)
        self._by_term.append(array("I"))
        self._by_stem.setdefault(stem(term), []).append(term_id)
        return term_id

    def rows_of(self, term: str) -> Rows:
        """Return the rows that contain exactly this term."""
        term_id = self._term_ids.get(term)
        return np.empty(0, np.int64) if term_id is None else _rows(self._postings(term_id))

    def rows_of_any(self, terms: Iterable[str], max_rows: int = 1 << _ROW_BITS) -> Rows:
        found = (self._by_term[self._term_ids[term]] for term in terms if term in self._term_ids)
        postings = b"".join([rows.tobytes() for rows in found if len(rows) <= max_rows])
        return np.unique(_rows(np.frombuffer(postings, np.uint32)))

    def rows_with(self, term: str, count: int) -> Rows:
        """Return the rows that contain exactly this term exactly so often."""
        term_id = self._term_ids.get(term)
        if term_id is None:
            return np.empty(0, np.int64)
        postings = self._postings(term_id)
        return _rows(postings[(postings & MAX_TERM_FREQUENCY) == min(count, MAX_TERM_FREQUENCY)])

    def occurrences(self, term: str) -> tuple[Rows, Counts]:
        """Return the rows with the term in any inflection, in ascending order, and their term frequencies."""
        inflections = self._by_stem.get(stem(term), [])
        if not inflections:
            return np.empty(0, np.int64), np.empty(0, np.float32)
        postings = np.concatenate([self._postings(term_id) for term_id in inflections])
        rows, counts = _rows(postings), (postings & MAX_TERM_FREQUENCY).astype(np.float32)
        if len(inflections) == 1:
            return rows, counts
        distinct, positions = np.unique(rows, return_inverse=True)
        return distinct, np.bincount(positions, counts).astype(np.float32)

    def _postings(self, term_id: int) -> NDArray[np.uint32]:
        """Return a view, not to be kept: the array cannot grow while a view of it exists."""
        return np.frombuffer(self._by_term[term_id], np.uint32)


def _rows(postings: NDArray[np.uint32]) -> Rows:
    return (postings >> _FREQUENCY_BITS).astype(np.int64)
