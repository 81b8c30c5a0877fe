"""Components of documents in this process, assembled as in `memsidecar.assembly`."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from memsidecar.domain.fact import ScoreBreakdown
from memsidecar.layers.documents.chunker import Chunker
from memsidecar.layers.documents.documents import ChunkHit, Documents, DocumentValidator, FoundChunks
from memsidecar.stores.contract import Chunk, DocumentPut, DocumentQuery, Journal, Owner, StoredDocument
from memsidecar.tokens.contract import Counter
from memsidecar.tokens.registry import CounterRegistry
from memsidecar.v1.knowledge_pb2 import Document

MAX_DOCUMENT_BYTES = 3 << 20
COUNTER: Counter = CounterRegistry("o200k_base").default


def documents_over(journal: Journal, size: int = 300, overlap: int = 50, counter: Counter = COUNTER) -> Documents:
    return Documents(journal, DocumentValidator(Chunker(counter, size, overlap), MAX_DOCUMENT_BYTES))


def put(documents: Documents, owner: Owner, document_id: str, text: str, **fields: Any) -> DocumentPut:
    document = Document(id=document_id, text=text, **fields)
    documents.validator.check(document)
    result: DocumentPut = documents.submit_put(documents.validator(owner, document)).wait()
    return result


@dataclass(frozen=True)
class KeywordChunkSearch:
    """Ranks chunks by their share of the query's words: exact and slow."""

    journal: Journal

    def __call__(self, owners: Sequence[Owner], query: str, limit: int, min_score: float) -> FoundChunks:
        words = set(query.casefold().split())
        hits = [hit for owner in owners for hit in self._of(owner, words) if hit.score and hit.score >= min_score]
        return FoundChunks(sorted(hits, key=lambda hit: (-hit.score, hit.document.id, hit.index))[:limit])

    def _of(self, owner: Owner, words: set[str]) -> list[ChunkHit]:
        stored = self.journal.documents(DocumentQuery(owner, 1_000))
        places = [(one.version, index) for one in stored for index in range(one.chunk_count)]
        found = self.journal.find_chunks(owner.namespace, places)
        return [self._hit(document, index, chunk, words) for (_, index), (document, chunk) in found.items()]

    @staticmethod
    def _hit(document: StoredDocument, index: int, chunk: Chunk, words: set[str]) -> ChunkHit:
        share = len(words & set(chunk.text.casefold().split())) / max(len(words), 1)
        return ChunkHit(document, index, chunk, share, ScoreBreakdown(keyword=share), share)
