"""A client in the network of the sidecar: does one task, and prints the result as JSON."""

import json
import sys
import time
from typing import Any

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

from memsidecar.v1 import context_pb2, memory_pb2, memory_pb2_grpc
from memsidecar.v1.message_pb2 import ROLE_USER, Message

SIDECAR, HEALTH = "127.0.0.1:7600", "127.0.0.1:7601"
PATIENCE_SECONDS = 60
BUDGET_TOKENS = 500


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
    print(json.dumps({"tell": tell, "ask": ask, "probe": probe}[sys.argv[1]]()))
