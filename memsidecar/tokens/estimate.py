"""Estimates, calibration, user-supplied counter."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from math import ceil

from memsidecar.tokens.contract import Counter

MIN_FACTOR = 0.5
MAX_FACTOR = 2.0

# From the fifth report on, one report moves the factor by a fifth of the way: outliers fade, drift is followed.
_LEAST_TRUST = 0.2

_PROBE = "How many tokens is this?"


class CharsPerFour:
    """Four characters a token: the rule of thumb for English, rounded up so that no text is free."""

    name = "chars/4"
    exact = False
    ready = True

    def warm(self) -> None:
        """There is nothing to load."""

    def count(self, text: str) -> int:
        return -(-len(text) // 4)


@dataclass(frozen=True)
class Calibrated:
    """An estimate times the factor that a model's reports have taught; rounded up, as a budget is a hard limit."""

    counter: Counter
    factor: float

    exact = False

    @property
    def name(self) -> str:
        return self.counter.name if self.factor == 1 else f"{self.counter.name} x {self.factor:.2f}"

    @property
    def ready(self) -> bool:
        return self.counter.ready

    def warm(self) -> None:
        self.counter.warm()

    def count(self, text: str) -> int:
        # Without rounding first, 100 x 1.1 would be 110.00000000000001 and count as 111.
        return ceil(round(self.counter.count(text) * self.factor, 6))


def calibrate(old_factor: float, reports_so_far: int, estimated: int, actual: int) -> float:
    """The factor after one more report of what the provider charged.

    `estimated` was made with the old factor, so the step is multiplicative. The first report is believed fully, later
    ones are damped. A report without tokens teaches nothing.
    """
    if estimated <= 0 or actual <= 0:
        return old_factor
    trust = max(_LEAST_TRUST, 1 / (reports_so_far + 1))
    factor: float = old_factor * (actual / estimated) ** trust
    return min(max(factor, MIN_FACTOR), MAX_FACTOR)


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
