"""PutDocument, ListDocuments, DeleteDocument, SearchDocuments."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from google.protobuf.struct_pb2 import Struct

from memsidecar.api.executors import Executors
from memsidecar.api.page_tokens import PageTokens
from memsidecar.api.search import degradations_of
from memsidecar.api.wire import ScopeIds, limit_of, page_size_of, query_of, scope_of, timestamp_of
from memsidecar.context.response import encode_score_parts
from memsidecar.domain.errors import InvalidField
from memsidecar.domain.ids import check_id
from memsidecar.layers.documents.documents import ChunkHit, Documents, FindChunks, FoundChunks, fit_response
from memsidecar.stores.contract import DocumentDeleted, DocumentPut, Owner, StoredDocument
from memsidecar.v1 import knowledge_pb2 as pb


@dataclass(frozen=True)
class DocumentHandlers:
    executors: Executors
    documents: Documents
    find_chunks: FindChunks
    page_tokens: PageTokens
    default_limit: int
    max_limit: int

    async def put_document(self, request: pb.PutDocumentRequest) -> pb.PutDocumentResponse:
        scope = scope_of(request)
        if not request.HasField("document"):
            raise InvalidField("document", "is required")
        self.documents.validator.check(request.document)
        owner = await self.executors.run_write(self.documents.claim, *scope)
        existing = await self.executors.run_read(self.documents.known, owner, request.document)
        if existing is not None:
            return pb.PutDocumentResponse(document=encode_document(existing), unchanged=True)
        draft = await self.executors.run_chunk(self.documents.validator, owner, request.document)
        put: DocumentPut = await self.executors.wait_for(self.documents.submit_put(draft, self.executors.on_done))
        return pb.PutDocumentResponse(document=encode_document(put.document), unchanged=put.unchanged)

    async def list_documents(self, request: pb.ListDocumentsRequest) -> pb.ListDocumentsResponse:
        scope, size = scope_of(request), page_size_of(request.page_size)
        (after_id,) = self.page_tokens.decode(request, str) or ("",)
        documents, more = await self.executors.run_read(self._documents_page, scope, after_id, size)
        token = self.page_tokens.encode(request, (documents[-1].id,) if more else None)
        return pb.ListDocumentsResponse(
            documents=[encode_document(document) for document in documents], next_page_token=token
        )

    def _documents_page(self, scope: ScopeIds, after_id: str, size: int) -> tuple[Sequence[StoredDocument], bool]:
        return self.documents.page(self.documents.owner(*scope), after_id, size)

    async def delete_document(self, request: pb.DeleteDocumentRequest) -> pb.DeleteDocumentResponse:
        scope, document_id = scope_of(request), check_id("document_id", request.document_id)
        owner: Owner = await self.executors.run_read(self.documents.owner, *scope)
        pending = self.documents.submit_delete(owner, document_id, self.executors.on_done)
        dropped: DocumentDeleted = await self.executors.wait_for(pending)
        return pb.DeleteDocumentResponse(removed_chunks=dropped.removed_chunks)

    async def search_documents(self, request: pb.SearchDocumentsRequest) -> pb.SearchDocumentsResponse:
        scope, query = scope_of(request), _query_of(request)
        limit = limit_of("limit", request.limit, self.default_limit, self.max_limit)
        found = await self.executors.run_search(self._find_documents, scope, query, limit, request.min_score)
        return pb.SearchDocumentsResponse(
            hits=[_hit(hit) for hit in found.hits], degraded=degradations_of(found.degraded)
        )

    def _find_documents(self, scope: ScopeIds, query: str, limit: int, min_score: float) -> FoundChunks:
        found = self.find_chunks(self.documents.visible_owners(*scope), query, limit, min_score)
        return replace(found, hits=fit_response(found.hits, lambda hit: (hit.document.id, hit.chunk.text)))


def _query_of(request: pb.SearchDocumentsRequest) -> str:
    if not request.query:
        raise InvalidField("query", "is required")
    if not math.isfinite(request.min_score) or request.min_score < 0:
        raise InvalidField("min_score", "must be a number from 0 on")
    return query_of(request.query)


def encode_document(stored: StoredDocument) -> pb.Document:
    return pb.Document(
        id=stored.id,
        title=stored.title,
        source=stored.source,
        metadata=Struct.FromString(stored.metadata) if stored.metadata else None,
        create_time=timestamp_of(stored.create_time_us),
        chunk_count=stored.chunk_count,
        tokens=stored.tokens,
        sha256=stored.sha256,
    )


def _hit(hit: ChunkHit) -> pb.DocumentHit:
    return pb.DocumentHit(
        chunk=pb.DocumentChunk(
            document_id=hit.document.id, chunk_index=hit.index, text=hit.chunk.text, tokens=hit.chunk.tokens
        ),
        score=hit.score,
        scores=encode_score_parts(hit.parts),
        relevance=hit.relevance,
    )
