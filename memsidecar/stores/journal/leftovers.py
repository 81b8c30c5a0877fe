"""What is out of reach and not yet out of the file."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from memsidecar.stores.journal.staging import Stage


class Leftover(NamedTuple):
    """A stretch of `texts` that belongs to no document and no note any more."""

    first: int
    last: int


# A session that was erased, by its number, or texts.
Piece = int | Leftover


class Erasing(NamedTuple):
    """What is to be answered when nothing of these pieces is left in the file."""

    pieces: Sequence[Piece]
    result: Any


def leave(stage: Stage, leftovers: Sequence[Leftover]) -> Sequence[Leftover]:
    for leftover in leftovers:
        stage.do("INSERT INTO leftovers VALUES (?, ?)", *leftover)
    return leftovers
