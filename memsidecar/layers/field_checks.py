"""Check_time, check_score, check_metadata, MAX_RESPONSE_BYTES."""

import math
from collections.abc import Iterable

from google.protobuf.struct_pb2 import Struct, Value

from memsidecar.domain.errors import InvalidField

MAX_METADATA_BYTES = 16 * 1024
MAX_METADATA_DEPTH = 8


def check_metadata(field: str, metadata: Struct) -> None:
    """Errors name the field and no key in it: keys are the caller's own words, and errors are logged."""
    if metadata.ByteSize() > MAX_METADATA_BYTES:
        raise InvalidField(field, f"is larger than {MAX_METADATA_BYTES} bytes")
    _check_all(field, metadata.fields.values(), 1)


def _check_value(field: str, value: Value, depth: int) -> None:
    match value.WhichOneof("kind"):
        case None:
            raise InvalidField(field, "has a key without a value")
        case "number_value" if not math.isfinite(value.number_value):
            raise InvalidField(field, "holds a number that is not finite")
        case "struct_value":
            _check_all(field, value.struct_value.fields.values(), depth + 1)
        case "list_value":
            _check_all(field, value.list_value.values, depth + 1)


def _check_all(field: str, values: Iterable[Value], depth: int) -> None:
    if depth > MAX_METADATA_DEPTH:
        raise InvalidField(field, f"is nested deeper than {MAX_METADATA_DEPTH} levels")
    for value in values:
        _check_value(field, value, depth)


def is_important(metadata: Struct) -> bool:
    """Tagged `important: true` (or any other truth), or with "important" in its list of `tags`."""
    fields = metadata.fields
    if "important" in fields and _is_true(fields["important"]):
        return True
    return "tags" in fields and any(tag.string_value == "important" for tag in fields["tags"].list_value.values)


def _is_true(value: Value) -> bool:
    match value.WhichOneof("kind"):
        case "bool_value":
            return bool(value.bool_value)
        case "number_value":
            return bool(value.number_value)
        case "string_value":
            return value.string_value.casefold() not in ("", "false", "no", "0")
    return False


def merge_metadata(metadata: Struct, changes: Struct) -> None:
    """Take the changes in; a null removes its key."""
    for key, value in changes.fields.items():
        if value.WhichOneof("kind") == "null_value":
            metadata.fields.pop(key, None)
        else:
            metadata.fields[key].CopyFrom(value)


def matches_metadata(metadata: Struct, wanted: Struct) -> bool:
    """Whether every wanted key is there with an equal value."""
    return all(key in metadata.fields and metadata.fields[key] == value for key, value in wanted.fields.items())
