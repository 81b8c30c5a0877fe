"""Scopes and ownership: sessions, users and namespaces are isolated from each other."""

from collections.abc import Callable
from typing import Any

import grpc
import pytest

from memsidecar.v1 import knowledge_pb2, session_pb2
from memsidecar.v1 import memory_pb2 as pb
from memsidecar.v1.message_pb2 import (
    ROLE_USER,
    SCOPE_NAMESPACE,
    SCOPE_SESSION,
    SCOPE_UNSPECIFIED,
    SCOPE_USER,
    Message,
    Scope,
)
from tests.scenarios.conversation import SUBSTRING, Conversation
from tests.scenarios.knowledge_client import fact
from tests.support.process import CALL_SECONDS, Client, refusal

MODES = (SUBSTRING, pb.SEARCH_MODE_KEYWORD, pb.SEARCH_MODE_SEMANTIC, pb.SEARCH_MODE_HYBRID)


@pytest.fixture
def sessions(client: Client, namespace: str) -> None:
    """Create two sessions of Alice, one of Bob, and one without a user."""
    for session_id, user_id in (("a1", "alice"), ("a2", "alice"), ("b1", "bob"), ("n1", "")):
        Conversation(client, session_id, namespace, user_id).add(f"tea in {session_id}")


def found(client: Client, namespace: str, scope: Scope, user_id: str = "", session_id: str = "") -> set[str]:
    """Return the sessions of the hits, which are equal in all modes."""
    where: dict[str, Any] = {"namespace": namespace, "user_id": user_id, "session_id": session_id, "scope": scope}
    requests = [pb.SearchRequest(**where, query="tea", mode=mode) for mode in MODES]
    answers = [{hit.session_id for hit in client.memory.Search(request).hits} for request in requests]
    assert all(answer == answers[0] for answer in answers)
    return answers[0]


@pytest.mark.usefixtures("sessions")
def test_a_search_covers_the_sessions_of_its_scope(client: Client, namespace: str) -> None:
    assert found(client, namespace, SCOPE_SESSION, session_id="a1") == {"a1"}
    assert found(client, namespace, SCOPE_SESSION, "alice", "a1") == {"a1"}
    assert found(client, namespace, SCOPE_USER, "alice") == {"a1", "a2"}
    assert found(client, namespace, SCOPE_USER, session_id="a1") == {"a1", "a2"}
    assert found(client, namespace, SCOPE_NAMESPACE) == {"a1", "a2", "b1", "n1"}


@pytest.mark.usefixtures("sessions")
def test_the_default_scope_is_the_user_if_the_session_has_one(client: Client, namespace: str) -> None:
    assert found(client, namespace, SCOPE_UNSPECIFIED, "alice") == {"a1", "a2"}
    assert found(client, namespace, SCOPE_UNSPECIFIED, session_id="b1") == {"b1"}
    assert found(client, namespace, SCOPE_UNSPECIFIED, session_id="a2") == {"a1", "a2"}
    assert found(client, namespace, SCOPE_UNSPECIFIED, session_id="n1") == {"n1"}


@pytest.mark.parametrize("scope", [SCOPE_USER, SCOPE_SESSION, SCOPE_UNSPECIFIED], ids=Scope.Name)
def test_a_scope_without_its_id_is_refused(client: Client, namespace: str, scope: Scope) -> None:
    refused = refusal(lambda: found(client, namespace, scope))
    assert (refused.code, refused.reason) == (grpc.StatusCode.INVALID_ARGUMENT, "INVALID_FIELD")


def test_namespaces_do_not_see_each_other(client: Client, namespace: str) -> None:
    here, there = (Conversation(client, "same", f"{namespace}-{at}", "same") for at in ("here", "there"))
    here.add("tea here", id="m")
    there.add("tea there", id="m")
    assert here.contents() == ["tea here"]
    assert here.find("tea", scope=SCOPE_NAMESPACE) == ["tea here"]
    assert here.find("tea", scope=SCOPE_USER) == ["tea here"]
    here.clear()
    assert there.contents() == ["tea there"]
    there.client.sessions.DeleteSession(session_pb2.DeleteSessionRequest(**there.scope_ids))
    assert here.count().last_sequence == 1


