"""Requests with a canary in every text field: valid ones, and ones with an invalid field."""

from collections.abc import Iterator
from typing import Any

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message as Proto
from google.protobuf.message_factory import GetMessageClass
from google.protobuf.struct_pb2 import Struct, Value

from memsidecar.v1.message_pb2 import ROLE_USER, Message
from tests.bad_input.field_table import TABLE
from tests.bad_input.rpcs import METHODS, set_field, valid_request
from tests.support.canaries import CANARY

TEXTS = (CANARY, f"{CANARY}\n", CANARY * 30)


def canary_requests(name: str) -> Iterator[list[bytes]]:
    """Yield lists of requests: a stream sends a whole list, a call sends its first."""
    for text in TEXTS:
        yield [filled(GetMessageClass(METHODS[name].input_type)(), text).SerializeToString()]
    yield [CANARY.encode()]
    yield from (_good(name, *variant) for variant in _variants(name))
    if name == "AddStream":
        yield [_message(f"{CANARY}-{number}", "first") for number in range(5)]
        yield [_message(f"{CANARY}-{number}", "second") for number in range(5)]


def filled(message: Any, text: str, levels: int = 4) -> Proto:
    """Return the message with the text in every string field."""
    for field in message.DESCRIPTOR.fields:
        if field.type == FieldDescriptor.TYPE_STRING:
            _set(message, field, text)
        elif field.message_type is not None and levels and not field.message_type.GetOptions().map_entry:
            _fill_inside(message, field, text, levels - 1)
    return message  # type: ignore[no-any-return]


def _set(message: Any, field: FieldDescriptor, text: str) -> None:
    if field.is_repeated:
        getattr(message, field.name).append(text)
    else:
        setattr(message, field.name, text)


def _fill_inside(message: Any, field: FieldDescriptor, text: str, levels: int) -> None:
    inner = getattr(message, field.name)
    if field.message_type is not None and field.message_type.full_name == "google.protobuf.Struct":
        inner.CopyFrom(tagged(text))
    else:
        filled(inner.add() if field.is_repeated else inner, text, levels)


def tagged(text: str, number: float = 1.0) -> Struct:
    return Struct(fields={text: Value(string_value=text), f"{text}-number": Value(number_value=number)})


def _variants(name: str) -> Iterator[tuple[str, Any]]:
    """Yield field paths and values: the canary, an invalid one, and invalid metadata under a key with the canary."""
    for path, field in TABLE[name].items():
        texts = [row.value for row in field.valid if isinstance(row.value, str)]
        if texts:
            yield from ((path, text) for text in TEXTS)
        if path.endswith(("metadata", "metadata_filter")):
            yield from ((path, tagged(CANARY, number)) for number in (1.0, float("nan")))
    yield "namespace", CANARY


def _good(name: str, path: str, value: Any) -> list[bytes]:
    request = valid_request(name, CANARY)
    set_field(request, path, value)
    return [request.SerializeToString()]


def _message(message_id: str, content: str) -> bytes:
    request = valid_request("AddStream", CANARY)
    set_field(request, "message", Message(id=message_id, role=ROLE_USER, content=content))
    return request.SerializeToString()
