"""Columnar attributes and sums over neighbours."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memsidecar.layers.episodic.quantized_vectors import room_for
from memsidecar.stores.contract import Episodes

NO_ROW = -1
_TYPES: dict[str, type[np.generic]] = {
    "lsn": np.int64,
    "sequence": np.int64,
    "session": np.int64,
    "time_us": np.int64,
    "role": np.int8,
    "score": np.float32,
    "alive": np.bool_,
    "asks": np.bool_,
    "speaker": np.int32,
    "talk": np.int32,
    "length": np.float32,
    "length_around": np.float32,
    "norm_around": np.float32,
    "before": np.int32,
    "before_that": np.int32,
    "after": np.int32,
    "after_that": np.int32,
}

Rows = NDArray[np.int64]
Floats = NDArray[np.float32]

REACH = 2
DECAY = 0.7
NEIGHBOUR_WEIGHTS = {
    "before": np.float32(DECAY),
    "after": np.float32(DECAY),
    "before_that": np.float32(DECAY**2),
    "after_that": np.float32(DECAY**2),
}


class Columns:
    """`talk` numbers the sessions of the shelf from 0 on.

    `before`, `before_that`, `after` and `after_that` are the rows of the same session that stand one and two steps
    away, NOBODY where there is none. `length_around` and `norm_around` are of a row together with these neighbours.
    """

    def __init__(self) -> None:
        self._arrays = {name: np.zeros(0, kind) for name, kind in _TYPES.items()}
        self.count = 0

    @property
    def size_bytes(self) -> int:
        return sum(one.nbytes for one in self._arrays.values())

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self._arrays[name][: self.count]

    def expect(self, rows: int) -> None:
        """Make room for so many in all, so that it need not grow while they come."""
        if rows > len(self._arrays["lsn"]):
            self._grow(rows)

    def extend(self, episodes: Episodes) -> int:
        """Make rows for the episodes; answers the first."""
        start, end = self.count, self.count + len(episodes)
        if end > len(self._arrays["lsn"]):
            self._grow(room_for(end, start))
        self.count = end
        for name in ("lsn", "sequence", "session", "time_us", "role", "score"):
            self[name][start:] = getattr(episodes, name)
        self["alive"][start:] = True
        for name in ("before", "before_that", "after", "after_that"):
            self[name][start:] = NO_ROW
        return start

    def _grow(self, capacity: int) -> None:
        for name, old in self._arrays.items():
            new = np.zeros(capacity, old.dtype)
            new[: self.count] = old[: self.count]
            self._arrays[name] = new


def neighbours(columns: Columns, rows: Rows) -> Rows:
    """Everybody who stands around these rows, in ascending order; some of the rows may be among them."""
    beside = np.concatenate([columns[step][rows] for step in NEIGHBOUR_WEIGHTS]).astype(np.int64)
    return np.unique(beside[beside != NO_ROW])


def diffuse(columns: Columns, values: Floats) -> Floats:
    """For every row its own value and, fading, its neighbours'."""
    padded = np.append(values, np.float32(0))  # where NOBODY, the last, stands for nobody
    total = values.copy()
    for step, weight in NEIGHBOUR_WEIGHTS.items():
        there = padded.take(columns[step], mode="wrap")
        there *= weight
        total += there
    return total


def diffuse_sparse(columns: Columns, rows: Rows, values: Floats, scratch: Floats) -> tuple[Rows, Floats]:
    """The same where only these rows have a value: who gets something, some of them repeatedly, and how much.

    `scratch` is zeros, one a row, and is left so.
    """
    reached = [rows]
    scratch[rows] = values
    for step, weight in NEIGHBOUR_WEIGHTS.items():
        there = columns[step][rows]
        exists = there != NO_ROW
        beside = there[exists].astype(np.int64)
        scratch[beside] += weight * values[exists]  # nobody stands there twice: each has one before and one behind
        reached.append(beside)
    everybody = np.concatenate(reached)
    amounts = scratch[everybody]
    scratch[everybody] = 0
    return everybody, amounts


def context_sums(columns: Columns, rows: Rows, values_of: Callable[[Rows], Floats]) -> Floats:
    """For these rows, the same; `values_of` is asked for the rows that are needed."""
    total = values_of(rows)
    for step, weight in NEIGHBOUR_WEIGHTS.items():
        there = columns[step][rows]
        exists = there != NO_ROW
        total[exists] += weight * values_of(there[exists].astype(np.int64))
    return total
