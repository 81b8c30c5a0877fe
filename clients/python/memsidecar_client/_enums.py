"""Enumerations by their short names: "user" for ROLE_USER, "substring" for SEARCH_MODE_SUBSTRING."""

from collections.abc import Iterable
from typing import Any


def value_of(enum: Any, given: Any) -> Any:
    """The number of a value that is given as such, by its full name, or by the part behind the common prefix."""
    if not isinstance(given, str):
        return given
    names: list[str] = enum.keys()
    prefix = names[0].removesuffix("UNSPECIFIED")
    name = given.upper().removeprefix(prefix)
    if prefix + name not in names:
        known = ", ".join(one.removeprefix(prefix).lower() for one in names[1:])
        raise ValueError(f"{given!r} is none of {known}")
    return enum.Value(prefix + name)


def values_of(enum: Any, given: Iterable[Any]) -> list[Any]:
    return [value_of(enum, one) for one in given]
