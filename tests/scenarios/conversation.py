"""A client of one session: add, read, search, prune and annotate messages."""

from dataclasses import dataclass
from typing import Any

from google.protobuf.struct_pb2 import Struct
from google.protobuf.timestamp_pb2 import Timestamp

from memsidecar.v1 import memory_pb2 as pb
from memsidecar.v1.knowledge_pb2 import GetSummaryRequest, GetSummaryResponse, Summary
from memsidecar.v1.message_pb2 import (
    ROLE_ASSISTANT,
    ROLE_SYSTEM,
    ROLE_TOOL,
    ROLE_USER,
    Message,
    Role,
    SessionStats,
    ToolCall,
)
from tests.support.process import Client

SUBSTRING = pb.SEARCH_MODE_SUBSTRING


@dataclass(frozen=True)
class Conversation:
    client: Client
    session_id: str
    namespace: str = ""
    user_id: str = ""

    @property
    def scope_ids(self) -> dict[str, Any]:
        """Return the three fields of a request that name the namespace, the user and the session."""
        return {"namespace": self.namespace, "user_id": self.user_id, "session_id": self.session_id}

    # -- writing

    def add(self, content: str, role: Role = ROLE_USER, **fields: Any) -> pb.AddResponse:
        names = {"namespace": self.namespace, "user_id": self.user_id}
        return self.client.add(self.session_id, content, role, **names, **fields)

    def system(self, content: str, **fields: Any) -> pb.AddResponse:
        return self.add(content, ROLE_SYSTEM, **fields)

    def assistant(self, content: str, **fields: Any) -> pb.AddResponse:
        return self.add(content, ROLE_ASSISTANT, **fields)

    def add_tool_call(self, *call_ids: str, **fields: Any) -> pb.AddResponse:
        calls = [ToolCall(id=call_id, name="lookup", arguments_json="{}") for call_id in call_ids]
        return self.assistant(fields.pop("content", ""), tool_calls=calls, **fields)

    def add_tool_result(self, call_id: str, content: str, **fields: Any) -> pb.AddResponse:
        return self.add(content, ROLE_TOOL, tool_call_id=call_id, **fields)

    def add_turns(self, count: int) -> None:
        """Add `count` questions and their answers: q1, a1, q2, a2 ..."""
        messages = [
            Message(id=f"{letter}{number}", role=role, content=f"{letter}{number} and some words to weigh something")
            for number in range(1, count + 1)
            for letter, role in (("q", ROLE_USER), ("a", ROLE_ASSISTANT))
        ]
        self.add_batch(*messages)

    def add_batch(self, *messages: Message, **fields: Any) -> pb.AddBatchResponse:
        answer: pb.AddBatchResponse = self.client.memory.AddBatch(
            pb.AddBatchRequest(**self.scope_ids, messages=messages, **fields)
        )
        return answer

    # -- reading

    def messages(self, include_pruned: bool = False) -> list[Message]:
        names = {"namespace": self.namespace, "user_id": self.user_id}
        return self.client.all(self.session_id, include_pruned, **names)

    def ids(self, include_pruned: bool = False) -> list[str]:
        return [message.id for message in self.messages(include_pruned)]

    def contents(self, include_pruned: bool = False) -> list[str]:
        return [message.content for message in self.messages(include_pruned)]

    def count(self, model: str = "") -> SessionStats:
        answer: pb.CountResponse = self.client.memory.Count(pb.CountRequest(**self.scope_ids, model=model))
        return answer.stats

    def search(self, query: str, **fields: Any) -> pb.SearchResponse:
        request = pb.SearchRequest(**{"mode": SUBSTRING, **self.scope_ids, **fields}, query=query)
        answer: pb.SearchResponse = self.client.memory.Search(request)
        return answer

    def find(self, query: str, **fields: Any) -> list[str]:
        """Return the contents of the hits, best first."""
        return [hit.message.content for hit in self.search(query, **fields).hits]

    def summary(self) -> Summary | None:
        answer: GetSummaryResponse = self.client.knowledge.GetSummary(GetSummaryRequest(**self.scope_ids))
        return answer.summary if answer.HasField("summary") else None

    # -- changing

    def prune(self, max_tokens: int = 0, **fields: Any) -> pb.PruneResponse:
        answer: pb.PruneResponse = self.client.memory.Prune(
            pb.PruneRequest(**self.scope_ids, max_tokens=max_tokens, **fields)
        )
        return answer

    def clear(self) -> int:
        answer: pb.ClearResponse = self.client.memory.Clear(pb.ClearRequest(**self.scope_ids))
        return answer.removed_count

    def annotate(self, message_id: str, tags: dict[str, Any] | None = None, **fields: Any) -> Message:
        metadata = None if tags is None else tagged(tags)
        answer: pb.AnnotateResponse = self.client.memory.Annotate(
            pb.AnnotateRequest(**self.scope_ids, message_id=message_id, metadata=metadata, **fields)
        )
        return answer.message


def tagged(tags: dict[str, Any]) -> Struct:
    struct = Struct()
    struct.update(tags)
    return struct


def timestamp(text: str) -> Timestamp:
    """Parse a time as in JSON, for example 2024-05-01T12:00:00Z."""
    stamp = Timestamp()
    stamp.FromJsonString(text)
    return stamp
