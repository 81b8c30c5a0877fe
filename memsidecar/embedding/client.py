"""For clients that bring their own vectors: the sidecar makes none."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from memsidecar.embedding.contract import Vectors
from memsidecar.embedding.invalid import InvalidEmbedder


@dataclass(frozen=True)
class ClientEmbedder:
    """Zeros for every text, so that a row without its client's vector is found by its words alone."""

    dimensions: int

    ready = True
    texts_at_once = 1_000

    def __post_init__(self) -> None:
        if self.dimensions < 1:
            raise InvalidEmbedder(f"dimensions must be 1 or more, not {self.dimensions}")

    @property
    def identity(self) -> str:
        return f"client/{self.dimensions}"

    def warm(self) -> None:
        """There is nothing to load."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        return np.zeros((len(texts), self.dimensions), dtype=np.float32)
