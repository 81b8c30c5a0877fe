"""Prepared requests: each Add has its own id and 400 characters of ordinary English."""

import random
import uuid
from collections.abc import Iterable, Iterator
from pathlib import Path

from memsidecar.domain.message import varint
from memsidecar.v1 import memory_pb2 as pb
from memsidecar.v1.message_pb2 import ROLE_USER, Message, Role

MESSAGE_CHARACTERS = 400
ENGLISH = (
    "the customer asked whether invoice number forty two was paid last week because the reminder that arrived on"
    " Tuesday still shows an open amount and our support agent promised to check the payment in the ledger before"
    " calling back with an answer about the refund, the delivery date, and the warranty of the second device"
)
WORDS = ENGLISH.split()
TEXT = " ".join(WORDS * 3)


def text(source: random.Random) -> str:
    return " ".join(source.choices(WORDS, k=100))[:MESSAGE_CHARACTERS]


def message(source: random.Random, role: Role = ROLE_USER) -> Message:
    return Message(id=str(uuid.UUID(int=source.getrandbits(128))), role=role, content=text(source))


def adds(count: int, sessions: list[str], seed: int, role: Role = ROLE_USER) -> Iterator[bytes]:
    source = random.Random(seed)
    for n in range(count):
        yield pb.AddRequest(session_id=sessions[n % len(sessions)], message=message(source, role)).SerializeToString()


def batches(count: int, size: int, sessions: list[str], seed: int) -> Iterator[bytes]:
    source = random.Random(seed)
    for n in range(count):
        request = pb.AddBatchRequest(session_id=sessions[n % len(sessions)])
        request.messages.extend(message(source) for _ in range(size))
        yield request.SerializeToString()


def write(path: Path, requests: Iterable[bytes]) -> Path:
    """Write each request with a length prefix, the format of the load generator."""
    with path.open("wb") as file:
        for request in requests:
            file.write(varint(len(request)) + request)
    return path
