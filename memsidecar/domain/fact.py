"""FactType; score parts."""

from dataclasses import dataclass
from enum import IntEnum


class FactType(IntEnum):
    """What a fact is about. The numbers are the contract's."""

    USER_PROFILE = 1
    INTEREST = 2
    PREFERENCE = 3
    ACTION_ITEM = 4
    SENTIMENT = 5
    QUESTION = 6
    DOMAIN = 7


MULTI_VALUED_TYPES = frozenset({FactType.INTEREST, FactType.ACTION_ITEM, FactType.QUESTION})
"""Of these a user has many under one key at once; of the others, one value a key."""


@dataclass(frozen=True, slots=True)
class ScoreBreakdown:
    """What a score is made of; they add up to it."""

    keyword: float = 0.0
    semantic: float = 0.0
    neighbours: float = 0.0
    speaker: float = 0.0
    session: float = 0.0
    recency: float = 0.0
