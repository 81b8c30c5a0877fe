"""What a namespace's table has not been told yet, ready to be ranked with the rest: for scopes that are not in RAM."""

import threading
from collections.abc import Callable, Sequence
from typing import NamedTuple

from memsidecar.layers.episodic.asking import Lack
from memsidecar.layers.episodic.places import Standing
from memsidecar.stores.contract import Harvest

PIECES_AT_MOST = 16
"What is beyond is left to the task that indexes; a search says that it is behind."


class Piece(NamedTuple):
    """What the log says behind `after` up to `end`, and what was missing when it was read. `last`: it ended there."""

    after: int
    end: int
    harvest: Harvest
    lacks: frozenset[Lack] = frozenset()
    last: bool = False


class Tail:
    """Kept between searches, so that each entry is read and embedded once. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pieces: list[Piece] = []
        self._beat = -1

    def since(self, standing: Standing, beat: int, read_on: Callable[[int], Sequence[Piece]]) -> list[Piece]:
        """What came behind the table's position. `read_on` reads what is still missing, if `beat` says that some is."""
        with self._lock:
            position = standing.position
            self._pieces = [piece for piece in self._pieces if piece.end > position]
            if self._pieces and (self._pieces[0].after > position or Lack.EMBEDDER in self._pieces[-1].lacks):
                self._pieces, self._beat = [], -1
            if self._beat != beat and len(self._pieces) < PIECES_AT_MOST:
                more = read_on(self._pieces[-1].end if self._pieces else position)
                self._pieces += more
                self._beat = beat if not more else -1
            return [piece._replace(harvest=piece.harvest.since(position)) for piece in self._pieces]
