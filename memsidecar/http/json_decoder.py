"""JSON to the messages of the proto. Errors name the field, and the cost is linear in the length of the text.

`google.protobuf.json_format` decodes the well-known types. It does not decode the rest, because its errors do not say
which field of the request is wrong, and because it builds everything before limits can be checked.
"""

import base64
import binascii
import json
import math
from collections.abc import Callable, Iterable
from functools import partial
from itertools import pairwise
from typing import Any, NoReturn, TypeVar

from google.protobuf import json_format
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from memsidecar.domain.errors import InvalidField, TooLarge

T = TypeVar("T")

REQUEST = "request"
_WELL_KNOWN = "google.protobuf."
_NON_FINITE = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


class JsonDecoder:
    """Decodes one request. `max_items` bounds the items of all lists and maps together."""

    def __init__(self, max_items: int) -> None:
        self._max_items = max_items
        self._items = 0

    def decode(self, data: bytes, message: Message) -> None:
        """Fill the message from the text. Raises InvalidField or TooLarge."""
        try:
            value = json.loads(data.decode(), object_pairs_hook=_unique, parse_constant=_refuse_constant)
            self._fill(message, value, "")
        except RecursionError:
            raise InvalidField(REQUEST, "is nested too deeply") from None
        except UnicodeDecodeError:
            raise InvalidField(REQUEST, "is not UTF-8") from None
        except json.JSONDecodeError as error:
            problem = f"{error.msg} at line {error.lineno}, column {error.colno}"
            raise InvalidField(REQUEST, f"is not valid JSON: {problem}") from None
        except ValueError:
            # Python does not read numbers of thousands of digits.
            raise InvalidField(REQUEST, "is not valid JSON: a number is too long") from None

    def _fill(self, message: Message, value: object, path: str) -> None:
        if message.DESCRIPTOR.full_name.startswith(_WELL_KNOWN):
            _fill_well_known(message, value, path)
            return
        if not isinstance(value, dict):
            raise InvalidField(path or REQUEST, "must be an object")
        given: set[str] = set()
        for name, item in value.items():
            field = _field(message.DESCRIPTOR, name, path)
            if field.name in given:
                raise InvalidField(f"{path}{'.' if path else ''}{field.name}", "is given twice")
            given.add(field.name)
            self._set(message, field, item, f"{path}.{field.name}" if path else field.name)

    def _set(self, message: Message, field: FieldDescriptor, value: object, path: str) -> None:
        if value is None and not _has_null(field):
            return  # null is the default
        if _is_map(field):
            self._fill_map(getattr(message, field.name), field, value, path)
        elif field.is_repeated:
            self._fill_list(getattr(message, field.name), field, value, path)
        elif field.message_type is not None:
            _check_oneof(message, field, path)
            submessage = getattr(message, field.name)
            submessage.SetInParent()
            self._fill(submessage, value, path)
        else:
            _check_oneof(message, field, path)
            _store(partial(setattr, message, field.name), field, value, path)

    def _fill_list(self, target: Any, field: FieldDescriptor, value: object, path: str) -> None:
        if not isinstance(value, list):
            raise InvalidField(path, "must be a list")
        self._count(len(value))
        for at, item in enumerate(value):
            if item is None and not _has_null(field):
                raise InvalidField(f"{path}[{at}]", "must not be null")
            if field.message_type is not None:
                self._fill(target.add(), item, f"{path}[{at}]")
            else:
                _store(target.append, field, item, f"{path}[{at}]")

    def _fill_map(self, target: Any, field: FieldDescriptor, value: object, path: str) -> None:
        if not isinstance(value, dict):
            raise InvalidField(path, "must be an object")
        self._count(len(value))
        entry: Any = field.message_type
        key_field, value_field = entry.fields_by_name["key"], entry.fields_by_name["value"]
        for name, item in value.items():
            key = _scalar(key_field, _map_key(key_field, name), path)
            if value_field.message_type is not None:
                self._fill(target[key], item, f"{path}.{name}")
            else:
                _store(partial(target.__setitem__, key), value_field, item, f"{path}.{name}")

    def _count(self, items: int) -> None:
        self._items += items
        if self._items > self._max_items:
            raise TooLarge(f"the request has more than {self._max_items} repeated items")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        names = sorted(name for name, _ in pairs)
        twice = next(name for name, following in pairwise(names) if name == following)
        raise InvalidField(_printable(twice), "is given twice")
    return fields


def _refuse_constant(name: str) -> NoReturn:
    raise InvalidField(REQUEST, f"is not valid JSON: {name} must be quoted")


def _field(descriptor: Any, name: str, path: str) -> FieldDescriptor:
    # A name with a lone surrogate cannot be looked up. Fields have ASCII names.
    known = (descriptor.fields_by_name, descriptor.fields_by_camelcase_name) if name.isascii() else ()
    field: FieldDescriptor | None = next((fields[name] for fields in known if name in fields), None)
    if field is None:
        place = f"{path}.{_printable(name)}" if path else _printable(name)
        raise InvalidField(place, f"is not a field of {descriptor.full_name}")
    return field