def test_the_empty_namespace_is_the_one_called_default(conversation: Conversation) -> None:
    conversation.add("tea")
    assert Conversation(conversation.client, conversation.session_id, "default").contents() == ["tea"]


# -- ownership

M, S = "memory", "sessions"
SESSION_REQUESTS: dict[str, tuple[str, Callable[..., Any], dict[str, Any]]] = {
    "Add": (M, pb.AddRequest, {"message": Message(role=ROLE_USER, content="mine")}),
    "AddBatch": (M, pb.AddBatchRequest, {"messages": [Message(role=ROLE_USER, content="mine")]}),
    "StoreInteraction": (M, pb.StoreInteractionRequest, {"user_message": "mine", "assistant_message": "yours"}),
    "Annotate": (M, pb.AnnotateRequest, {"message_id": "m", "evaluation_score": 1}),
    "GetAll": (M, pb.GetAllRequest, {}),
    "GetRecent": (M, pb.GetRecentRequest, {"n": 1}),
    "GetByRole": (M, pb.GetByRoleRequest, {"role": ROLE_USER}),
    "Search": (M, pb.SearchRequest, {"query": "secret", "mode": SUBSTRING}),
    "Count": (M, pb.CountRequest, {}),
    "Prune": (M, pb.PruneRequest, {"max_tokens": 1}),
    "Clear": (M, pb.ClearRequest, {}),
    "ReportUsage": (M, pb.ReportUsageRequest, {"model": "claude-x", "estimated_tokens": 1, "actual_tokens": 1}),
    "GetSession": (S, session_pb2.GetSessionRequest, {}),
    "SetPolicy": (S, session_pb2.SetPolicyRequest, {"policy": session_pb2.SessionPolicy(auto_prune_tokens=100)}),
    "DeleteSession": (S, session_pb2.DeleteSessionRequest, {}),
    "DeleteSession dry run": (S, session_pb2.DeleteSessionRequest, {"dry_run": True}),
    "Search session": (M, pb.SearchRequest, {"query": "secret", "mode": SUBSTRING, "scope": SCOPE_SESSION}),
    "Search ranked": (M, pb.SearchRequest, {"query": "secret"}),
    "Search ranked session": (M, pb.SearchRequest, {"query": "secret", "scope": SCOPE_SESSION}),
    "Search ranked namespace": (M, pb.SearchRequest, {"query": "secret", "scope": SCOPE_NAMESPACE}),
    "Search namespace": (M, pb.SearchRequest, {"query": "secret", "mode": SUBSTRING, "scope": SCOPE_NAMESPACE}),
}


@pytest.fixture
def alices(client: Client, namespace: str) -> Conversation:
    conversation = Conversation(client, "private", namespace, "alice")
    conversation.add("secret", id="m")
    return conversation


@pytest.mark.parametrize("rpc", SESSION_REQUESTS)
def test_a_request_with_another_user_id_is_refused(alices: Conversation, rpc: str) -> None:
    service, request, fields = SESSION_REQUESTS[rpc]
    call = getattr(getattr(alices.client, service), rpc.partition(" ")[0])
    before = alices.messages()
    refused = refusal(lambda: call(request(**{**alices.scope_ids, "user_id": "bob"}, **fields)))
    assert (refused.code, refused.reason) == (grpc.StatusCode.FAILED_PRECONDITION, "SESSION_OWNER_MISMATCH")
    assert alices.messages() == before


def test_a_stream_with_another_user_id_is_refused(alices: Conversation) -> None:
    names = {**alices.scope_ids, "user_id": "bob"}
    request = pb.AddStreamRequest(**names, message=Message(role=ROLE_USER, content="mine"))
    refused = refusal(lambda: list(alices.client.memory.AddStream(iter([request]), timeout=CALL_SECONDS)))
    assert (refused.code, refused.reason) == (grpc.StatusCode.FAILED_PRECONDITION, "SESSION_OWNER_MISMATCH")
    assert alices.contents() == ["secret"]


