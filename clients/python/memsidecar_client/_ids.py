"""Ids that the client makes, so that a write which is sent again is stored once."""

import secrets
import time
from uuid import UUID

from memsidecar_client.v1.knowledge_pb2 import PutArtifactRequest
from memsidecar_client.v1.memory_pb2 import StoreInteractionRequest
from memsidecar_client.v1.message_pb2 import Message


def new_id() -> str:
    """A UUIDv7: the time in milliseconds, then chance, so that ids sort by when they were made."""
    milliseconds = time.time_ns() // 1_000_000
    number = milliseconds << 80 | 0x7 << 76 | secrets.randbits(12) << 64 | 0b10 << 62 | secrets.randbits(62)
    return str(UUID(int=number))


def identify(*messages: Message) -> None:
    for message in messages:
        message.id = message.id or new_id()


def identify_interaction(request: StoreInteractionRequest) -> None:
    request.interaction_id = request.interaction_id or new_id()


def identify_artifact(request: PutArtifactRequest) -> None:
    """An offloaded message's artifact has an id of its own, always the same."""
    if not request.offload_message_id:
        request.artifact.id = request.artifact.id or new_id()
