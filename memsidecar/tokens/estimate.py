"""Counts for models whose tokenizer is not at hand, corrected by what the provider really charged."""

from dataclasses import dataclass
from math import ceil

from memsidecar.tokens.contract import Counter

LOWEST_FACTOR = 0.5
HIGHEST_FACTOR = 2.0

# From the fifth report on, one report moves the factor by a fifth of the way: outliers fade, drift is followed.
_LEAST_TRUST = 0.2


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
    return min(max(factor, LOWEST_FACTOR), HIGHEST_FACTOR)
