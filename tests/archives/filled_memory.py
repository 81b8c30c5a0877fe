"""A memory with something of everything that an archive holds, and functions that export and import it."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from google.protobuf.struct_pb2 import Struct
from google.protobuf.timestamp_pb2 import Timestamp

from memsidecar.cli.client_options import ClientOptions
from memsidecar.cli.compare import Comparison, SidecarReader
from memsidecar.cli.sidecar_calls import SidecarCalls
from memsidecar.v1 import knowledge_pb2 as knowledge
from memsidecar.v1 import memory_pb2 as memory
from memsidecar.v1 import session_pb2 as sessions
from memsidecar.v1.message_pb2 import ROLE_ASSISTANT, ROLE_SYSTEM, ROLE_TOOL, ROLE_USER, Message, ToolCall
from tests.support.process import CALL_SECONDS, Client
from tests.support.waiting import until

TURNS = 14
DOCUMENT = "  # Harbour rules\n\n\n" + "\t\n".join(
    f"Rule {at}: boats of length {at} moor at pier {at % 7}.  " * 12 for at in range(40)
)
"A text with white space that its chunks do not have."


def fill(client: Client, namespace: str = "") -> None:
    """Fill a namespace. Returns when the background tasks have processed everything."""
    for at in range(TURNS):
        for session_id, user_id in (("talk", "ann"), ("work", "ann"), ("bobs", "bob"), ("nobody", "")):
            _turn(client, namespace, session_id, user_id, at)
    _system_and_tools(client, namespace)
    _annotate_and_prune(client, namespace)
    _clear(client, namespace)
    _facts(client, namespace)
    _knowledge(client, namespace)
    _settings(client, namespace)
    settle(client, namespace)


def _turn(client: Client, namespace: str, session_id: str, user_id: str, at: int) -> None:
    told = {0: "My name is Ann and I live in Oslo.", 5: "I moved: I live in Bergen now.", 7: "I like sailing."}
    for role, text in ((ROLE_USER, told.get(at, f"Question {at} of {session_id}?")), (ROLE_ASSISTANT, "ok, thanks")):
        message = Message(
            id=f"{session_id}-{at}-{role}", role=role, content=text, name="Ann" if role == ROLE_USER else ""
        )
        if at % 3 == 0:
            message.create_time.FromSeconds(1_700_000_000 + at)
            message.create_time.nanos = 123_456_789
            message.metadata["turn"] = at
            message.reasoning = "because"
        if at == 4:
            message.vector.extend([0.5] * 256)
        request = memory.AddRequest(namespace=namespace, session_id=session_id, user_id=user_id, message=message)
        client.memory.Add(request, timeout=CALL_SECONDS)


def _system_and_tools(client: Client, namespace: str) -> None:
    calls = [ToolCall(id="c1", name="log", arguments_json='{"n": 1}'), ToolCall(id="c2", name="open")]
    lines = "\n".join(f"line {at} of the log" for at in range(300))
    for message in (
        Message(id="system", role=ROLE_SYSTEM, content="You are a helpful harbour master."),
        Message(id="call", role=ROLE_ASSISTANT, tool_calls=calls),
        Message(id="result", role=ROLE_TOOL, content=lines, tool_call_id="c1", name="log"),
    ):
        client.memory.Add(memory.AddRequest(namespace=namespace, session_id="talk", message=message))
    artifact = knowledge.Artifact(source="log")
    client.knowledge.PutArtifact(
        knowledge.PutArtifactRequest(
            namespace=namespace, session_id="talk", artifact=artifact, offload_message_id="result", preview_tokens=60
        )
    )


def _annotate_and_prune(client: Client, namespace: str) -> None:
    metadata = Struct()
    metadata.update({"important": True, "nested": {"list": [1, "two", None]}})
    for message_id in ("talk-3-2", "result"):
        client.memory.Annotate(
            memory.AnnotateRequest(
                namespace=namespace, session_id="talk", message_id=message_id, evaluation_score=8.5, metadata=metadata
            )
        )
    client.memory.Prune(memory.PruneRequest(namespace=namespace, session_id="talk", max_tokens=150))
    client.memory.Prune(memory.PruneRequest(namespace=namespace, session_id="bobs", max_tokens=1))


def _clear(client: Client, namespace: str) -> None:
    """Leave gaps: a session that goes on after a Clear, and one that ends with it."""
    for session_id in ("cleared", "emptied"):
        for at in range(3):
            client.add(session_id, f"to be cleared {at}", namespace=namespace, user_id="ann")
        client.memory.Clear(memory.ClearRequest(namespace=namespace, session_id=session_id))
    client.add("cleared", "after the clear", namespace=namespace)


def _facts(client: Client, namespace: str) -> None:
    scope: dict[str, Any] = {"namespace": namespace, "user_id": "ann"}
    for value in ("Acme", "Initech"):
        fact = knowledge.Fact(type=knowledge.FACT_TYPE_USER_PROFILE, key="company", value=value, confidence=0.7)
        client.knowledge.PutFacts(knowledge.PutFactsRequest(**scope, facts=[fact]))
    pinned = knowledge.Fact(type=knowledge.FACT_TYPE_PREFERENCE, key="tone", value="dry", pinned=True)
    client.knowledge.PutFacts(knowledge.PutFactsRequest(**scope, session_id="work", facts=[pinned]))
    settle(client, namespace)
    learned = client.knowledge.ListFacts(knowledge.ListFactsRequest(**scope)).facts
    (sailing,) = [fact for fact in learned if "sailing" in fact.value.lower()]
    client.knowledge.DeleteFact(knowledge.DeleteFactRequest(**scope, fact_id=sailing.id))


def _knowledge(client: Client, namespace: str) -> None:
    for at, scope in enumerate(({}, {"user_id": "ann"}, {"session_id": "talk"})):
        metadata = Struct()
        metadata.update({"at": at})
        document = knowledge.Document(
            id=f"doc {at}", title="Harbour rules", text=f"{DOCUMENT}\n {at} \n", source="file", metadata=metadata
        )
        document.create_time.FromSeconds(1_600_000_000 + at)
        request = knowledge.PutDocumentRequest(namespace=namespace, document=document, **scope)
        client.knowledge.PutDocument(request, timeout=CALL_SECONDS)
    artifact = knowledge.Artifact(
        id="note", source="tool", content="A note.", expire_time=Timestamp(seconds=9_000_000_000)
    )
    client.knowledge.PutArtifact(
        knowledge.PutArtifactRequest(namespace=namespace, session_id="work", artifact=artifact)
    )


def _settings(client: Client, namespace: str) -> None:
    for session_id, tokens in (("", 50_000), ("work", 9_000)):
        policy = sessions.SessionPolicy(auto_prune_tokens=tokens, model="some-model" if session_id else "")
        client.sessions.SetPolicy(sessions.SetPolicyRequest(namespace=namespace, session_id=session_id, policy=policy))
    client.memory.ReportUsage(
        memory.ReportUsageRequest(
            namespace=namespace, session_id="work", model="some-model", estimated_tokens=100, actual_tokens=130
        )
    )


def settle(client: Client, namespace: str = "") -> None:
    """Wait until every background task has processed every message."""

    def is_settled() -> bool:
        request = sessions.ListSessionsRequest(namespace=namespace, page_size=1_000)
        found = client.sessions.ListSessions(request, timeout=CALL_SECONDS).sessions
        return all(mark >= each.stats.last_sequence for each in found for mark in each.watermarks.values())

    until(is_settled, "the background tasks")


def export_records(client: Client, namespace: str = "", **fields: Any) -> list[sessions.ArchiveRecord]:
    request = sessions.ExportRequest(namespace=namespace, **fields)
    return [response.record for response in client.sessions.Export(request, timeout=CALL_SECONDS)]


def import_records(
    client: Client, records: Iterable[sessions.ArchiveRecord], namespace: str = "", *, override: bool = False
) -> sessions.ImportResponse:
    """Import the records; return the last response."""

    def requests() -> Iterator[sessions.ImportRequest]:
        for record in records:
            yield sessions.ImportRequest(namespace=namespace, record=record, override_erasures=override)

    last = sessions.ImportResponse()
    for last in client.sessions.Import(requests(), timeout=CALL_SECONDS):  # noqa: B007
        pass
    return last


def differences(left: Client, right: Client, namespaces: Sequence[str] = ("", "")) -> list[str]:
    readers = [
        SidecarReader(SidecarCalls(ClientOptions(client.address, namespace, CALL_SECONDS), client.channel))
        for client, namespace in zip((left, right), namespaces, strict=True)
    ]
    return list(Comparison(*readers).differences())
