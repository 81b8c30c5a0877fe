"""A valid request for each RPC of the contract, and functions that send requests."""

import re
from collections.abc import Iterable, Iterator
from typing import Any

import grpc
from google.protobuf.descriptor import MethodDescriptor
from google.protobuf.message import Message as Proto
from google.protobuf.message_factory import GetMessageClass

from memsidecar.v1 import context_pb2 as context
from memsidecar.v1 import knowledge_pb2 as knowledge
from memsidecar.v1 import memory_pb2 as memory
from memsidecar.v1 import session_pb2 as session
from memsidecar.v1.message_pb2 import ROLE_USER, Message, ToolCall
from tests.support.process import CALL_SECONDS, Client

SERVICES = (
    memory.DESCRIPTOR.services_by_name["MemoryService"],
    session.DESCRIPTOR.services_by_name["SessionService"],
    knowledge.DESCRIPTOR.services_by_name["KnowledgeService"],
)
METHODS: dict[str, MethodDescriptor] = {method.name: method for service in SERVICES for method in service.methods}

WATCHED = "watched"
KNOWN_MESSAGE = "known"
KNOWN_DOCUMENT = "known"
KNOWN_ARTIFACT = "known"


def valid_request(name: str, session_id: str = WATCHED) -> Proto:
    """Return a request that succeeds, and that changes the session if it is a write."""
    return {**_memory(session_id), **_sessions(session_id), **_documents(session_id), **_knowledge(session_id)}[name]


def _memory(session_id: str) -> dict[str, Proto]:
    message = Message(role=ROLE_USER, content="hello")
    return {
        "Add": memory.AddRequest(session_id=session_id, message=message),
        "AddBatch": memory.AddBatchRequest(session_id=session_id, messages=[message, message]),
        "AddStream": memory.AddStreamRequest(session_id=session_id, message=message),
        "StoreInteraction": memory.StoreInteractionRequest(
            session_id=session_id, user_message="hello", assistant_message="hello"
        ),
        "Annotate": memory.AnnotateRequest(session_id=session_id, message_id=KNOWN_MESSAGE, evaluation_score=3),
        "GetAll": memory.GetAllRequest(session_id=session_id),
        "GetRecent": memory.GetRecentRequest(session_id=session_id, n=3),
        "GetByRole": memory.GetByRoleRequest(session_id=session_id, role=ROLE_USER),
        "Search": memory.SearchRequest(session_id=session_id, query="hello"),
        "Count": memory.CountRequest(session_id=session_id),
        "Prune": memory.PruneRequest(session_id=session_id, max_tokens=1),
        "Clear": memory.ClearRequest(session_id=session_id),
        "ReportUsage": memory.ReportUsageRequest(
            session_id=session_id, model="some-model", estimated_tokens=100, actual_tokens=120
        ),
        "BuildContext": context.BuildContextRequest(
            session_id=session_id,
            query="hello",
            max_tokens=1_000,
            sections=[
                context.SectionBudget(section=context.SECTION_FACTS),
                context.SectionBudget(section=context.SECTION_EPISODIC),
            ],
        ),
    }


def _sessions(session_id: str) -> dict[str, Proto]:
    return {
        "ListSessions": session.ListSessionsRequest(),
        "GetSession": session.GetSessionRequest(session_id=session_id),
        "ListUsers": session.ListUsersRequest(),
        "GetUsage": session.GetUsageRequest(),
        "SetPolicy": session.SetPolicyRequest(
            session_id=session_id, policy=session.SessionPolicy(auto_prune_tokens=1_000_000)
        ),
        "DeleteSession": session.DeleteSessionRequest(session_id=session_id),
        "ForgetMessage": session.ForgetMessageRequest(session_id=session_id, message_id=KNOWN_MESSAGE),
        "ForgetUser": session.ForgetUserRequest(user_id=session_id),
        "Watch": session.WatchRequest(session_id=session_id),
        "Export": session.ExportRequest(session_id=session_id),
        "Import": session.ImportRequest(
            record=session.ArchiveRecord(
                session_id=session_id, message=Message(id="imported", role=ROLE_USER, content="hello")
            )
        ),
    }


