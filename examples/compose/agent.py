"""An agent without a model: remembers what it is told, and shows what a model would be sent."""

import os
import sys

import grpc

from memsidecar.v1 import context_pb2, memory_pb2, memory_pb2_grpc
from memsidecar.v1.message_pb2 import ROLE_USER, Message, Role

ADDRESS = os.environ.get("MEMSIDECAR_ADDRESS", "127.0.0.1:7600")
WHO = {"user_id": "ana", "session_id": "laptop"}


def main(said: str) -> None:
    with grpc.insecure_channel(ADDRESS) as channel:
        memory = memory_pb2_grpc.MemoryServiceStub(channel)
        message = Message(role=ROLE_USER, content=said)
        # The sidecar may still be starting: the first call waits for it.
        memory.Add(memory_pb2.AddRequest(**WHO, message=message), timeout=30, wait_for_ready=True)
        context = memory.BuildContext(context_pb2.BuildContextRequest(**WHO, max_tokens=1000), timeout=30)
    for message in context.messages:
        print(f"{Role.Name(message.role)}: {message.content}")
    print(f"({context.total_tokens} of {context.max_tokens} tokens)")


if __name__ == "__main__":
    main(" ".join(sys.argv[1:]))
