"""Int8 scalar quantization of vectors, and dot products on it."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import simsimd
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Bytes = NDArray[np.int8]

INT8_MAX = 127
_MIN_CAPACITY_ROWS = 64
_PARALLEL_ROWS = 16_384  # from this size on a second thread is worth its start
_second_thread = ThreadPoolExecutor(1, thread_name_prefix="vectors")


def grown_capacity(rows: int, capacity: int) -> int:
    """Return the next capacity of an array: half more, which amortizes copies and wastes at most a third."""
    return max(rows, _MIN_CAPACITY_ROWS, capacity + capacity // 2)


class QuantizedVectors:
    """Append-only matrix of vectors of length 1 or 0: int8 values and one float32 scale for each row."""

    def __init__(self, dimensions: int) -> None:
        self._values = np.empty((0, dimensions), np.int8)
        self._scales = np.empty(0, np.float32)
        self._count = 0

    def __len__(self) -> int:
        return self._count

    @property
    def size_bytes(self) -> int:
        return self._values.nbytes + self._scales.nbytes

    def reserve(self, rows: int) -> None:
        """Allocate capacity for so many rows in total."""
        if rows > len(self._values):
            self._grow(rows)

    def extend(self, vectors: Floats) -> None:
        end = self._count + len(vectors)
        if end > len(self._values):
            self._grow(grown_capacity(end, len(self._values)))
        self._values[self._count : end], self._scales[self._count : end] = _quantize(vectors)
        self._count = end

    def _grow(self, capacity: int) -> None:
        values = np.zeros((capacity, self._values.shape[1]), np.int8)
        values[: self._count] = self._values[: self._count]
        self._values = values
        self._scales = np.concatenate([self._scales, np.ones(capacity - len(self._scales), np.float32)])

    def rows(self, rows: NDArray[np.int64]) -> Floats:
        """Return these rows as floats."""
        return self._values[rows].astype(np.float32) * self._scales[rows, None]

    def dots(self, vector: Floats) -> Floats:
        """Return the dot product of every row with the vector. Large matrices are split between two threads."""
        found = np.empty((1, self._count), np.float32)
        middle = self._count // 2 if self._count >= _PARALLEL_ROWS else self._count
        query, scales = _quantize(vector[None, :])
        second = (
            _second_thread.submit(self._multiply, query, middle, self._count, found) if middle < self._count else None
        )
        self._multiply(query, 0, middle, found)
        if second is not None:
            second.result()
        products: Floats = found[0]
        products *= self._scales[: self._count]
        products *= scales
        return products

    def _multiply(self, query: Bytes, first: int, last: int, out: Floats) -> None:
        """Multiply without the GIL and without a float copy of the matrix, which numpy would make.

        Without simsimd's `out=`: each such call releases a reference to None that it does not own, and before
        Python 3.12 the process aborts after some ten thousand of them.
        """
        if first < last:
            out[:, first:last] = simsimd.cdist(query, self._values[first:last], "dot", out_dtype="float32")


def _quantize(vectors: Floats) -> tuple[Bytes, Floats]:
    largest = np.abs(vectors).max(axis=1, initial=0)
    scales = np.where(largest > 0, largest / INT8_MAX, 1).astype(np.float32)
    return np.rint(vectors / scales[:, None]).astype(np.int8), scales
