"""Finds a client's method and keywords by an RPC's name and the bytes of its request."""

import re
from dataclasses import dataclass
from typing import Any

from google.protobuf.descriptor import MethodDescriptor
from google.protobuf.json_format import MessageToDict
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from memsidecar_client.v1 import knowledge_pb2, memory_pb2, session_pb2

# Calls that take the fields of the one thing they are about.
THINGS = {"Add": "message", "PutArtifact": "artifact", "PutDocument": "document"}
OUTPUT_ONLY = {"sequence", "tokens", "synthetic", "message_id", "chunk_count", "sha256"}


@dataclass(frozen=True)
class Method:
    descriptor: MethodDescriptor

    @property
    def name(self) -> str:
        found = re.sub(r"(?<!^)(?=[A-Z])", "_", self.descriptor.name).lower()
        return found + "_" if found == "import" else found

    @property
    def pages(self) -> str:
        repeated = [field for field in self.descriptor.output_type.fields if field.is_repeated and field.message_type]
        return f"iter_{repeated[0].name}"

    @property
    def sends_many(self) -> bool:
        return bool(self.descriptor.client_streaming)


METHODS = {
    method.name: Method(method)
    for file, service in (
        (memory_pb2, "MemoryService"),
        (session_pb2, "SessionService"),
        (knowledge_pb2, "KnowledgeService"),
    )
    for method in file.DESCRIPTOR.services_by_name[service].methods
}


def request_of(rpc: str, packed: bytes) -> Any:
    return GetMessageClass(METHODS[rpc].descriptor.input_type).FromString(packed)


def keywords_of(rpc: str, packed: bytes) -> dict[str, Any]:
    """Return keywords as a caller writes them, empty fields included, because some of them are required."""
    keywords = _fields(request_of(rpc, packed))
    thing = THINGS.get(rpc)
    if thing is None:
        return keywords
    inside = _fields(keywords.pop(thing, None) or getattr(request_of(rpc, packed), thing))
    inside[f"{thing}_id"] = inside.pop("id")
    return keywords | {
        name: value for name, value in inside.items() if name not in OUTPUT_ONLY or name == f"{thing}_id"
    }


def _fields(message: Message) -> dict[str, Any]:
    return {
        field.name: _value(message, field)
        for field in message.DESCRIPTOR.fields
        if not field.has_presence or message.HasField(field.name)
    }


def _value(message: Message, field: Any) -> Any:
    value = getattr(message, field.name)
    if field.is_repeated:
        return list(value)
    if field.message_type is not None and field.message_type.full_name == "google.protobuf.Struct":
        return MessageToDict(value)
    return value
