"""Values at and beyond the borders of what a field may hold."""

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
class Wrong:
    """A value that is refused. `at` is what the refusal adds to the field's path; `field` replaces the path."""

    label: str
    value: Any
    at: str = ""
    field: str | None = None
    code: grpc.StatusCode = grpc.StatusCode.INVALID_ARGUMENT
    reason: str = "INVALID_FIELD"
    given: dict[str, Any] = dataclasses.field(default_factory=dict)


@dataclass(frozen=True)
class Right:
    """A value that is accepted; `given` is what the rest of the request must be for that."""

    label: str
    value: Any
    given: dict[str, Any] = dataclasses.field(default_factory=dict)


@dataclass(frozen=True)
class Field:
    wrong: tuple[Wrong, ...] = ()
    right: tuple[Right, ...] = ()

    def __add__(self, more: "Field") -> "Field":
        return Field(self.wrong + more.wrong, self.right + more.right)


def too_large(label: str, value: Any, **given: Any) -> Wrong:
    return Wrong(label, value, "", "", grpc.StatusCode.RESOURCE_EXHAUSTED, "TOO_LARGE", given)


def rights(*values: Any, given: dict[str, Any] | None = None) -> Field:
    return Field(right=tuple(Right(repr(value)[:24], value, given or {}) for value in values))


def wrongs(*values: Any, given: dict[str, Any] | None = None) -> Field:
    return Field(wrong=tuple(Wrong(repr(value)[:24], value, given=given or {}) for value in values))


ID = Field(
    (
        Wrong("257 bytes", "x" * 257),
        Wrong("257 bytes of two-byte letters", "é" * 128 + "x"),
        Wrong("258 bytes at the border", "x" * 255 + "語"),
        Wrong("a line break", "a\nb"),
        Wrong("a line break at the end", "a\n"),
        Wrong("NUL", "a\0b"),
        Wrong("nothing but NUL", "\0"),
        Wrong("DEL", "a\x7f"),
        Wrong("C1 next line", "a\x85"),
        Wrong("C1 control sequence", "\x9bm"),
    ),
    (
        Right("256 bytes", "x" * 256),
        Right("256 bytes of two-byte letters", "é" * 128),
        Right("256 bytes of four-byte letters", "\U0001f600" * 64),
        Right("a space", " "),
        Right("what other languages would read", "'; -- %s {0} ../\\ \"`$x`"),
        Right("the first letter past C1", "\xa0"),
        Right("a line separator, which is no control character", "a\u2028b"),
    ),
)
OPTIONAL_ID = ID + rights("")
REQUIRED_ID = ID + wrongs("")
ANY_TEXT = rights("", "plain", "a\nb\0\x85", "\U0001f600" * 100)
ANY_BOOL = rights(False, True)
LIMIT = wrongs(-1, MIN_INT32) + rights(0, 1, 1_000, 1_001, MAX_INT32)
ROLE = wrongs(0, 5, 99, -1, MAX_INT32, MIN_INT32)
SCORE = wrongs(-0.001, 10.001, -1e308, 1e308, INFINITY, -INFINITY, NAN) + rights(0.0, -0.0, 10.0, 5e-324, None)
TIME = Field(
    (
        Wrong("before year 1", Timestamp(seconds=-62_135_596_801)),
        Wrong("after year 9999", Timestamp(seconds=253_402_300_800)),
        Wrong("the least number", Timestamp(seconds=MIN_INT64)),
        Wrong("the greatest number", Timestamp(seconds=2**63 - 1)),
        Wrong("negative nanos", Timestamp(nanos=-1)),
        Wrong("a second of nanos", Timestamp(nanos=1_000_000_000)),
    ),
    (
        Right("the first moment", Timestamp(seconds=-62_135_596_800)),
        Right("the last moment", Timestamp(seconds=253_402_300_799, nanos=999_999_999)),
        Right("1970", Timestamp()),
        Right("absent", None),
    ),
)
VECTOR = Field(
    (
        *(Wrong(str(one), [0.5] * (DIMENSIONS - 1) + [one]) for one in (NAN, INFINITY, -INFINITY)),
        *(Wrong(f"{count} dimensions", [0.5] * count) for count in (1, DIMENSIONS - 1, DIMENSIONS + 1, 8_192)),
    ),
    (
        Right(f"{DIMENSIONS} dimensions", [0.5] * DIMENSIONS),
        Right("no direction", [0.0] * DIMENSIONS),
        Right("the greatest numbers", [3.4028234e38] * DIMENSIONS),
        Right("none", []),
    ),
)
PAGE_TOKEN = wrongs("x", "====", "not a token", "é", "\0", "AAAA", "A" * 5, "W10", "A" * 100_000) + rights("")


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
    """A struct that is so many levels deep."""
    made = tags(a="x")
    for _ in range(levels - 1):
        made = tags(a=Value(struct_value=made))
    return made


def listed(levels: int) -> Struct:
    """The same with lists inside one struct."""
    value = Value(string_value="x")
    for _ in range(levels - 1):
        value = Value(list_value=ListValue(values=[value]))
    return tags(a=value)


METADATA = Field(
    (
        Wrong("one byte too large", metadata_of_bytes(METADATA_BYTES + 1)),
        Wrong("nine levels", nested(9)),
        Wrong("nine levels of lists", listed(9)),
        Wrong("twenty levels", nested(20)),
        Wrong("NaN", tags(a=Value(number_value=NAN))),
        Wrong("infinity in a list", tags(a=Value(list_value=ListValue(values=[Value(number_value=INFINITY)])))),
        Wrong("no value", tags(a=Value())),
    ),
    (
        Right("16 KiB", metadata_of_bytes(METADATA_BYTES)),
        Right("eight levels", nested(8)),
        Right("eight levels of lists", listed(8)),
        Right("the greatest number", tags(a=Value(number_value=1.7976931348623157e308))),
        Right("an odd key", tags(**{"": "x", "a\n\0": "x"})),
        Right("empty", Struct()),
    ),
)
FILTER = rights(Struct(), tags(a="x"), nested(8), None)
