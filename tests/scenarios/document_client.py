"""A client of documents: put, list, search and delete."""

from dataclasses import dataclass, replace
from typing import Any

from google.protobuf.message import Message as Proto
from google.protobuf.message_factory import GetMessageClass

from memsidecar.v1 import knowledge_pb2 as pb
from tests.support.process import CALL_SECONDS, Client

_METHODS = pb.DESCRIPTOR.services_by_name["KnowledgeService"].methods_by_name


@dataclass(frozen=True)
class DocumentClient:
    client: Client
    namespace: str = ""
    user_id: str = ""
    session_id: str = ""

    def of(self, user_id: str = "", session_id: str = "") -> "DocumentClient":
        """Return a client with another user and session."""
        return replace(self, user_id=user_id, session_id=session_id)

    @property
    def scope_ids(self) -> dict[str, Any]:
        return {"namespace": self.namespace, "user_id": self.user_id, "session_id": self.session_id}

    def put(self, document_id: str, text: str, **fields: Any) -> pb.PutDocumentResponse:
        document = pb.Document(id=document_id, text=text, **fields)
        answer: pb.PutDocumentResponse = self._call(
            "PutDocument", pb.PutDocumentRequest(**self.scope_ids, document=document)
        )
        return answer

    def page(self, **fields: Any) -> pb.ListDocumentsResponse:
        answer: pb.ListDocumentsResponse = self._call(
            "ListDocuments", pb.ListDocumentsRequest(**self.scope_ids, **fields)
        )
        return answer

    def ids(self) -> list[str]:
        return [document.id for document in self.page().documents]

    def delete(self, document_id: str) -> int:
        """Delete the document and return the number of its chunks."""
        answer = self._call("DeleteDocument", pb.DeleteDocumentRequest(**self.scope_ids, document_id=document_id))
        return int(answer.removed_chunks)

    def search_response(self, query: str, **fields: Any) -> pb.SearchDocumentsResponse:
        request = pb.SearchDocumentsRequest(**self.scope_ids, query=query, **fields)
        answer: pb.SearchDocumentsResponse = self._call("SearchDocuments", request)
        return answer

    def search(self, query: str, **fields: Any) -> list[pb.DocumentHit]:
        return list(self.search_response(query, **fields).hits)

    def find(self, query: str, **fields: Any) -> list[str]:
        """Return the document ids of the hits, best first."""
        return [hit.chunk.document_id for hit in self.search(query, **fields)]

    def _call(self, name: str, request: Proto) -> Any:
        method = _METHODS[name]
        call: Any = self.client.channel.unary_unary(
            f"/{method.containing_service.full_name}/{name}",
            request_serializer=type(request).SerializeToString,
            response_deserializer=GetMessageClass(method.output_type).FromString,
        )
        return call(request, timeout=CALL_SECONDS)
