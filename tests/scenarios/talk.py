"""One conversation as a user of the sidecar has it: what is said, and what is read back."""

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
class Talk:
    client: Client
    session_id: str
    namespace: str = ""
    user_id: str = ""

    @property
    def names(self) -> dict[str, Any]:
        """The three fields with which every request says whose memory it means."""
        return {"namespace": self.namespace, "user_id": self.user_id, "session_id": self.session_id}

    # -- saying

    def say(self, content: str, role: Role = ROLE_USER, **fields: Any) -> pb.AddResponse:
        names = {"namespace": self.namespace, "user_id": self.user_id}
        return self.client.add(self.session_id, content, role, **names, **fields)

    def system(self, content: str, **fields: Any) -> pb.AddResponse:
        return self.say(content, ROLE_SYSTEM, **fields)

    def assistant(self, content: str, **fields: Any) -> pb.AddResponse:
        return self.say(content, ROLE_ASSISTANT, **fields)

    def call(self, *call_ids: str, **fields: Any) -> pb.AddResponse:
        calls = [ToolCall(id=call_id, name="lookup", arguments_json="{}") for call_id in call_ids]
        return self.assistant(fields.pop("content", ""), tool_calls=calls, **fields)

    def answer(self, call_id: str, content: str, **fields: Any) -> pb.AddResponse:
        return self.say(content, ROLE_TOOL, tool_call_id=call_id, **fields)

    def turns(self, count: int) -> None:
        """`count` questions and their answers: q1, a1, q2, a2 ..."""
        said = [
            Message(id=f"{letter}{at}", role=role, content=f"{letter}{at} and some words to weigh something")
            for at in range(1, count + 1)
            for letter, role in (("q", ROLE_USER), ("a", ROLE_ASSISTANT))
        ]
        self.batch(*said)

    def batch(self, *messages: Message, **fields: Any) -> pb.AddBatchResponse:
        answer: pb.AddBatchResponse = self.client.memory.AddBatch(
            pb.AddBatchRequest(**self.names, messages=messages, **fields)
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
        answer: pb.CountResponse = self.client.memory.Count(pb.CountRequest(**self.names, model=model))
        return answer.stats

    def search(self, query: str, **fields: Any) -> pb.SearchResponse:
        request = pb.SearchRequest(**{"mode": SUBSTRING, **self.names, **fields}, query=query)
        answer: pb.SearchResponse = self.client.memory.Search(request)
        return answer

    def find(self, query: str, **fields: Any) -> list[str]:
        """The contents of the hits, best first."""
        return [hit.message.content for hit in self.search(query, **fields).hits]

    def summary(self) -> Summary | None:
        answer: GetSummaryResponse = self.client.knowledge.GetSummary(GetSummaryRequest(**self.names))
        return answer.summary if answer.HasField("summary") else None

    # -- changing

    def prune(self, max_tokens: int = 0, **fields: Any) -> pb.PruneResponse:
        answer: pb.PruneResponse = self.client.memory.Prune(
            pb.PruneRequest(**self.names, max_tokens=max_tokens, **fields)
        )
        return answer

    def clear(self) -> int:
        answer: pb.ClearResponse = self.client.memory.Clear(pb.ClearRequest(**self.names))
        return answer.removed_count

    def annotate(self, message_id: str, tags: dict[str, Any] | None = None, **fields: Any) -> Message:
        metadata = None if tags is None else tagged(tags)
        answer: pb.AnnotateResponse = self.client.memory.Annotate(
            pb.AnnotateRequest(**self.names, message_id=message_id, metadata=metadata, **fields)
        )
        return answer.message


def tagged(tags: dict[str, Any]) -> Struct:
    struct = Struct()
    struct.update(tags)
    return struct


def at(text: str) -> Timestamp:
    """A time written as in JSON, for example 2024-05-01T12:00:00Z."""
    stamp = Timestamp()
    stamp.FromJsonString(text)
    return stamp
