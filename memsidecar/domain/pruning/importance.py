"""How much a message is worth keeping beyond its age."""

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from memsidecar.domain.message import Flag, Role, Stored
from memsidecar.domain.pruning.units import Unit


@dataclass(frozen=True)
class Importance:
    """What each sign adds to a unit's score. The lowest score leaves first."""

    recency: float = 1.0
    """The yardstick: the newest message has all of it, the oldest next to nothing. The others are shares of it."""

    tagged: float = 2.0
    """Somebody said it matters. No less than all other signs a message can carry together, so that nothing untagged
    outlives it."""

    relevance: float = 0.5
    """The strongest guess, since it is about the newest turn; worth half the session's age, for a guess it stays."""

    evaluation: float = 0.3
    """Full marks carry an answer past a third of the session: they say that it was good, not that it is needed."""

    question: float = 0.2
    """What the user asked explains the answers that follow it, for about as long as those stay."""

    recent_tool_result: float = 0.2
    """The agent is likely still working with it, and to call the tool again costs more than to keep the result."""

    recent_share: float = 0.2
    """The newest fifth of the messages counts as recent: beyond it a result has mostly been told in an answer."""

    def worth(self, message: Stored, recent: bool, relevance: float) -> float:
        return (
            self.tagged * bool(message.flags & Flag.IMPORTANT)
            + self.relevance * relevance
            + self.evaluation * (message.score or 0.0) / 10
            + self.question * bool(message.flags & Flag.QUESTION)
            + self.recent_tool_result * (recent and _is_result(message))
        )


def least_important_first(
    units: Sequence[Unit], importance: Importance, relevance: Mapping[int, float]
) -> Sequence[Unit]:
    """Of equals the older first. `units` are all of the window, oldest first, so that positions are known."""
    return sorted(units, key=_scorer(units, importance, relevance))


def _scorer(units: Sequence[Unit], importance: Importance, relevance: Mapping[int, float]) -> Callable[[Unit], float]:
    sequences = sorted(message.sequence for unit in units for message in unit.messages)

    def score(unit: Unit) -> float:
        position = bisect_right(sequences, unit.last) / len(sequences)
        recent = position > 1 - importance.recent_share
        # The best member speaks for the exchange: a poor answer beside it does not make a good one less needed.
        best = max(importance.worth(message, recent, relevance.get(message.sequence, 0.0)) for message in unit.messages)
        return importance.recency * position + best

    return score


def _is_result(message: Stored) -> bool:
    """An orphan is no result of anything: most providers refuse to be shown it."""
    return message.role == Role.TOOL and bool(message.exchange)
