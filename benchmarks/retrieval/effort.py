"""Size and duration of a measurement."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Effort:
    """Sizes and seconds; rounds alternate between the two sides, so that a slow minute affects both."""

    messages: int
    seconds: float
    rounds: int
    cold_rounds: int
    add_seconds: float
    add_rounds: int
    single_adds: int
    idle_seconds: float
