"""An agent without a model: stores its input and prints the context that a model would get."""

import os
import sys

import grpc

from memsidecar.v1 import context_pb2, memory_pb2, memory_pb2_grpc
from memsidecar.v1.message_pb2 import ROLE_USER, Message, Role

ADDRESS = os.environ.get("MEMSIDECAR_ADDRESS", "127.0.0.1:7600")
OWNER = {"user_id": "ana", "session_id": "laptop"}


def main(text: str) -> None:
    with grpc.insecure_channel(ADDRESS) as channel:
        memory = memory_pb2_grpc.MemoryServiceStub(channel)
        message = Message(role=ROLE_USER, content=text)
        # The sidecar may still be starting: the first call waits for it.
        memory.Add(memory_pb2.AddRequest(**OWNER, message=message), timeout=30, wait_for_ready=True)
        context = memory.BuildContext(context_pb2.BuildContextRequest(**OWNER, max_tokens=1000), timeout=30)
    for message in context.messages:
        print(f"{Role.Name(message.role)}: {message.content}")
    print(f"({context.total_tokens} of {context.max_tokens} tokens)")


if __name__ == "__main__":
    main(" ".join(sys.argv[1:]))
