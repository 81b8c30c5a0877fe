"""Requests out of keywords and dicts: enumerations by name at any depth, and errors that say where something is wrong.

What has no such field or is of another type is a TypeError, a value that cannot be is a ValueError. Both begin with the
path, as in "messages[1].role".
"""

from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Iterator, Mapping
from datetime import datetime
from functools import cache, partial
from types import MappingProxyType
from typing import Any, TypeVar

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message as Proto
from google.protobuf.message_factory import GetMessageClass

from memsidecar_client._enums import value_of

Built = TypeVar("Built", bound=Proto)
Conversion = Callable[[Any, str], Any]

_BY_THEIR_NAMES: Mapping[str, str] = MappingProxyType({})
_REFUSALS = (TypeError, ValueError, OverflowError, AttributeError)
_LISTS = (list, tuple)
_NO_LISTS = (str, bytes, Mapping)
_SCALARS = {
    FieldDescriptor.CPPTYPE_STRING: "str",
    FieldDescriptor.CPPTYPE_BOOL: "bool",
    FieldDescriptor.CPPTYPE_INT32: "int",
    FieldDescriptor.CPPTYPE_INT64: "int",
    FieldDescriptor.CPPTYPE_DOUBLE: "float",
    FieldDescriptor.CPPTYPE_FLOAT: "float",
}


def built(kind: type[Built], called: Mapping[str, str] = _BY_THEIR_NAMES, /, **given: Any) -> Built:
    """Build a message from keywords. `called` maps fields to the caller's names. None is omitted."""
    return _built(kind, given, "", called)


def each_of(kind: type[Proto], requests: Iterable[Any]) -> Iterator[Any]:
    """Convert requests one by one. Raises TypeError at once if they are not iterable."""
    source = _iterator(requests)
    return (_message(kind, request, f"requests[{number}]") for number, request in enumerate(source))


def each_of_async(kind: type[Proto], requests: Iterable[Any] | AsyncIterable[Any]) -> AsyncIterator[Any]:
    """See each_of."""
    return _each_of_async(kind, requests if isinstance(requests, AsyncIterable) else _iterator(requests))


async def _each_of_async(kind: type[Proto], requests: Iterator[Any] | AsyncIterable[Any]) -> AsyncIterator[Any]:
    number = 0
    async for request in _source(requests):
        yield _message(kind, request, f"requests[{number}]")
        number += 1


async def _source(requests: Iterator[Any] | AsyncIterable[Any]) -> AsyncIterator[Any]:
    if isinstance(requests, AsyncIterable):
        async for request in requests:
            yield request
    else:
        for request in requests:
            yield request


def _iterator(requests: Any) -> Iterator[Any]:
    try:
        return iter(requests)
    except TypeError as error:
        raise _wanted("requests", "an iterable", requests) from error


def _built(kind: type[Built], given: Mapping[str, Any], within: str, called: Mapping[str, str]) -> Built:
    conversions, fields = _conversions_of(kind.DESCRIPTOR), dict[str, Any]()
    for name, value in given.items():
        if name not in conversions:
            raise TypeError(f"{within}{name}: {kind.__name__} has no such field; it has {', '.join(conversions)}")
        convert = conversions[name]
        if convert is not None and value is not None:
            fields[name] = convert(value, f"{within}{called.get(name, name)}")
        else:
            fields[name] = value
    try:
        return kind(**fields)
    except _REFUSALS:
        _tell_which(kind, fields, within, called)
        raise


@cache
def _conversions_of(kind: Any) -> dict[str, Conversion | None]:
    """Return the cached conversions by field; None if protobuf accepts the value unchanged."""
    return {field.name: _conversion(field) for field in kind.fields}


def _conversion(field: Any) -> Conversion | None:
    if field.message_type is not None and field.message_type.GetOptions().map_entry:
        return None
    convert = _item_conversion(field)
    return partial(_many, convert) if field.is_repeated else convert


def _item_conversion(field: Any) -> Conversion | None:
    if field.enum_type is not None:
        return partial(value_of, field.enum_type)
    if field.message_type is None:
        return None
    well_known = {"google.protobuf.Timestamp": _moment, "google.protobuf.Struct": _tags}
    return well_known.get(field.message_type.full_name) or partial(_message, GetMessageClass(field.message_type))


def _many(convert: Conversion | None, given: Any, path: str) -> Any:
    """Convert a list. Reject a text, which Python would take for a list of letters."""
    if not isinstance(given, _LISTS) and (isinstance(given, _NO_LISTS) or not isinstance(given, Iterable)):
        raise _wanted(path, "list", given)
    if convert is not None:
        return [convert(value, f"{path}[{index}]") for index, value in enumerate(given)]
    # What can be gone through once would be used up when _tell_which looks for what is wrong.
    return given if isinstance(given, _LISTS) else list(given)


def _message(kind: type[Proto], given: Any, path: str) -> Any:
    if isinstance(given, Mapping):
        return _built(kind, given, f"{path}.", _BY_THEIR_NAMES)
    if isinstance(given, kind):
        return given
    raise _wanted(path, f"{kind.__name__} or dict", given)


def _moment(given: Any, path: str) -> Any:
    """Reject a time without a zone: protobuf takes it for UTC, which is wrong for local times."""
    if isinstance(given, datetime) and given.utcoffset() is None:
        raise ValueError(f"{path}: {given} has no time zone; datetime.now(UTC) has one, astimezone() adds the local")
    return given


def _tags(given: Any, path: str) -> Any:
    if isinstance(given, Mapping | Proto):
        return given
    raise _wanted(path, "dict", given)


def _tell_which(kind: type[Proto], fields: Mapping[str, Any], within: str, called: Mapping[str, str]) -> None:
    """Find the invalid field by building a message with each field alone; protobuf's error does not name it."""
    for name, value in fields.items():
        field, path = kind.DESCRIPTOR.fields_by_name[name], f"{within}{called.get(name, name)}"
        if isinstance(value, _LISTS):
            for index, item in enumerate(value):
                _try(kind, field, [item], item, f"{path}[{index}]")
        else:
            _try(kind, field, value, value, path)


def _try(kind: type[Proto], field: Any, value: Any, told: Any, path: str) -> None:
    try:
        kind(**{field.name: value})
    except TypeError as error:
        wanted = _SCALARS.get(field.cpp_type)
        raise (_wanted(path, wanted, told) if wanted else TypeError(f"{path}: {error}")) from error
    except _REFUSALS as error:
        raise ValueError(f"{path}: {error}") from error


def _wanted(path: str, wanted: str, given: Any) -> TypeError:
    return TypeError(f"{path}: {wanted} is wanted, not {type(given).__name__}")
