"""A user's own counter, named as `module:function`."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module

_PROBE = "How many tokens is this?"


class InvalidCounter(ValueError):
    """The name of a tokenizer leads nowhere, or to something that does not count."""


@dataclass(frozen=True)
class CustomCounter:
    """Trusts its function to be thread-safe and to raise on no text; `exact` is what the function says of itself."""

    name: str
    function: Callable[[str], int]
    exact: bool

    ready = True

    def warm(self) -> None:
        """Its module was imported when it was found."""

    def count(self, text: str) -> int:
        return self.function(text) if text else 0


def load_custom(name: str) -> CustomCounter:
    """Import `module:function` and try it once. Raises InvalidCounter, saying what is missing.

    The function is taken for exact unless it carries an attribute `exact = False`.
    """
    function = _find(name)
    try:
        counted = function(_PROBE)
    except Exception as problem:
        raise InvalidCounter(f"tokenizer {name!r}: failed on a probe text: {problem}") from problem
    if type(counted) is not int or counted < 0:
        raise InvalidCounter(f"tokenizer {name!r}: must return an int of 0 or more, but returned {counted!r}")
    return CustomCounter(name, function, exact=bool(getattr(function, "exact", True)))


def _find(name: str) -> Callable[[str], int]:
    module_name, _, function_name = name.partition(":")
    if not module_name or not function_name:
        raise InvalidCounter(f"tokenizer {name!r}: one's own counter is written as module:function")
    try:
        module = import_module(module_name)
    except ImportError as missing:
        raise InvalidCounter(f"tokenizer {name!r}: cannot import the module {module_name!r}: {missing}") from missing
    function = getattr(module, function_name, None)
    if not callable(function):
        raise InvalidCounter(f"tokenizer {name!r}: the module {module_name!r} has no function {function_name!r}")
    return function  # type: ignore[no-any-return]
