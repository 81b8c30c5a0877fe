"""Conversion of requests and responses: JSON in scenarios, base64 bytes for drivers, plain values for comparison."""

from base64 import b64decode, b64encode
from typing import Any

from google.protobuf import json_format
from google.protobuf.descriptor import MethodDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from memsidecar.v1 import knowledge_pb2, memory_pb2, session_pb2

SERVICES = (
    memory_pb2.DESCRIPTOR.services_by_name["MemoryService"],
    session_pb2.DESCRIPTOR.services_by_name["SessionService"],
    knowledge_pb2.DESCRIPTOR.services_by_name["KnowledgeService"],
)
METHODS: dict[str, MethodDescriptor] = {method.name: method for service in SERVICES for method in service.methods}


def encode_request(rpc: str, given: Any) -> str:
    request = json_format.ParseDict(given, GetMessageClass(METHODS[rpc].input_type)())
    return b64encode(request.SerializeToString()).decode()


def decode_response(rpc: str, packed: str) -> Any:
    return _plain(GetMessageClass(METHODS[rpc].output_type).FromString(b64decode(packed)))


def decode_item(rpc: str, packed: str) -> Any:
    """Decode one item of a page. Its type is that of the response's first repeated message field."""
    fields = METHODS[rpc].output_type.fields
    item = next(field.message_type for field in fields if field.message_type and field.is_repeated)
    return _plain(GetMessageClass(item).FromString(b64decode(packed)))


def _plain(message: Message) -> Any:
    """Return all fields by name, numbers as numbers, enums by name. Unset fields with presence are left out."""
    if message.DESCRIPTOR.full_name.startswith("google.protobuf."):
        return json_format.MessageToDict(message)
    return {
        field.name: _value(message, field)
        for field in message.DESCRIPTOR.fields
        if not field.has_presence or message.HasField(field.name)
    }


def _value(message: Message, field: Any) -> Any:
    value = getattr(message, field.name)
    if field.message_type is not None and field.message_type.GetOptions().map_entry:
        return dict(value)
    if field.is_repeated:
        return [_single(item, field) for item in value]
    return _single(value, field)


def _single(value: Any, field: Any) -> Any:
    if field.enum_type is not None:
        known = field.enum_type.values_by_number.get(value)
        return known.name if known else value
    return _plain(value) if field.message_type is not None else value
