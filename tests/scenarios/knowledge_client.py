"""A client of the knowledge service: put, list and delete facts and artifacts."""

from dataclasses import dataclass, replace
from typing import Any

from memsidecar.v1 import knowledge_pb2 as pb
from memsidecar.v1.knowledge_pb2 import Artifact, Fact, FactType
from memsidecar.v1.session_pb2 import DeleteSessionRequest
from tests.scenarios.conversation import Conversation
from tests.support.process import CALL_SECONDS, Client

PROFILE, INTEREST = pb.FACT_TYPE_USER_PROFILE, pb.FACT_TYPE_INTEREST


def fact(value: str, kind: FactType = PROFILE, key: str = "city", **fields: Any) -> Fact:
    return Fact(type=kind, key=key, value=value, **fields)


@dataclass(frozen=True)
class KnowledgeClient:
    client: Client
    namespace: str = ""
    user_id: str = ""
    session_id: str = ""

    def of(self, user_id: str = "", session_id: str = "") -> "KnowledgeClient":
        return replace(self, user_id=user_id, session_id=session_id)

    @property
    def scope_ids(self) -> dict[str, Any]:
        return {"namespace": self.namespace, "user_id": self.user_id, "session_id": self.session_id}

    @property
    def conversation(self) -> Conversation:
        return Conversation(self.client, self.session_id, self.namespace, self.user_id)

    # -- facts

    def put_facts(self, *facts: Fact) -> list[Fact]:
        request = pb.PutFactsRequest(**self.scope_ids, facts=facts)
        return list(self.client.knowledge.PutFacts(request, timeout=CALL_SECONDS).facts)

    def page(self, **fields: Any) -> pb.ListFactsResponse:
        request = pb.ListFactsRequest(**self.scope_ids, **fields)
        answer: pb.ListFactsResponse = self.client.knowledge.ListFacts(request, timeout=CALL_SECONDS)
        return answer

    def facts(self, **fields: Any) -> list[Fact]:
        return list(self.page(**fields).facts)

    def values(self, **fields: Any) -> list[str]:
        return [stored.value for stored in self.facts(**fields)]

    def delete_fact(self, fact_id: str) -> None:
        request = pb.DeleteFactRequest(**self.scope_ids, fact_id=fact_id)
        self.client.knowledge.DeleteFact(request, timeout=CALL_SECONDS)

    # -- artifacts

    def put(self, artifact_id: str = "", content: str = "", **fields: Any) -> Artifact:
        artifact = Artifact(id=artifact_id, content=content, **fields)
        return self.put_request(pb.PutArtifactRequest(**self.scope_ids, artifact=artifact))

    def offload(self, message_id: str, preview_tokens: int = 0, **fields: Any) -> Artifact:
        request = pb.PutArtifactRequest(
            **self.scope_ids,
            artifact=Artifact(**fields),
            offload_message_id=message_id,
            preview_tokens=preview_tokens,
        )
        return self.put_request(request)

    def put_request(self, request: pb.PutArtifactRequest) -> Artifact:
        answer: pb.PutArtifactResponse = self.client.knowledge.PutArtifact(request, timeout=CALL_SECONDS)
        return answer.artifact

    def artifact_page(self, **fields: Any) -> pb.ListArtifactsResponse:
        request = pb.ListArtifactsRequest(**self.scope_ids, **fields)
        answer: pb.ListArtifactsResponse = self.client.knowledge.ListArtifacts(request, timeout=CALL_SECONDS)
        return answer

    def artifacts(self) -> list[Artifact]:
        return list(self.artifact_page().artifacts)

    def ids(self) -> list[str]:
        return [artifact.id for artifact in self.artifacts()]

    def delete_artifact(self, artifact_id: str) -> None:
        request = pb.DeleteArtifactRequest(**self.scope_ids, artifact_id=artifact_id)
        self.client.knowledge.DeleteArtifact(request, timeout=CALL_SECONDS)

    # -- the session

    def delete_session(self) -> None:
        self.client.sessions.DeleteSession(DeleteSessionRequest(**self.scope_ids), timeout=CALL_SECONDS)
