"""The tools save_document, search_documents and forget_document."""

from __future__ import annotations

from pydantic import BaseModel, Field

from memsidecar.mcp_server.sidecar_client import SidecarClient
from memsidecar.mcp_server.tool import (
    ERASES,
    READS,
    REPLACES,
    Arguments,
    Tool,
    ToolResult,
    degradation_notes,
    parenthesized,
    take_fitting,
    truncate,
)
from memsidecar.v1 import knowledge_pb2


class SaveDocument(Arguments):
    document_id: str = Field(
        min_length=1, description="A name for it, such as a file name or an address. Saving it again replaces the text."
    )
    text: str = Field(min_length=1, description="The whole text, plain or Markdown; at most 3 MiB.")
    title: str = Field(default="", description="What to call it before people.")
    source: str = Field(default="", description="Where it came from: a file name, an address.")


class SearchDocuments(Arguments):
    query: str = Field(min_length=1, description="What to look for: a question, or a few words.")
    limit: int = Field(default=3, ge=1, le=5, description="How many chunks at most.")


class ForgetDocument(Arguments):
    document_id: str = Field(min_length=1, description="The document to erase, as search_documents names it.")


class DocumentSaved(ToolResult):
    document_id: str
    chunks: int = Field(description="Into how many chunks it was cut, which are searched one by one.")
    tokens: int
    unchanged: bool = Field(description="The same text was there already.")

    def text(self) -> str:
        what = "It was there already" if self.unchanged else "Saved"
        return f"{what}: {self.document_id} (chunks: {self.chunks}, tokens: {self.tokens})."


class DocumentChunk(BaseModel):
    """One chunk of a document."""

    document_id: str
    chunk_index: int = Field(description="Its place in the document: 0, 1, 2 ...")
    content: str = Field(description="Shortened where it is long; it says so at its end.")
    relevance: float = Field(description="The probability that it helps with the query, from 0 to 1.")

    def line(self) -> str:
        return f"[{self.document_id}, chunk {self.chunk_index}] {self.content}"


class DocumentSearchResult(ToolResult):
    chunks: list[DocumentChunk] = Field(description="Best first.")
    notes: list[str] = Field(description="What was missing when this was answered. Empty when all is well.")

    def text(self) -> str:
        lines = [f"{at}. {chunk.line()}" for at, chunk in enumerate(self.chunks, 1)] or ["Nothing was found."]
        return "\n".join([*lines, *parenthesized(self.notes)])


class DocumentForgotten(ToolResult):
    document_id: str
    chunks: int = Field(description="How many chunks it had.")

    def text(self) -> str:
        return f"Erased: the document {self.document_id}."


async def save(sidecar: SidecarClient, arguments: SaveDocument) -> DocumentSaved:
    request = knowledge_pb2.PutDocumentRequest(
        namespace=sidecar.namespace,
        user_id=sidecar.user_id,
        document=knowledge_pb2.Document(
            id=arguments.document_id, text=arguments.text, title=arguments.title, source=arguments.source
        ),
    )
    response: knowledge_pb2.PutDocumentResponse = await sidecar.call(sidecar.knowledge.PutDocument, request)
    return DocumentSaved(
        document_id=response.document.id,
        chunks=response.document.chunk_count,
        tokens=response.document.tokens,
        unchanged=response.unchanged,
    )


async def search(sidecar: SidecarClient, arguments: SearchDocuments) -> DocumentSearchResult:
    request = knowledge_pb2.SearchDocumentsRequest(
        namespace=sidecar.namespace, user_id=sidecar.user_id, query=arguments.query, limit=arguments.limit
    )
    response: knowledge_pb2.SearchDocumentsResponse = await sidecar.call(sidecar.knowledge.SearchDocuments, request)
    return DocumentSearchResult(
        chunks=take_fitting(map(_chunk, response.hits), DocumentChunk.line), notes=degradation_notes(response.degraded)
    )


async def forget(sidecar: SidecarClient, arguments: ForgetDocument) -> DocumentForgotten:
    request = knowledge_pb2.DeleteDocumentRequest(
        namespace=sidecar.namespace, user_id=sidecar.user_id, document_id=arguments.document_id
    )
    response: knowledge_pb2.DeleteDocumentResponse = await sidecar.call(sidecar.knowledge.DeleteDocument, request)
    return DocumentForgotten(document_id=arguments.document_id, chunks=response.removed_chunks)


def _chunk(hit: knowledge_pb2.DocumentHit) -> DocumentChunk:
    chunk = hit.chunk
    return DocumentChunk(
        document_id=chunk.document_id,
        chunk_index=chunk.chunk_index,
        content=truncate(chunk.text),
        relevance=round(hit.relevance, 3),
    )


DOCUMENT_TOOLS = (
    Tool(
        "save_document",
        "Save a document",
        "Keep a longer text, such as notes, a specification or a web page, to find chunks of it in later "
        "conversations. A document with the same document_id is replaced.",
        SaveDocument,
        DocumentSaved,
        REPLACES,
        save,
    ),
    Tool(
        "search_documents",
        "Search saved documents",
        "Find the chunks of saved documents that fit a question.",
        SearchDocuments,
        DocumentSearchResult,
        READS,
        search,
    ),
    Tool(
        "forget_document",
        "Forget a document",
        "Erase a saved document for good. It cannot be undone. Only when the user asks for it.",
        ForgetDocument,
        DocumentForgotten,
        ERASES,
        forget,
    ),
)
