"""An agent without a model: adds a message and prints the context that a model would get, repeatedly."""

import os
import time
from pathlib import Path

import grpc

from memsidecar.v1.context_pb2 import BuildContextRequest
from memsidecar.v1.memory_pb2 import AddRequest
from memsidecar.v1.memory_pb2_grpc import MemoryServiceStub
from memsidecar.v1.message_pb2 import Message, Role

ADDRESS = os.environ.get("MEMSIDECAR_ADDRESS", "127.0.0.1:7600")
TOKEN_FILE = os.environ.get("MEMSIDECAR_TOKEN_FILE", "")
# 0 turns are endless.
TURNS = int(os.environ.get("AGENT_TURNS", "0"))
PAUSE_SECONDS = float(os.environ.get("AGENT_PAUSE_SECONDS", "10"))
CALL_SECONDS = 10
SAID = ("I moved to Lisbon.", "I am allergic to peanuts.", "Where do I live?")


def credentials() -> list[tuple[str, str]]:
    # Read at every turn: a mounted Secret may be rotated.
    return [("authorization", f"Bearer {Path(TOKEN_FILE).read_text().strip()}")] if TOKEN_FILE else []


def turn(memory: MemoryServiceStub, number: int) -> None:
    said = Message(role=Role.ROLE_USER, content=SAID[number % len(SAID)])
    memory.Add(
        AddRequest(user_id="ana", session_id="python", message=said), timeout=CALL_SECONDS, metadata=credentials()
    )
    asked = BuildContextRequest(user_id="ana", session_id="python", max_tokens=4000)
    context = memory.BuildContext(asked, timeout=CALL_SECONDS, metadata=credentials())
    print(f"turn {number}: {len(context.messages)} messages, {context.total_tokens} tokens", flush=True)
    for message in context.messages:
        print(f"  {Role.Name(message.role)}: {message.content}", flush=True)


def main() -> None:
    with grpc.insecure_channel(ADDRESS) as channel:
        memory = MemoryServiceStub(channel)
        number = 0
        while not TURNS or number < TURNS:
            turn(memory, number)
            number += 1
            time.sleep(PAUSE_SECONDS)


if __name__ == "__main__":
    main()
