"""How much a namespace may ask for and keep."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Allowance:
    """Zero: no limit. `calls_per_second` may be passed for a moment, by what a second brings."""

    calls_per_second: float = 0.0
    sessions: int = 0
    messages: int = 0
    bytes: int = 0
