"""What stands around an episode in its session: two on either side, each step away counting less."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from memsidecar.layers.episodic.columns import NOBODY, Columns

Rows = NDArray[np.int64]
Floats = NDArray[np.float32]

REACH = 2
FADING = 0.7
STEPS = {
    "before": np.float32(FADING),
    "after": np.float32(FADING),
    "before_that": np.float32(FADING**2),
    "after_that": np.float32(FADING**2),
}


def neighbours(columns: Columns, rows: Rows) -> Rows:
    """Everybody who stands around these rows, in ascending order; some of the rows may be among them."""
    beside = np.concatenate([columns[step][rows] for step in STEPS]).astype(np.int64)
    return np.unique(beside[beside != NOBODY])


def spread(columns: Columns, values: Floats) -> Floats:
    """For every row its own value and, fading, its neighbours'."""
    padded = np.append(values, np.float32(0))  # where NOBODY, the last, stands for nobody
    total = values.copy()
    for step, weight in STEPS.items():
        there = padded.take(columns[step], mode="wrap")
        there *= weight
        total += there
    return total


def spread_few(columns: Columns, rows: Rows, values: Floats, scratch: Floats) -> tuple[Rows, Floats]:
    """The same where only these rows have a value: who gets something, some of them repeatedly, and how much.

    `scratch` is zeros, one a row, and is left so.
    """
    reached = [rows]
    scratch[rows] = values
    for step, weight in STEPS.items():
        there = columns[step][rows]
        exists = there != NOBODY
        beside = there[exists].astype(np.int64)
        scratch[beside] += weight * values[exists]  # nobody stands there twice: each has one before and one behind
        reached.append(beside)
    everybody = np.concatenate(reached)
    amounts = scratch[everybody]
    scratch[everybody] = 0
    return everybody, amounts


def sums_around(columns: Columns, rows: Rows, values_of: Callable[[Rows], Floats]) -> Floats:
    """For these rows, the same; `values_of` is asked for the rows that are needed."""
    total = values_of(rows)
    for step, weight in STEPS.items():
        there = columns[step][rows]
        exists = there != NOBODY
        total[exists] += weight * values_of(there[exists].astype(np.int64))
    return total
