"""Finding chunks of documents: by the same ranking as messages, over all the documents that may be seen, as one."""

from collections.abc import Sequence
from dataclasses import dataclass

from memsidecar.layers.documents.finding import ChunkHit, FoundChunks
from memsidecar.layers.episodic.asking import Question, Range
from memsidecar.layers.episodic.ranking import Weights
from memsidecar.layers.episodic.recalling import Recalling, Turn
from memsidecar.stores.contract import Owner


@dataclass(frozen=True)
class ChunkFinding:
    """Keeps the promise of `layers.documents.finding.FindChunks`."""

    recall: Recalling
    weights: Weights

    def __call__(self, owners: Sequence[Owner], query: str, limit: int, min_score: float) -> FoundChunks:
        question = Question(query, weights=self.weights)
        found = self.recall.chunks(question, Range.of_owners(owners), Turn(limit, min_score))
        hits = [
            ChunkHit(document, pointer.sequence, chunk, pointer.score, pointer.parts, pointer.cosine)
            for pointer, (document, chunk) in found.hits
        ]
        return FoundChunks(hits, found.lacks)
