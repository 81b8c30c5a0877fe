"""Embedder protocol, errors, unit vectors."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from memsidecar.domain.errors import SidecarError

Vectors = NDArray[np.float32]


class EmbedderUnavailable(SidecarError):
    """No vectors now; the same call may succeed later. Never leaves the layers: a search is then degraded."""


class EmbedderMismatch(SidecarError):
    """The embedder answers, but not with what was configured (other dimensions, say); waiting does not help."""


class Embedder(Protocol):
    """Turns texts into vectors, for one model.

    Promises: safe to call from any thread. The same text always has the same vector, whatever else was embedded before
    or beside it. `embed` raises EmbedderUnavailable or EmbedderMismatch and nothing else; a text that is too long for
    the model is embedded by its beginning. One with nothing to embed (empty, unknown signs only) is all zeros, and so
    is a text that the model refuses, though it takes others: it is found by its words then.
    """

    @property
    def identity(self) -> str:
        """What made a vector. Two embedders of one identity make the same vectors; of two identities, never compare."""

    @property
    def dimensions(self) -> int: ...

    @property
    def batch_size(self) -> int:
        """How many `embed` does in one go, be it a request or a moment of the processor. In the background others get
        a turn after so many.
        """

    @property
    def ready(self) -> bool:
        """Whether `embed` answers at once; else the first call loads what it needs, which takes a moment."""

    def warm(self) -> None:
        """Load what `embed` needs, if it is not loaded; a second caller waits for the first."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One row for each text, in order: of length 1, or all zeros."""


class Embedders(Protocol):
    """The embedders of one sidecar."""

    default: Embedder
    """The configured one."""

    def of_identity(self, identity: str) -> Embedder | None:
        """The embedder that made vectors of this identity, while an older index still answers; None if unknown."""

    def interactive(self, embedder: Embedder) -> Embedder:
        """The same vectors, but one attempt and little patience: for somebody who waits for a search.

        Raises EmbedderUnavailable soon instead.
        """


class InvalidEmbedder(ValueError):
    """The settings describe no embedder that could work; never shows a key."""


def unit_rows(rows: Vectors) -> Vectors:
    """Each row brought to length 1; a row of zeros stays. Each depends on itself alone, to the last bit.

    Squares are taken in float64, where those of any float32 are neither infinite nor zero.
    """
    lengths: NDArray[np.float64] = np.sqrt(np.add.reduce(np.square(rows, dtype=np.float64), axis=1))
    lengths[lengths == 0] = 1
    return (rows / lengths[:, np.newaxis]).astype(np.float32)
