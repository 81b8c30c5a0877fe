"""A client in the network of the sidecar: does one task, and prints the result as JSON."""

import json
import sys
import time
from collections.abc import Iterator
from itertools import count
from random import Random
from string import ascii_lowercase
from typing import Any

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

from memsidecar.v1 import context_pb2, memory_pb2, memory_pb2_grpc
from memsidecar.v1.message_pb2 import ROLE_USER, Message

SIDECAR, HEALTH = "127.0.0.1:7600", "127.0.0.1:7601"
PATIENCE_SECONDS = 60
BUDGET_TOKENS = 500
BATCHES = {"begun": 4, "filled": 40}
BATCH_MESSAGES = 100


def tell() -> dict[str, Any]:
    """Add a message, and retrieve it in the context of another session of the same user, found by LanceDB."""
    with grpc.insecure_channel(SIDECAR) as channel:
        memory: Any = memory_pb2_grpc.MemoryServiceStub(channel)  # type: ignore[no-untyped-call]
        message = Message(role=ROLE_USER, content="I moved to Lisbon in spring.")
        added = memory.Add(memory_pb2.AddRequest(user_id="ana", session_id="first", message=message))
        _await_retrieval()
        return {"sequence": added.sequence, **_context(memory)}


def ask() -> dict[str, Any]:
    with grpc.insecure_channel(SIDECAR) as channel:
        _await_retrieval()
        return _context(memory_pb2_grpc.MemoryServiceStub(channel))  # type: ignore[no-untyped-call]


def probe() -> dict[str, Any]:
    """Probe health as the kubelet does, once for each service."""
    return {name: _health(name) for name in ("", "memsidecar.v1.MemoryService")}


def fill(session: str) -> dict[str, Any]:
    """Add some hundred or thousand messages; return how many were acknowledged."""
    with grpc.insecure_channel(SIDECAR) as channel:
        memory: Any = memory_pb2_grpc.MemoryServiceStub(channel)  # type: ignore[no-untyped-call]
        _await_retrieval()
        added, texts = 0, _texts(session)
        for _ in range(BATCHES[session]):
            messages = [Message(role=ROLE_USER, content=next(texts)) for _ in range(BATCH_MESSAGES)]
            request = memory_pb2.AddBatchRequest(user_id="ben", session_id=session, messages=messages)
            added += len(memory.AddBatch(request).results)
        return {"added": added}


def write() -> None:
    """Add messages one by one until the sidecar is gone; print the sequence of each when it is acknowledged."""
    with grpc.insecure_channel(SIDECAR) as channel:
        memory: Any = memory_pb2_grpc.MemoryServiceStub(channel)  # type: ignore[no-untyped-call]
        for number in count(1):
            message = Message(role=ROLE_USER, content=f"Step {number} is done.")
            request = memory_pb2.AddRequest(user_id="ben", session_id="written", message=message)
            try:
                print(memory.Add(request).sequence, flush=True)
            except grpc.RpcError:
                return


def read() -> dict[str, Any]:
    """Return the sequences of all messages, by session, and whether a search finds the first one."""
    with grpc.insecure_channel(SIDECAR) as channel:
        memory: Any = memory_pb2_grpc.MemoryServiceStub(channel)  # type: ignore[no-untyped-call]
        _await_retrieval()
        first = next(_texts("filled"))
        found = memory.Search(memory_pb2.SearchRequest(user_id="ben", query=first, limit=1))
        sessions = {name: _sequences(memory, name) for name in (*BATCHES, "written")}
        is_found = [hit.message.content for hit in found.hits] == [first]
        return {**sessions, "first_is_found": is_found, "degraded": list(found.degraded)}


def _texts(session: str) -> Iterator[str]:
    dice = Random(session)
    while True:
        yield " ".join("".join(dice.choices(ascii_lowercase, k=4)) for _ in range(8))


def _sequences(memory: Any, session: str) -> list[int]:
    sequences, token = [], ""
    while True:
        request = memory_pb2.GetAllRequest(
            user_id="ben", session_id=session, page_size=1_000, page_token=token, include_pruned=True
        )
        page = memory.GetAll(request)
        sequences += [message.sequence for message in page.messages]
        token = page.next_page_token
        if not token:
            return sequences


def _context(memory: Any) -> dict[str, Any]:
    answer = memory.BuildContext(
        context_pb2.BuildContextRequest(
            user_id="ana", session_id="second", query="Where do I live?", append_query=True, max_tokens=BUDGET_TOKENS
        )
    )
    return {
        "context": [message.content for message in answer.messages],
        "tokens": answer.total_tokens,
        "degraded": list(answer.degraded),
    }


def _await_retrieval() -> None:
    last = time.monotonic() + PATIENCE_SECONDS
    while _health("memsidecar.episodic") != "SERVING":
        if time.monotonic() > last:
            raise TimeoutError("retrieval did not come")
        time.sleep(0.1)


def _health(service: str) -> str:
    with grpc.insecure_channel(HEALTH) as channel:
        stub: Any = health_pb2_grpc.HealthStub(channel)
        answer = stub.Check(health_pb2.HealthCheckRequest(service=service), timeout=10)
        return str(health_pb2.HealthCheckResponse.ServingStatus.Name(answer.status))


if __name__ == "__main__":
    tasks = {"tell": tell, "ask": ask, "probe": probe, "read": read}
    match sys.argv[1:]:
        case ["write"]:
            write()
        case ["fill", session]:
            print(json.dumps(fill(session)))
        case [task]:
            print(json.dumps(tasks[task]()))
