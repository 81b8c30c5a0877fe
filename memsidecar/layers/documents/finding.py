"""What finding chunks means; who does it is decided where the parts are put together."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from memsidecar.domain.fact import Parts
from memsidecar.stores.contract import Chunk, Owner, StoredDocument


@dataclass(frozen=True, slots=True)
class ChunkHit:
    document: StoredDocument
    index: int
    chunk: Chunk
    score: float
    parts: Parts
    cosine: float = 0.0
    "As it is, not relative to the other chunks."


@dataclass(frozen=True, slots=True)
class FoundChunks:
    """Chunks, best first, and what was missing when they were looked for: the contract's degradations."""

    hits: Sequence[ChunkHit]
    lacks: frozenset[int] = frozenset()


class FindChunks(Protocol):
    def __call__(self, owners: Sequence[Owner], query: str, limit: int, min_score: float) -> FoundChunks:
        """At most `limit` chunks of these owners' documents, best first, none with a score under `min_score`.

        Scores are from 0 to 1. A document that was put is found as soon as the put is answered; one that was deleted is
        not found from then on. May read from the disk: never on the event loop.
        """