def _printable(name: str) -> str:
    """Return a name of the client's, for an error: short, and without lone surrogates, which cannot be encoded."""
    return name[:100].encode("utf-8", "replace").decode()


def _is_map(field: FieldDescriptor) -> bool:
    return field.message_type is not None and field.message_type.GetOptions().map_entry


def _has_null(field: FieldDescriptor) -> bool:
    return field.message_type is not None and field.message_type.full_name == "google.protobuf.Value"


def _check_oneof(message: Message, field: FieldDescriptor, path: str) -> None:
    group = field.containing_oneof
    if group is not None and message.WhichOneof(group.name) is not None:
        raise InvalidField(path, f"and {message.WhichOneof(group.name)} exclude each other")


def _fill_well_known(message: Message, value: Any, path: str) -> None:
    try:
        json_format.ParseDict(value, message)
    except (json_format.ParseError, ValueError, TypeError, AttributeError):
        kind = message.DESCRIPTOR.full_name
        raise InvalidField(path or REQUEST, f"is not valid JSON for {kind}") from None


def _map_key(field: FieldDescriptor, name: str) -> object:
    """Return a key of a map as a value of its own: JSON has strings only."""
    return {"true": True, "false": False}.get(name, name) if field.cpp_type == FieldDescriptor.CPPTYPE_BOOL else name


def _store(store: Callable[[Any], None], field: FieldDescriptor, value: object, path: str) -> None:
    try:
        store(_scalar(field, value, path))
    except (ValueError, TypeError):  # out of range, or a string with a lone surrogate
        raise InvalidField(path, f"must be {_KINDS[field.cpp_type][1]}") from None


def _scalar(field: FieldDescriptor, value: object, path: str) -> Any:
    convert, kind = _KINDS[field.cpp_type]
    try:
        return _bytes(value) if field.type == FieldDescriptor.TYPE_BYTES else convert(field, value)
    except (ValueError, OverflowError):
        raise InvalidField(path, f"must be {kind}") from None


def _boolean(_field: FieldDescriptor, value: object) -> bool:
    return _require(value, bool)


def _text(_field: FieldDescriptor, value: object) -> str:
    return _require(value, str)


def _bytes(value: object) -> bytes:
    encoded = _require(value, str).translate({ord("-"): "+", ord("_"): "/"}).rstrip("=")
    try:
        return base64.b64decode(encoded + "=" * (-len(encoded) % 4), validate=True)
    except binascii.Error:
        raise ValueError from None


def _integer(_field: FieldDescriptor, value: object) -> int:
    """Return a whole number. One of 64 bits may be a string, because JSON readers may round it."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, str) and value.strip() == value and "_" not in value:
        return int(value)
    if isinstance(value, bool):
        raise ValueError
    return _require(value, int)


def _number(_field: FieldDescriptor, value: object) -> float:
    if isinstance(value, str):
        return _NON_FINITE[value] if value in _NON_FINITE else _finite(float(value) if "_" not in value else math.nan)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError
    return _finite(float(value))


def _finite(number: float) -> float:
    if not math.isfinite(number):
        raise ValueError
    return number


def _enum(field: FieldDescriptor, value: object) -> int:
    if isinstance(value, str):
        enum_type: Any = field.enum_type
        known = enum_type.values_by_name.get(value)
        if known is None:
            raise ValueError
        return int(known.number)
    return _integer(field, value)


def _require(value: object, kind: type[T]) -> T:
    if not isinstance(value, kind):
        raise ValueError
    return value


def _kinds(types: Iterable[int], convert: Callable[[FieldDescriptor, object], Any], words: str) -> dict[int, Any]:
    return dict.fromkeys(types, (convert, words))


_KINDS: dict[int, tuple[Callable[[FieldDescriptor, object], Any], str]] = {
    **_kinds((FieldDescriptor.CPPTYPE_INT32, FieldDescriptor.CPPTYPE_INT64), _integer, "a whole number in range"),
    **_kinds((FieldDescriptor.CPPTYPE_UINT32, FieldDescriptor.CPPTYPE_UINT64), _integer, "a whole number in range"),
    **_kinds((FieldDescriptor.CPPTYPE_DOUBLE, FieldDescriptor.CPPTYPE_FLOAT), _number, "a number in range"),
    FieldDescriptor.CPPTYPE_BOOL: (_boolean, "true or false"),
    FieldDescriptor.CPPTYPE_ENUM: (_enum, "the name of a value, or its number"),
    FieldDescriptor.CPPTYPE_STRING: (_text, "a string of valid Unicode, or base64 for bytes"),
}
