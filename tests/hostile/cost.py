"""CPU time of a component for texts of growing size."""

import time
from collections.abc import Callable, Sequence
from heapq import nlargest
from typing import NamedTuple

from tests.hostile.texts import HostileText

Component = Callable[[str], object]

MAX_RATIO = 2.5
"For a text of twice the size. Linear work takes 2 times as long, quadratic work 4 times."
DOUBLINGS = 3
GROWTH = 2**DOUBLINGS
MIN_SECONDS = 0.002
"Less is not compared: the fixed cost of a call, and the noise of the clock, are a part of it."
MAX_ATTEMPTS = 4
_SUMS_PER_SECOND = 20
CONFIRMED_AT = (1, 4, 16)
"""A component may do nothing for texts below some size, and cut texts above another one: then the time rises by a step.
One that is not linear grows too fast at each of these multiples of the size."""


class Growth(NamedTuple):
    """CPU times for a text of `size` bytes, and for one GROWTH times as large."""

    text: HostileText
    size: int
    few: float
    many: float

    @property
    def ratio(self) -> float:
        """The ratio for twice the text: the mean of all doublings."""
        return float((max(self.many, MIN_SECONDS) / max(self.few, MIN_SECONDS / GROWTH)) ** (1 / DOUBLINGS))

    @property
    def is_linear(self) -> bool:
        return self.many <= MIN_SECONDS or self.ratio <= MAX_RATIO

    def __str__(self) -> str:
        times = f"{self.few * 1e3:.1f} ms at {self.size} bytes, {self.many * 1e3:.1f} ms at {GROWTH * self.size}"
        return f"{self.text}: {times}, {self.ratio:.2f} for twice the text"


def seconds(component: Component, text: str) -> float:
    """Return the CPU time of the process: some libraries work on threads of their own."""
    start = time.process_time()
    component(text)
    return time.process_time() - start


def usual_seconds(component: Component, text: str) -> float:
    """Return the CPU time on a machine that adds twenty million numbers in a second.

    This machine may be slower, or slow for a while: both are measured in turn, and the minimum of each counts.
    """
    pairs = [(seconds(component, text), seconds(sum_of_numbers, text)) for _ in range(MAX_ATTEMPTS)]
    return min(each for each, _ in pairs) / (_SUMS_PER_SECOND * min(each for _, each in pairs))


def sum_of_numbers(_: str) -> None:
    total = 0
    for number in range(20_000_000 // _SUMS_PER_SECOND):
        total += number


def measure(component: Component, text: HostileText, size: int) -> Growth:
    """Measure the growth. While it is not linear, measure again: a busy machine only adds to a time."""
    few, many = text.of_size(size), text.of_size(GROWTH * size)
    growth = Growth(text, size, seconds(component, few), seconds(component, many))
    for _ in range(MAX_ATTEMPTS):
        if growth.is_linear:
            break
        again = [min(least, seconds(component, each)) for least, each in ((growth.few, few), (growth.many, many))]
        growth = Growth(text, size, *again)
    return growth


def find_nonlinear(
    component: Component, texts: Sequence[HostileText], size: int, multiples: Sequence[int] = CONFIRMED_AT
) -> list[Growth]:
    """Return the growths of the texts for which the component is not linear, at the largest size that was tried."""
    return [growth for text in texts if (growth := _confirm(component, text, size, multiples)) is not None]


def _confirm(component: Component, text: HostileText, size: int, multiples: Sequence[int]) -> Growth | None:
    growth = None
    for multiple in multiples:
        growth = measure(component, text, multiple * size)
        if growth.is_linear:
            return None
    return growth


def most_expensive(component: Component, texts: Sequence[HostileText], size: int, number: int) -> list[HostileText]:
    """Return the texts of a size that take the most CPU time."""
    return nlargest(number, texts, key=lambda text: seconds(component, text.of_size(size)))
