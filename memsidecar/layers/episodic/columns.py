"""Columnar attributes of a partition, and sums over neighbouring rows."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memsidecar.layers.episodic.quantized_vectors import Floats, grown_capacity
from memsidecar.stores.contract import Episodes

Rows = NDArray[np.int64]

NO_ROW = -1

CONTEXT_RADIUS = 2
"A row's context: the messages of the same session up to so many places before and after it."
DECAY = 0.7
"Factor by which the weight of a neighbour falls with each place."
NEIGHBOUR_WEIGHTS = {
    "prev": np.float32(DECAY),
    "next": np.float32(DECAY),
    "prev2": np.float32(DECAY**2),
    "next2": np.float32(DECAY**2),
}
_COPIED = ("lsn", "sequence", "session", "time_us", "role", "score")
_TYPES: dict[str, type[np.generic]] = {
    "lsn": np.int64,
    "sequence": np.int64,
    "session": np.int64,
    "time_us": np.int64,
    "role": np.int8,
    "score": np.float32,
    "alive": np.bool_,
    "has_question": np.bool_,
    "speaker": np.int32,
    "session_ordinal": np.int32,
    "length": np.float32,
    "length_context": np.float32,
    "norm_context": np.float32,
    "prev": np.int32,
    "prev2": np.int32,
    "next": np.int32,
    "next2": np.int32,
}


class Columns:
    """One growing array for each attribute.

    `session_ordinal` numbers the sessions of the partition from 0. `prev`, `prev2`, `next` and `next2` are the rows of
    the same session one and two places away, or NO_ROW. `length_context` and `norm_context` are computed of a row
    together with these neighbours.
    """

    def __init__(self) -> None:
        self._arrays = {name: np.zeros(0, kind) for name, kind in _TYPES.items()}
        self.count = 0

    @property
    def size_bytes(self) -> int:
        return sum(array.nbytes for array in self._arrays.values())

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self._arrays[name][: self.count]

    def reserve(self, rows: int) -> None:
        """Allocate capacity for so many rows in total."""
        if rows > len(self._arrays["lsn"]):
            self._grow(rows)

    def extend(self, episodes: Episodes) -> int:
        """Append rows without neighbours; return the first one."""
        start, end = self.count, self.count + len(episodes)
        if end > len(self._arrays["lsn"]):
            self._grow(grown_capacity(end, start))
        self.count = end
        for name in _COPIED:
            self[name][start:] = getattr(episodes, name)
        self["alive"][start:] = True
        for name in NEIGHBOUR_WEIGHTS:
            self[name][start:] = NO_ROW
        return start

    def _grow(self, capacity: int) -> None:
        for name, old in self._arrays.items():
            new = np.zeros(capacity, old.dtype)
            new[: self.count] = old[: self.count]
            self._arrays[name] = new


def neighbours(columns: Columns, rows: Rows) -> Rows:
    """Return the distinct neighbours of these rows in ascending order; they may contain some of the rows themselves."""
    found = np.concatenate([columns[step][rows] for step in NEIGHBOUR_WEIGHTS]).astype(np.int64)
    return np.unique(found[found != NO_ROW])


def unlink(columns: Columns, row: int) -> Rows:
    """Remove a deleted row from its neighbours, and return these."""
    former = neighbours(columns, np.array([row]))
    for step in NEIGHBOUR_WEIGHTS:
        columns[step][row] = NO_ROW
        links = columns[step]
        links[former[links[former] == row]] = NO_ROW
    return former


def diffuse(columns: Columns, values: Floats) -> Floats:
    """Return for every row its value plus the decayed values of its neighbours."""
    padded = np.append(values, np.float32(0))  # NO_ROW, -1, selects the last element
    total = values.copy()
    for step, weight in NEIGHBOUR_WEIGHTS.items():
        neighbour = padded.take(columns[step], mode="wrap")
        neighbour *= weight
        total += neighbour
    return total


def diffuse_sparse(columns: Columns, rows: Rows, values: Floats, scratch: Floats) -> tuple[Rows, Floats]:
    """Do the same where only `rows` have a value; return the rows that get one, some repeatedly, and the values.

    `scratch` has a zero for each row of the partition, and is zeros again afterwards.
    """
    reached = [rows]
    scratch[rows] = values
    for step, weight in NEIGHBOUR_WEIGHTS.items():
        neighbour = columns[step][rows]
        exists = neighbour != NO_ROW
        found = neighbour[exists].astype(np.int64)
        scratch[found] += weight * values[exists]  # has no row twice: no two rows have the same neighbour in a step
        reached.append(found)
    together = np.concatenate(reached)
    amounts = scratch[together]
    scratch[together] = 0
    return together, amounts


def context_sums(columns: Columns, rows: Rows, values_of: Callable[[Rows], Floats]) -> Floats:
    """Do the same for these rows alone; `values_of` is called with the rows that are needed."""
    total = values_of(rows)
    for step, weight in NEIGHBOUR_WEIGHTS.items():
        neighbour = columns[step][rows]
        exists = neighbour != NO_ROW
        total[exists] += weight * values_of(neighbour[exists].astype(np.int64))
    return total
