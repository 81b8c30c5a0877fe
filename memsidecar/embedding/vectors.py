"""Rows as every embedder promises them."""

import numpy as np
from numpy.typing import NDArray

from memsidecar.embedding.contract import Vectors


def unit_rows(rows: Vectors) -> Vectors:
    """Each row brought to length 1; a row of zeros stays. Each depends on itself alone, to the last bit.

    Squares are taken in float64, where those of any float32 are neither infinite nor zero.
    """
    lengths: NDArray[np.float64] = np.sqrt(np.add.reduce(np.square(rows, dtype=np.float64), axis=1))
    lengths[lengths == 0] = 1
    return (rows / lengths[:, np.newaxis]).astype(np.float32)
