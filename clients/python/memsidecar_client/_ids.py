"""Ids that the client generates, so that a retried write is stored once."""

import secrets
import threading
import time
from uuid import UUID

from memsidecar_client.v1.knowledge_pb2 import PutArtifactRequest
from memsidecar_client.v1.memory_pb2 import StoreInteractionRequest
from memsidecar_client.v1.message_pb2 import Message


class _Clock:
    """Return milliseconds followed by a counter; strictly increasing."""

    COUNT_BITS = 12

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._last = 0

    def next(self) -> int:
        with self._lock:
            self._last = max(self._last + 1, time.time_ns() // 1_000_000 << self.COUNT_BITS)
            return self._last


_clock = _Clock()


def new_id() -> str:
    """Return a UUIDv7: milliseconds, a counter, then random bits, so that a process's ids sort by creation time."""
    milliseconds, count = divmod(_clock.next(), 1 << _Clock.COUNT_BITS)
    number = milliseconds << 80 | 0x7 << 76 | count << 64 | 0b10 << 62 | secrets.randbits(62)
    return str(UUID(int=number))


def identify(*messages: Message) -> None:
    for message in messages:
        message.id = message.id or new_id()


def identify_interaction(request: StoreInteractionRequest) -> None:
    request.interaction_id = request.interaction_id or new_id()


def identify_artifact(request: PutArtifactRequest) -> None:
    """Add an id, except for an offloaded message, whose artifact id the server derives."""
    if not request.offload_message_id:
        request.artifact.id = request.artifact.id or new_id()
