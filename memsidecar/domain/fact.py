"""Value types that several packages share: the types of facts, the parts of a search score."""

from dataclasses import dataclass
from enum import IntEnum


class FactType(IntEnum):
    """Subject of a fact. The numbers are those of the proto enum."""

    USER_PROFILE = 1
    INTEREST = 2
    PREFERENCE = 3
    ACTION_ITEM = 4
    SENTIMENT = 5
    QUESTION = 6
    DOMAIN = 7


MULTI_VALUED_TYPES = frozenset({FactType.INTEREST, FactType.ACTION_ITEM, FactType.QUESTION})
"""A user can have many facts of these types under one key. Of the other types, each key has one current value."""


@dataclass(frozen=True, slots=True)
class ScoreBreakdown:
    """Parts of a search score. Their sum is the score."""

    keyword: float = 0.0
    semantic: float = 0.0
    neighbours: float = 0.0
    speaker: float = 0.0
    session: float = 0.0
    recency: float = 0.0
