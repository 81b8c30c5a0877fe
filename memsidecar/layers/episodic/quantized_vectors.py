"""Int8 vectors and dot products."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import simsimd
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Steps = NDArray[np.int8]

_STEPS = 127
_FIRST_ROWS = 64
_MANY_ROWS = 16_384  # from which on a second thread pays
_other_half = ThreadPoolExecutor(1, thread_name_prefix="vectors")


def room_for(rows: int, capacity: int) -> int:
    """The next capacity: by half more, so that growing costs little and wastes little."""
    return max(rows, _FIRST_ROWS, capacity + capacity // 2)


class QuantizedVectors:
    """Rows of unit length, or zeros. Grows at the end; rows are never taken away."""

    def __init__(self, dimensions: int) -> None:
        self._steps = np.empty((0, dimensions), np.int8)
        self._scales = np.empty(0, np.float32)
        self._count = 0

    def __len__(self) -> int:
        return self._count

    @property
    def size_bytes(self) -> int:
        return self._steps.nbytes + self._scales.nbytes

    def expect(self, rows: int) -> None:
        """Make room for so many in all, so that it need not grow while they come."""
        if rows > len(self._steps):
            self._grow(rows)

    def extend(self, vectors: Floats) -> None:
        end = self._count + len(vectors)
        if end > len(self._steps):
            self._grow(room_for(end, len(self._steps)))
        self._steps[self._count : end], self._scales[self._count : end] = _packed(vectors)
        self._count = end

    def _grow(self, capacity: int) -> None:
        steps = np.zeros((capacity, self._steps.shape[1]), np.int8)
        steps[: self._count] = self._steps[: self._count]
        self._steps = steps
        self._scales = np.concatenate([self._scales, np.ones(capacity - len(self._scales), np.float32)])

    def rows(self, rows: NDArray[np.int64]) -> Floats:
        return self._steps[rows].astype(np.float32) * self._scales[rows, None]

    def dots(self, vector: Floats) -> Floats:
        """The product of each row with the vector; of many rows, half of them on another processor."""
        found = np.empty((1, self._count), np.float32)
        middle = self._count // 2 if self._count >= _MANY_ROWS else self._count
        asked, scales = _packed(vector[None, :])
        other = _other_half.submit(self._multiply, asked, middle, self._count, found) if middle < self._count else None
        self._multiply(asked, 0, middle, found)
        if other is not None:
            other.result()
        products: Floats = found[0]
        products *= self._scales[: self._count]
        products *= scales
        return products

    def _multiply(self, asked: Steps, first: int, last: int, into: Floats) -> None:
        """On bytes as they are, without the GIL: numpy would make floats of them first."""
        if first < last:
            simsimd.cdist(asked, self._steps[first:last], "dot", out=into[:, first:last])


def _packed(vectors: Floats) -> tuple[Steps, Floats]:
    largest = np.abs(vectors).max(axis=1, initial=0)
    scales = np.where(largest > 0, largest / _STEPS, 1).astype(np.float32)
    return np.rint(vectors / scales[:, None]).astype(np.int8), scales
