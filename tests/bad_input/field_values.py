"""Valid and invalid values of fields, at and beyond their limits."""

import dataclasses
import math
from dataclasses import dataclass
from typing import Any

import grpc
from google.protobuf.struct_pb2 import ListValue, Struct, Value
from google.protobuf.timestamp_pb2 import Timestamp

MAX_INT32, MIN_INT32 = 2**31 - 1, -(2**31)
MIN_INT64 = -(2**63)
NAN, INFINITY = math.nan, math.inf
MIB = 1 << 20
METADATA_BYTES = 16 * 1024
DIMENSIONS = 256


@dataclass(frozen=True)
class Invalid:
    """A value that is refused. The error names the path of the field with `at` appended, or `field`."""

    label: str
    value: Any
    at: str = ""
    field: str | None = None
    code: grpc.StatusCode = grpc.StatusCode.INVALID_ARGUMENT
    reason: str = "INVALID_FIELD"
    given: dict[str, Any] = dataclasses.field(default_factory=dict)


@dataclass(frozen=True)
class Valid:
    """A value that is accepted, in a request with the fields of `given`."""

    label: str
    value: Any
    given: dict[str, Any] = dataclasses.field(default_factory=dict)


@dataclass(frozen=True)
class Field:
    invalid: tuple[Invalid, ...] = ()
    valid: tuple[Valid, ...] = ()

    def __add__(self, more: "Field") -> "Field":
        return Field(self.invalid + more.invalid, self.valid + more.valid)


def too_large(label: str, value: Any, **given: Any) -> Invalid:
    return Invalid(label, value, "", "", grpc.StatusCode.RESOURCE_EXHAUSTED, "TOO_LARGE", given)


def valid(*values: Any, given: dict[str, Any] | None = None) -> Field:
    return Field(valid=tuple(Valid(repr(value)[:24], value, given or {}) for value in values))


def invalid(*values: Any, given: dict[str, Any] | None = None) -> Field:
    return Field(invalid=tuple(Invalid(repr(value)[:24], value, given=given or {}) for value in values))


ID = Field(
    (
        Invalid("257 bytes", "x" * 257),
        Invalid("257 bytes of two-byte letters", "é" * 128 + "x"),
        Invalid("258 bytes at the border", "x" * 255 + "語"),
        Invalid("a line break", "a\nb"),
        Invalid("a line break at the end", "a\n"),
        Invalid("NUL", "a\0b"),
        Invalid("only NUL", "\0"),
        Invalid("DEL", "a\x7f"),
        Invalid("C1 next line", "a\x85"),
        Invalid("C1 control sequence", "\x9bm"),
    ),
    (
        Valid("256 bytes", "x" * 256),
        Valid("256 bytes of two-byte letters", "é" * 128),
        Valid("256 bytes of four-byte letters", "\U0001f600" * 64),
        Valid("a space", " "),
        Valid("syntax of other languages", "'; -- %s {0} ../\\ \"`$x`"),
        Valid("the first character after C1", "\xa0"),
        Valid("a line separator, which is no control character", "a\u2028b"),
    ),
)
OPTIONAL_ID = ID + valid("")
REQUIRED_ID = ID + invalid("")
ANY_TEXT = valid("", "plain", "a\nb\0\x85", "\U0001f600" * 100)
ANY_BOOL = valid(False, True)
LIMIT = invalid(-1, MIN_INT32) + valid(0, 1, 1_000, 1_001, MAX_INT32)
ROLE = invalid(0, 5, 99, -1, MAX_INT32, MIN_INT32)
SCORE = invalid(-0.001, 10.001, -1e308, 1e308, INFINITY, -INFINITY, NAN) + valid(0.0, -0.0, 10.0, 5e-324, None)
TIME = Field(
    (
        Invalid("before year 1", Timestamp(seconds=-62_135_596_801)),
        Invalid("after year 9999", Timestamp(seconds=253_402_300_800)),
        Invalid("the least number", Timestamp(seconds=MIN_INT64)),
        Invalid("the greatest number", Timestamp(seconds=2**63 - 1)),
        Invalid("negative nanos", Timestamp(nanos=-1)),
        Invalid("a second of nanos", Timestamp(nanos=1_000_000_000)),
    ),
    (
        Valid("the earliest time", Timestamp(seconds=-62_135_596_800)),
        Valid("the latest time", Timestamp(seconds=253_402_300_799, nanos=999_999_999)),
        Valid("1970", Timestamp()),
        Valid("absent", None),
    ),
)
VECTOR = Field(
    (
        *(Invalid(str(number), [0.5] * (DIMENSIONS - 1) + [number]) for number in (NAN, INFINITY, -INFINITY)),
        *(Invalid(f"{count} dimensions", [0.5] * count) for count in (1, DIMENSIONS - 1, DIMENSIONS + 1, 8_192)),
    ),
    (
        Valid(f"{DIMENSIONS} dimensions", [0.5] * DIMENSIONS),
        Valid("no direction", [0.0] * DIMENSIONS),
        Valid("the greatest numbers", [3.4028234e38] * DIMENSIONS),
        Valid("none", []),
    ),
)
PAGE_TOKEN = invalid("x", "====", "not a token", "é", "\0", "AAAA", "A" * 5, "W10", "A" * 100_000) + valid("")


def tags(**values: Any) -> Struct:
    made = Struct()
    for key, value in values.items():
        made.fields[key].CopyFrom(value if isinstance(value, Value) else Value(string_value=value))
    return made


def metadata_of_bytes(size: int) -> Struct:
    made = tags(a="x" * (size - 40))
    made.fields["a"].string_value += "x" * (size - made.ByteSize())
    assert made.ByteSize() == size
    return made


def nested(levels: int) -> Struct:
    """Return a struct of this many levels."""
    made = tags(a="x")
    for _ in range(levels - 1):
        made = tags(a=Value(struct_value=made))
    return made


def listed(levels: int) -> Struct:
    """Return a struct with lists of this many levels."""
    value = Value(string_value="x")
    for _ in range(levels - 1):
        value = Value(list_value=ListValue(values=[value]))
    return tags(a=value)


METADATA = Field(
    (
        Invalid("one byte too large", metadata_of_bytes(METADATA_BYTES + 1)),
        Invalid("nine levels", nested(9)),
        Invalid("nine levels of lists", listed(9)),
        Invalid("twenty levels", nested(20)),
        Invalid("NaN", tags(a=Value(number_value=NAN))),
        Invalid("infinity in a list", tags(a=Value(list_value=ListValue(values=[Value(number_value=INFINITY)])))),
        Invalid("no value", tags(a=Value())),
    ),
    (
        Valid("16 KiB", metadata_of_bytes(METADATA_BYTES)),
        Valid("eight levels", nested(8)),
        Valid("eight levels of lists", listed(8)),
        Valid("the greatest number", tags(a=Value(number_value=1.7976931348623157e308))),
        Valid("an odd key", tags(**{"": "x", "a\n\0": "x"})),
        Valid("empty", Struct()),
    ),
)
FILTER = valid(Struct(), tags(a="x"), nested(8), None)
