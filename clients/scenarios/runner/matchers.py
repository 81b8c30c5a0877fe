"""Compares a value with an expectation; a mismatch says where and how they differ."""

import re
from collections.abc import Callable
from typing import Any


class Mismatch(Exception):
    pass


def match(expected: Any, found: Any, place: str = "answer") -> None:
    """Compare `found` with `expected`. A mapping compares only the fields that it names. Raises Mismatch."""
    if isinstance(expected, dict) and len(expected) == 1 and next(iter(expected)) in MATCHERS:
        name, operand = next(iter(expected.items()))
        MATCHERS[name](operand, found, place)
    elif isinstance(expected, dict):
        _check(isinstance(found, dict), place, f"should have fields, and is {_shown(found)}")
        for name, value in expected.items():
            match(value, found.get(name), f"{place}.{name}")
    elif isinstance(expected, list):
        _list(expected, found, place)
    else:
        same = found == expected and isinstance(found, bool) == isinstance(expected, bool)
        _check(same, place, f"should be {_shown(expected)}, and is {_shown(found)}")


def _list(expected: list[Any], found: Any, place: str) -> None:
    _check(isinstance(found, list), place, f"should be a list, and is {_shown(found)}")
    problem = f"should have {len(expected)} items, and has {len(found)}: {_shown(found)}"
    _check(len(found) == len(expected), place, problem)
    for at, item in enumerate(expected):
        match(item, found[at], f"{place}[{at}]")


def _any(_: Any, found: Any, place: str) -> None:
    _check(not _is_absent(found), place, "should be there")


def _absent(_: Any, found: Any, place: str) -> None:
    _check(_is_absent(found), place, f"should be absent, and is {_shown(found)}")


def _is_absent(found: Any) -> bool:
    return found is None or (isinstance(found, str | list | dict) and not found)


def _range(bounds: Any, found: Any, place: str) -> None:
    number = isinstance(found, int | float) and not isinstance(found, bool)
    _check(number and bounds[0] <= found <= bounds[1], place, f"should be in {bounds}, and is {_shown(found)}")


def _length(expected: Any, found: Any, place: str) -> None:
    _check(isinstance(found, str | list | dict), place, f"should have a length, and is {_shown(found)}")
    match(expected, len(found), f"{place}.length")


def _contains(expected: Any, found: Any, place: str) -> None:
    if isinstance(found, str):
        _check(str(expected) in found, place, f"should contain {_shown(expected)}, and is {_shown(found)}")
    else:
        fits = isinstance(found, list) and any(_matches_expected(expected, item) for item in found)
        _check(fits, place, f"should contain {_shown(expected)}, and is {_shown(found)}")


def _each(expected: Any, found: Any, place: str) -> None:
    _check(isinstance(found, list) and bool(found), place, f"should be a list of some, and is {_shown(found)}")
    for at, item in enumerate(found):
        match(expected, item, f"{place}[{at}]")


def _matches(pattern: Any, found: Any, place: str) -> None:
    fits = isinstance(found, str) and re.search(pattern, found)
    _check(bool(fits), place, f"should match {pattern}, and is {_shown(found)}")


def _not(expected: Any, found: Any, place: str) -> None:
    _check(not _matches_expected(expected, found), place, f"should not be {_shown(expected)}, and is")


def _all(expected: Any, found: Any, place: str) -> None:
    for operand in expected:
        match(operand, found, place)


def _matches_expected(expected: Any, found: Any) -> bool:
    try:
        match(expected, found)
    except Mismatch:
        return False
    return True


def _check(holds: bool, place: str, problem: str) -> None:
    if not holds:
        raise Mismatch(f"{place} {problem}")


def _shown(value: Any) -> str:
    shown = repr(value)
    return shown if len(shown) <= 300 else f"{shown[:300]}... ({len(shown)} characters)"


MATCHERS: dict[str, Callable[[Any, Any, str], None]] = {
    "$any": _any,
    "$absent": _absent,
    "$range": _range,
    "$length": _length,
    "$contains": _contains,
    "$each": _each,
    "$matches": _matches,
    "$not": _not,
    "$all": _all,
}
