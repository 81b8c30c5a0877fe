"""Enumerations by their short names: "user" for ROLE_USER, "substring" for SEARCH_MODE_SUBSTRING."""

from functools import cache
from typing import Any

from google.protobuf.descriptor import EnumDescriptor


def value_of(enum: EnumDescriptor, given: Any, path: str) -> Any:
    """Return the number of an enum value, given as a number, a full name or a short name."""
    if not isinstance(given, str):
        return given
    prefix, numbers = _numbers(enum)
    number = numbers.get(given.upper().removeprefix(prefix))
    if number is None:
        known = ", ".join(name.lower() for name, value in numbers.items() if value)
        raise ValueError(f"{path}: {given!r} is none of {known}")
    return number


@cache
def _numbers(enum: EnumDescriptor) -> tuple[str, dict[str, int]]:
    """Return the common prefix of the names, and the numbers by short name."""
    prefix = enum.values[0].name.removesuffix("UNSPECIFIED")
    return prefix, {value.name.removeprefix(prefix): value.number for value in enum.values}
