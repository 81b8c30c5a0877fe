"""Save, search, forget documents."""

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
    limit: int = Field(default=3, ge=1, le=5, description="How many pieces at most.")


class ForgetDocument(Arguments):
    document_id: str = Field(min_length=1, description="The document to erase, as search_documents names it.")


class DocumentSaved(ToolResult):
    document_id: str
    pieces: int = Field(description="Into how many pieces it was cut, which are searched one by one.")
    tokens: int
    unchanged: bool = Field(description="The same text was there already.")

    def text(self) -> str:
        what = "It was there already" if self.unchanged else "Saved"
        return f"{what}: {self.document_id} (pieces: {self.pieces}, tokens: {self.tokens})."


class DocumentPiece(BaseModel):
    """One piece of a document."""

    document_id: str
    piece: int = Field(description="Its place in the document: 0, 1, 2 ...")
    content: str = Field(description="Shortened where it is long; it says so at its end.")
    score: float = Field(description="How well it fits the query, from 0 to 1.")

    def line(self) -> str:
        return f"[{self.document_id}, piece {self.piece}] {self.content}"


class DocumentSearchResult(ToolResult):
    pieces: list[DocumentPiece] = Field(description="Best first.")
    notes: list[str] = Field(description="What was missing when this was answered. Empty when all is well.")

    def text(self) -> str:
        lines = [f"{at}. {one.line()}" for at, one in enumerate(self.pieces, 1)] or ["Nothing was found."]
        return "\n".join([*lines, *parenthesized(self.notes)])


class DocumentForgotten(ToolResult):
    document_id: str
    pieces: int = Field(description="How many pieces it had.")

    def text(self) -> str:
        return f"Erased: the document {self.document_id}."


async def save(memory: SidecarClient, given: SaveDocument) -> DocumentSaved:
    request = knowledge_pb2.PutDocumentRequest(
        namespace=memory.namespace,
        user_id=memory.user_id,
        document=knowledge_pb2.Document(id=given.document_id, text=given.text, title=given.title, source=given.source),
    )
    answer: knowledge_pb2.PutDocumentResponse = await memory.call(memory.knowledge.PutDocument, request)
    return DocumentSaved(
        document_id=answer.document.id,
        pieces=answer.document.chunk_count,
        tokens=answer.document.tokens,
        unchanged=answer.unchanged,
    )


async def search(memory: SidecarClient, given: SearchDocuments) -> DocumentSearchResult:
    request = knowledge_pb2.SearchDocumentsRequest(
        namespace=memory.namespace, user_id=memory.user_id, query=given.query, limit=given.limit
    )
    answer: knowledge_pb2.SearchDocumentsResponse = await memory.call(memory.knowledge.SearchDocuments, request)
    return DocumentSearchResult(
        pieces=take_fitting(map(_piece, answer.hits), DocumentPiece.line), notes=degradation_notes(answer.degraded)
    )


async def forget(memory: SidecarClient, given: ForgetDocument) -> DocumentForgotten:
    request = knowledge_pb2.DeleteDocumentRequest(
        namespace=memory.namespace, user_id=memory.user_id, document_id=given.document_id
    )
    answer: knowledge_pb2.DeleteDocumentResponse = await memory.call(memory.knowledge.DeleteDocument, request)
    return DocumentForgotten(document_id=given.document_id, pieces=answer.removed_chunks)


def _piece(hit: knowledge_pb2.DocumentHit) -> DocumentPiece:
    chunk = hit.chunk
    return DocumentPiece(
        document_id=chunk.document_id,
        piece=chunk.chunk_index,
        content=truncate(chunk.text),
        score=round(hit.score, 3),
    )


DOCUMENT_TOOLS = (
    Tool(
        "save_document",
        "Save a document",
        "Keep a longer text, such as notes, a specification or a web page, to find pieces of it in later "
        "conversations. A document with the same document_id is replaced.",
        SaveDocument,
        DocumentSaved,
        REPLACES,
        save,
    ),
    Tool(
        "search_documents",
        "Search saved documents",
        "Find the pieces of saved documents that fit a question.",
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
