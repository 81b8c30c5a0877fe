"""Estimating counters, their calibration, and user-supplied counters."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from math import ceil

from memsidecar.tokens.contract import Counter

MIN_FACTOR = 0.5
MAX_FACTOR = 2.0

# Learning rate from the fifth report on: outliers lose influence, drift is followed.
_MIN_LEARNING_RATE = 0.2

_PROBE = "How many tokens is this?"


class CharsPerFour:
    """Estimate of four characters per token, the rule of thumb for English, rounded up."""

    name = "chars/4"
    exact = False
    adds_lines = False
    ready = True

    def warm(self) -> None:
        """Do nothing: there is no vocabulary."""

    def count(self, text: str) -> int:
        return -(-len(text) // 4)


@dataclass(frozen=True)
class Calibrated:
    """Estimate times a calibrated factor, rounded up, because a budget is a hard limit."""

    counter: Counter
    factor: float

    exact = False
    adds_lines = False

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


def is_plausible(old_factor: float, estimated: int, actual: int) -> bool:
    """Return False for a report below MIN_FACTOR: it is not of the whole input, but of what no cache had.

    Taken for the whole, one such report would let the next contexts exceed their budget by half.
    """
    return old_factor * actual >= MIN_FACTOR * estimated > 0


def calibrate(old_factor: float, reports_so_far: int, estimated: int, actual: int) -> float:
    """Return the factor after one more report of the tokens that the provider charged.

    `estimated` was made with the old factor, so the step is multiplicative. The first report is taken in full, later
    ones are damped.
    """
    learning_rate = max(_MIN_LEARNING_RATE, 1 / (reports_so_far + 1))
    factor: float = old_factor * (actual / estimated) ** learning_rate
    return min(max(factor, MIN_FACTOR), MAX_FACTOR)


class InvalidCounter(ValueError):
    """The name of a tokenizer is unknown, or its function does not count tokens."""


@dataclass(frozen=True)
class CustomCounter:
    """Counter of a user's function, which must be thread-safe and raise for no text."""

    name: str
    function: Callable[[str], int]
    exact: bool

    adds_lines = False
    ready = True

    def warm(self) -> None:
        """Do nothing: the module was imported by `load_custom`."""

    def count(self, text: str) -> int:
        return self.function(text) if text else 0


def load_custom(name: str) -> CustomCounter:
    """Import `module:function` and call it once. Raises InvalidCounter with the reason.

    The function counts as exact unless it has an attribute `exact = False`.
    """
    function = _find(name)
    try:
        counted = function(_PROBE)
    except Exception as error:
        raise InvalidCounter(f"tokenizer {name!r}: failed on a probe text: {error}") from error
    if type(counted) is not int or counted < 0:
        raise InvalidCounter(f"tokenizer {name!r}: must return an int of 0 or more, but returned {counted!r}")
    return CustomCounter(name, function, exact=bool(getattr(function, "exact", True)))


def _find(name: str) -> Callable[[str], int]:
    module_name, _, function_name = name.partition(":")
    if not module_name or not function_name:
        raise InvalidCounter(f"tokenizer {name!r}: a custom counter is written as module:function")
    try:
        module = import_module(module_name)
    except ImportError as error:
        raise InvalidCounter(f"tokenizer {name!r}: cannot import the module {module_name!r}: {error}") from error
    function = getattr(module, function_name, None)
    if not callable(function):
        raise InvalidCounter(f"tokenizer {name!r}: the module {module_name!r} has no function {function_name!r}")
    return function  # type: ignore[no-any-return]
