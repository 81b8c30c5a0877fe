"""What speaks for something that was found."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Parts:
    """What a score is made of; they add up to it."""

    keyword: float = 0.0
    semantic: float = 0.0
    neighbours: float = 0.0
    speaker: float = 0.0
    session: float = 0.0
    recency: float = 0.0