def _documents(session_id: str) -> dict[str, Proto]:
    document = knowledge.Document(id=KNOWN_DOCUMENT, text="Hello.")
    return {
        "PutDocument": knowledge.PutDocumentRequest(session_id=session_id, document=document),
        "ListDocuments": knowledge.ListDocumentsRequest(session_id=session_id),
        "DeleteDocument": knowledge.DeleteDocumentRequest(session_id=session_id, document_id=KNOWN_DOCUMENT),
        "SearchDocuments": knowledge.SearchDocumentsRequest(session_id=session_id, query="hello"),
    }


def _knowledge(session_id: str) -> dict[str, Proto]:
    facts = [knowledge.Fact(type=knowledge.FACT_TYPE_USER_PROFILE, key=f"key {at}", value="x") for at in range(2)]
    artifact = knowledge.Artifact(id=KNOWN_ARTIFACT, content="Hello.")
    return {
        "PutFacts": knowledge.PutFactsRequest(session_id=session_id, facts=facts),
        "ListFacts": knowledge.ListFactsRequest(session_id=session_id),
        "DeleteFact": knowledge.DeleteFactRequest(session_id=session_id, fact_id="made by the server"),
        "PutArtifact": knowledge.PutArtifactRequest(session_id=session_id, artifact=artifact),
        "ListArtifacts": knowledge.ListArtifactsRequest(session_id=session_id),
        "DeleteArtifact": knowledge.DeleteArtifactRequest(session_id=session_id, artifact_id=KNOWN_ARTIFACT),
        "GetSummary": knowledge.GetSummaryRequest(session_id=session_id),
        "Summarize": knowledge.SummarizeRequest(session_id=session_id),
        "GetPatterns": knowledge.GetPatternsRequest(session_id=session_id),
    }


def send(client: Client, name: str, request: Proto) -> Any:
    """The answer; of a stream, the list of its answers."""
    answers = send_bytes(client, name, [request.SerializeToString()])
    kind = GetMessageClass(METHODS[name].output_type)
    decoded = [kind.FromString(answer) for answer in answers]
    return decoded if METHODS[name].server_streaming else decoded[0]


def send_bytes(client: Client, name: str, requests: list[bytes], seconds: float = CALL_SECONDS) -> list[bytes]:
    """Send bytes as they are, whatever they mean."""
    method = METHODS[name]
    path = f"/{method.containing_service.full_name}/{name}"
    channel: Any = client.channel
    if method.client_streaming:
        return list(channel.stream_stream(path)(iter(requests), timeout=seconds))
    if method.server_streaming:
        return list(responses_of(name, channel.unary_stream(path)(requests[0], timeout=seconds)))
    return [channel.unary_unary(path)(requests[0], timeout=seconds)]


def responses_of(name: str, call: Any) -> Iterator[bytes]:
    """Yield the responses of a call; of Watch, which never ends by itself, the first one."""
    for response in call:
        yield response
        if name == "Watch":
            call.cancel()
            return


def set_field(request: Proto, path: str, value: Any) -> None:
    """Set the field at a path such as "messages[1].tool_calls[0].id"; None clears it."""
    *parents, last = path.split(".")
    parent = request
    for step in parents:
        parent = _step(parent, step)
    _assign(parent, last, value)


def _step(parent: Proto, step: str) -> Any:
    name, _, position = re.sub(r"\]$", "", step).partition("[")
    if not position:
        return getattr(parent, name)
    items = getattr(parent, name)
    while len(items) <= int(position):
        items.add()
    return items[int(position)]


def _assign(parent: Proto, name: str, value: Any) -> None:
    if value is None or isinstance(value, list | tuple | Proto):
        parent.ClearField(name)
    if isinstance(value, Proto):
        getattr(parent, name).CopyFrom(value)
        # An empty message counts as set.
        getattr(parent, name).SetInParent()
    elif isinstance(value, list | tuple):
        getattr(parent, name).extend(value)
    elif value is not None:
        setattr(parent, name, value)


def calls(count: int) -> list[ToolCall]:
    return [ToolCall(id=f"call-{at}", name="tool") for at in range(count)]


def code_of(client: Client, name: str, requests: Iterable[bytes]) -> grpc.StatusCode:
    try:
        send_bytes(client, name, list(requests))
    except grpc.RpcError as error:
        return error.code()
    return grpc.StatusCode.OK
