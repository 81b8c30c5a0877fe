"""What is known of each episode of a shelf besides its words and its vector: one array for each figure."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from memsidecar.layers.episodic.vectors import room_for
from memsidecar.stores.contract import Episodes

NOBODY = -1
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
            self[name][start:] = NOBODY
        return start

    def _grow(self, capacity: int) -> None:
        for name, old in self._arrays.items():
            new = np.zeros(capacity, old.dtype)
            new[: self.count] = old[: self.count]
            self._arrays[name] = new
