"""Checks of request fields that several layers share, and the bound on a response."""

import math
from collections.abc import Iterable

from google.protobuf.struct_pb2 import Struct, Value
from google.protobuf.timestamp_pb2 import Timestamp

from memsidecar.domain.errors import InvalidField

MAX_RESPONSE_BYTES = 3 << 20
"""Bound on the messages of a response. gRPC's default limit is 4 MiB; the rest is for the other fields."""

MAX_METADATA_BYTES = 16 * 1024
MAX_METADATA_DEPTH = 8
MAX_SCORE = 10.0
MICROSECONDS = 1_000_000

# 0001-01-01 to 9999-12-31: the range of a Timestamp.
_MIN_SECONDS, _MAX_SECONDS = -62_135_596_800, 253_402_300_799
_MAX_NANOS = 999_999_999


def check_time(field: str, stamp: Timestamp) -> int:
    """Return the time in microseconds since 1970; raise InvalidField if it is out of range."""
    if not _MIN_SECONDS <= stamp.seconds <= _MAX_SECONDS or not 0 <= stamp.nanos <= _MAX_NANOS:
        raise InvalidField(field, "is not a valid time between year 1 and year 9999")
    return stamp.seconds * MICROSECONDS + stamp.nanos // 1000


def check_score(field: str, score: float) -> None:
    if not 0 <= score <= MAX_SCORE:  # NaN fails this, too
        raise InvalidField(field, "must be between 0 and 10")


def check_metadata(field: str, metadata: Struct) -> None:
    """Raise InvalidField if the metadata is too large, too deep or has an invalid value.

    The error names the field and never a key: keys are the client's data, and errors are logged.
    """
    if metadata.ByteSize() > MAX_METADATA_BYTES:
        raise InvalidField(field, f"is larger than {MAX_METADATA_BYTES} bytes")
    _check_values(field, metadata.fields.values(), 1)


def _check_value(field: str, value: Value, depth: int) -> None:
    match value.WhichOneof("kind"):
        case None:
            raise InvalidField(field, "has a key without a value")
        case "number_value" if not math.isfinite(value.number_value):
            raise InvalidField(field, "holds a number that is not finite")
        case "struct_value":
            _check_values(field, value.struct_value.fields.values(), depth + 1)
        case "list_value":
            _check_values(field, value.list_value.values, depth + 1)


def _check_values(field: str, values: Iterable[Value], depth: int) -> None:
    if depth > MAX_METADATA_DEPTH:
        raise InvalidField(field, f"is nested deeper than {MAX_METADATA_DEPTH} levels")
    for value in values:
        _check_value(field, value, depth)


def is_important(metadata: Struct) -> bool:
    """Whether the metadata has a true `important`, or "important" in its list of `tags`."""
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
    """Apply the changes in place. A null value removes its key."""
    for key, value in changes.fields.items():
        if value.WhichOneof("kind") == "null_value":
            metadata.fields.pop(key, None)
        else:
            metadata.fields[key].CopyFrom(value)


def matches_metadata(metadata: Struct, wanted: Struct) -> bool:
    """Whether the metadata has every wanted key with an equal value."""
    return all(key in metadata.fields and metadata.fields[key] == value for key, value in wanted.fields.items())
