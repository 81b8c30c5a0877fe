"""Vectors in RAM, a byte for each dimension: a quarter of the memory, and quicker, because memory is the cost."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]

_STEPS = 127
_BLOCK_ROWS = 1_024  # a block of floats fits into the processor's cache
_FIRST_ROWS = 64
_MANY_ROWS = 16_384  # from which on a second thread pays
_other_half = ThreadPoolExecutor(1, thread_name_prefix="vectors")


def room_for(rows: int, capacity: int) -> int:
    """The next capacity: by half more, so that growing costs little and wastes little."""
    return max(rows, _FIRST_ROWS, capacity + capacity // 2)


class PackedVectors:
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

    def extend(self, vectors: Floats) -> None:
        end = self._count + len(vectors)
        if end > len(self._steps):
            self._grow(room_for(end, len(self._steps)))
        largest = np.abs(vectors).max(axis=1, initial=0)
        scales = np.where(largest > 0, largest / _STEPS, 1).astype(np.float32)
        self._steps[self._count : end] = np.rint(vectors / scales[:, None])
        self._scales[self._count : end] = scales
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
        found = np.empty(self._count, np.float32)
        middle = self._count // 2 if self._count >= _MANY_ROWS else self._count
        other = _other_half.submit(self._multiply, vector, middle, self._count, found) if middle < self._count else None
        self._multiply(vector, 0, middle, found)
        if other is not None:
            other.result()
        found *= self._scales[: self._count]
        return found

    def _multiply(self, vector: Floats, first: int, last: int, into: Floats) -> None:
        block = np.empty((_BLOCK_ROWS, self._steps.shape[1]), np.float32)
        for start in range(first, last, _BLOCK_ROWS):
            end = min(start + _BLOCK_ROWS, last)
            some = block[: end - start]
            some[:] = self._steps[start:end]
            np.matmul(some, vector, out=into[start:end])
