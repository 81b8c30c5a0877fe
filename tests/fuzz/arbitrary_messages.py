"""Messages with arbitrary values in arbitrary fields. They are valid protobuf, so they reach the checks of fields."""

import math
from collections.abc import Sequence
from random import Random
from typing import Any, TypeVar

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message as Proto

from tests.hostile.texts import UNITS

M = TypeVar("M", bound=Proto)

IDS = ("known", "s1", "s2", "u1", "", "\U0001f600" * 64, "x" * 257, "\0", "a/b", "\u202e")
TEXTS = ("", "hello", "My name is Ada.", "x" * 300, "null", '{"a": [1]}', "\U0001f600", "\ufdfa" * 30, *UNITS)
NUMBERS = (0, 1, 2, 3, 7, 50, 1_000, 100_000)
EDGES = (-1, 2**31 - 1, -(2**31), 2**32 - 1, 2**63 - 1, -(2**63), 2**64 - 1, 253_402_300_799, 253_402_300_800)
FLOATS = (0.0, 1.0, 0.5, 5.0, -1.0, 1e-45, 3.4e38, math.nan, math.inf, -math.inf)
LENGTHS = (0, 1, 1, 2, 3, 20)
VECTOR_LENGTHS = (1, 255, 256, 257)
MAX_DEPTH = 5
_RANGES = {
    FieldDescriptor.CPPTYPE_INT32: (-(2**31), 2**31 - 1),
    FieldDescriptor.CPPTYPE_INT64: (-(2**63), 2**63 - 1),
    FieldDescriptor.CPPTYPE_UINT32: (0, 2**32 - 1),
    FieldDescriptor.CPPTYPE_UINT64: (0, 2**64 - 1),
}


def arbitrary_message(message_class: type[M], random: Random) -> M:
    message = message_class()
    _fill(message, random, 0)
    return message


def _fill(message: Any, random: Random, depth: int) -> None:
    for field in message.DESCRIPTOR.fields:
        if random.random() < 0.4:
            continue
        if field.message_type is not None and depth >= MAX_DEPTH:
            continue
        if field.message_type is not None and field.message_type.GetOptions().map_entry:
            _fill_map(getattr(message, field.name), field, random, depth)
        elif field.is_repeated:
            _fill_list(getattr(message, field.name), field, random, depth)
        elif field.message_type is not None:
            getattr(message, field.name).SetInParent()
            _fill(getattr(message, field.name), random, depth + 1)
        else:
            setattr(message, field.name, _scalar(field, random))


def _fill_map(entries: Any, field: Any, random: Random, depth: int) -> None:
    key, value = field.message_type.fields_by_name["key"], field.message_type.fields_by_name["value"]
    for _ in range(random.choice(LENGTHS)):
        name = _scalar(key, random)
        if value.message_type is None:
            entries[name] = _scalar(value, random)
        else:
            _fill(entries[name], random, depth + 1)


def _fill_list(items: Any, field: FieldDescriptor, random: Random, depth: int) -> None:
    is_vector = field.cpp_type == FieldDescriptor.CPPTYPE_FLOAT
    for _ in range(random.choice(VECTOR_LENGTHS if is_vector and random.random() < 0.5 else LENGTHS)):
        if field.message_type is None:
            items.append(_scalar(field, random))
        else:
            _fill(items.add(), random, depth + 1)


def _scalar(field: Any, random: Random) -> Any:
    kind = field.cpp_type
    if kind == FieldDescriptor.CPPTYPE_STRING:
        return _text(field, random)
    if kind in _RANGES:
        low, high = _RANGES[kind]
        return min(max(_choose(random, NUMBERS, EDGES), low), high)
    if kind == FieldDescriptor.CPPTYPE_ENUM:
        return random.choice((*(value.number for value in field.enum_type.values), 99, -1, 2**31 - 1))
    if kind == FieldDescriptor.CPPTYPE_BOOL:
        return random.random() < 0.5
    return random.choice(FLOATS)


def _choose(random: Random, usual: Sequence[Any], rare: Sequence[Any]) -> Any:
    return random.choice(usual if random.random() < 0.7 else rare)


def _text(field: FieldDescriptor, random: Random) -> Any:
    if field.type == FieldDescriptor.TYPE_BYTES:
        return random.randbytes(random.choice(LENGTHS))
    if field.name.endswith("id") or field.name in {"namespace", "model"}:
        return _choose(random, IDS[:4], IDS)
    return random.choice(TEXTS) * random.choice((1, 1, 1, 3, 200))