K = "knowledge"
CLAIMING_REQUESTS: dict[str, tuple[str, Callable[..., Any], dict[str, Any]]] = {
    **{rpc: SESSION_REQUESTS[rpc] for rpc in ("Add", "AddBatch", "StoreInteraction", "SetPolicy")},
    "PutFacts": (K, knowledge_pb2.PutFactsRequest, {"facts": [fact("Lisbon")]}),
    "PutArtifact": (K, knowledge_pb2.PutArtifactRequest, {"artifact": knowledge_pb2.Artifact(id="a", content="x")}),
    "PutDocument": (K, knowledge_pb2.PutDocumentRequest, {"document": knowledge_pb2.Document(id="d", text="x")}),
}
KNOWLEDGE_READS: dict[str, Callable[..., Any]] = {
    "ListFacts": knowledge_pb2.ListFactsRequest,
    "ListArtifacts": knowledge_pb2.ListArtifactsRequest,
    "ListDocuments": knowledge_pb2.ListDocumentsRequest,
}


@pytest.mark.parametrize("has_messages", [False, True], ids=["unknown", "with messages"])
@pytest.mark.parametrize("rpc", CLAIMING_REQUESTS)
def test_the_first_write_of_any_kind_claims_the_session(
    conversation: Conversation, rpc: str, has_messages: bool
) -> None:
    if has_messages:
        conversation.add("not claimed yet")
    service, request, fields = CLAIMING_REQUESTS[rpc]
    names: dict[str, Any] = {"namespace": conversation.namespace, "session_id": conversation.session_id}
    getattr(getattr(conversation.client, service), rpc)(
        request(**names, user_id="alice", **fields), timeout=CALL_SECONDS
    )
    answer = conversation.client.sessions.GetSession(session_pb2.GetSessionRequest(**names, user_id="alice"))
    assert answer.session.user_id == "alice"
    for read, request_type in KNOWLEDGE_READS.items():
        call = getattr(conversation.client.knowledge, read)
        assert refusal(lambda: call(request_type(**names, user_id="bob"))).reason == "SESSION_OWNER_MISMATCH"  # noqa: B023
    assert (
        refusal(lambda: conversation.client.add(conversation.session_id, "mine", user_id="bob")).reason
        == "SESSION_OWNER_MISMATCH"
    )
    delete = session_pb2.DeleteSessionRequest(**names, user_id="bob")
    assert refusal(lambda: conversation.client.sessions.DeleteSession(delete)).reason == "SESSION_OWNER_MISMATCH"


def test_a_refused_write_creates_no_session(conversation: Conversation) -> None:
    names: dict[str, Any] = {
        "namespace": conversation.namespace,
        "session_id": conversation.session_id,
        "user_id": "alice",
    }
    wrong = knowledge_pb2.PutArtifactRequest(
        **names, artifact=knowledge_pb2.Artifact(id="a"), offload_message_id="none"
    )
    assert refusal(lambda: conversation.client.knowledge.PutArtifact(wrong)).code is grpc.StatusCode.NOT_FOUND
    empty = knowledge_pb2.PutDocumentRequest(**names, document=knowledge_pb2.Document(id="d"))
    assert refusal(lambda: conversation.client.knowledge.PutDocument(empty)).code is grpc.StatusCode.INVALID_ARGUMENT
    request = session_pb2.GetSessionRequest(**names)
    assert not conversation.client.sessions.GetSession(request).HasField("session")


def test_the_first_write_with_a_user_id_claims_the_session(conversation: Conversation) -> None:
    conversation.add("not claimed yet")
    conversation.client.add(conversation.session_id, "hello", user_id="alice")
    assert (
        refusal(lambda: conversation.client.add(conversation.session_id, "hello", user_id="bob")).reason
        == "SESSION_OWNER_MISMATCH"
    )
    assert conversation.add("without a name").sequence == 3
    session = conversation.client.sessions.GetSession(session_pb2.GetSessionRequest(**conversation.scope_ids)).session
    assert session.user_id == "alice"
