"""Clients of working memory for the threads of a test: one calls the layer, one calls RPCs."""

from collections.abc import Sequence
from typing import Protocol

import grpc

from memsidecar.domain.errors import NotFound
from memsidecar.domain.session import SessionKey, Strategy
from memsidecar.layers.working.memory import WorkingMemory
from memsidecar.layers.working.reads import MessageSlice
from memsidecar.layers.working.window_update import PruneRequest
from memsidecar.stores.contract import Erase
from memsidecar.v1 import memory_pb2 as pb
from memsidecar.v1.message_pb2 import Message
from tests.support.process import CALL_SECONDS, Client


class MemoryClient(Protocol):
    """The calls that both clients have."""

    def add(self, session_id: str, messages: Sequence[Message]) -> tuple[int, ...]:
        """Add the messages and return their sequences."""

    def recent(self, session_id: str, n: int) -> list[Message]: ...

    def count(self, session_id: str) -> tuple[int, int, int]:
        """Return the last sequence, the number of messages in the window, and of pruned ones."""

    def prune(self, session_id: str, window: int) -> None: ...

    def annotate(self, session_id: str, message_id: str, score: float) -> bool:
        """Annotate the message; return whether it exists."""

    def clear(self, session_id: str) -> None: ...


class LayerClient:
    def __init__(self, memory: WorkingMemory) -> None:
        self._memory = memory

    def add(self, session_id: str, messages: Sequence[Message]) -> tuple[int, ...]:
        appended = self._memory.add(key_of(session_id), "", messages)
        return tuple(result.sequence for result in appended.results)

    def recent(self, session_id: str, n: int) -> list[Message]:
        cached: MessageSlice | None = self._memory.read.cached_recent(key_of(session_id), "", n, 0)
        part = cached or self._memory.read.recent(key_of(session_id), "", n, 0)
        return list(pb.GetRecentResponse.FromString(b"".join(part.frames)).messages)

    def count(self, session_id: str) -> tuple[int, int, int]:
        head = self._memory.read.head(key_of(session_id), "")
        return (head.last_sequence, head.message_count, head.pruned_count) if head else (0, 0, 0)

    def prune(self, session_id: str, window: int) -> None:
        request = PruneRequest(max_tokens=0, strategy=Strategy.WINDOW, window=window, min_messages=2)
        self._memory.prune(key_of(session_id), "", request)

    def annotate(self, session_id: str, message_id: str, score: float) -> bool:
        try:
            self._memory.annotate(key_of(session_id), "", message_id, score, None)
        except NotFound:
            return False
        return True

    def clear(self, session_id: str) -> None:
        self._memory.sessions.submit_erase(Erase(key_of(session_id), "")).wait()


class RpcClient:
    def __init__(self, client: Client) -> None:
        self._client = client

    def add(self, session_id: str, messages: Sequence[Message]) -> tuple[int, ...]:
        request = pb.AddBatchRequest(session_id=session_id, messages=messages)
        answer = self._client.memory.AddBatch(request, timeout=CALL_SECONDS)
        return tuple(result.sequence for result in answer.results)

    def recent(self, session_id: str, n: int) -> list[Message]:
        return self._client.recent(session_id, n)

    def count(self, session_id: str) -> tuple[int, int, int]:
        stats = self._client.memory.Count(pb.CountRequest(session_id=session_id), timeout=CALL_SECONDS).stats
        return stats.last_sequence, stats.message_count, stats.pruned_count

    def prune(self, session_id: str, window: int) -> None:
        request = pb.PruneRequest(session_id=session_id, strategy=pb.PRUNE_STRATEGY_WINDOW, window=window)
        self._client.memory.Prune(request, timeout=CALL_SECONDS)

    def annotate(self, session_id: str, message_id: str, score: float) -> bool:
        request = pb.AnnotateRequest(session_id=session_id, message_id=message_id, evaluation_score=score)
        try:
            self._client.memory.Annotate(request, timeout=CALL_SECONDS)
        except grpc.RpcError as error:
            if error.code() is not grpc.StatusCode.NOT_FOUND:
                raise
            return False
        return True

    def clear(self, session_id: str) -> None:
        self._client.memory.Clear(pb.ClearRequest(session_id=session_id), timeout=CALL_SECONDS)


def key_of(session_id: str) -> SessionKey:
    return SessionKey("default", session_id)
