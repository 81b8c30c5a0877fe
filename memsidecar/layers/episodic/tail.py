"""What a namespace's table has not been told yet, ready to be ranked with the rest: for scopes that are not in RAM."""

import threading
from collections.abc import Callable, Sequence
from typing import NamedTuple

from memsidecar.layers.episodic.places import Standing
from memsidecar.stores.contract import Harvest


class Piece(NamedTuple):
    after: int
    end: int
    harvest: Harvest


class Tail:
    """Kept between searches, so that each entry is read and embedded once. Thread-safe."""

    def __init__(self, number: int) -> None:
        self.number = number
        self._lock = threading.Lock()
        self._pieces: list[Piece] = []

    def since(self, standing: Standing, read_on: Callable[[int], Sequence[Piece]]) -> tuple[list[Harvest], int]:
        """What came behind the table's position, and up to which entry; `read_on` reads what is still missing."""
        with self._lock:
            position = standing.position
            self._pieces = [piece for piece in self._pieces if piece.end > position]
            if self._pieces and self._pieces[0].after > position:
                self._pieces = []
            self._pieces += read_on(self._pieces[-1].end if self._pieces else position)
            end = self._pieces[-1].end if self._pieces else position
            return [piece.harvest.since(position) for piece in self._pieces], end
