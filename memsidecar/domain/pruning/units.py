"""Atomic units and their importance."""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from memsidecar.domain.message import Flag, Role, StoredMessage


@dataclass(slots=True)
class Unit:
    """`last` is the newest message's sequence, and units are ordered by it.

    `open_until` maps an exchange to its last message for as long as that has not been read.
    """

    messages: list[StoredMessage]
    last: int
    open_until: dict[int, int]

    @property
    def tokens(self) -> int:
        return sum(message.tokens for message in self.messages)


def single_messages(messages: Iterable[StoredMessage]) -> Iterator[Sequence[StoredMessage]]:
    return ((message,) for message in messages if message.role != Role.SYSTEM)


def turns(messages: Iterable[StoredMessage]) -> Iterator[Sequence[StoredMessage]]:
    """A user message and everything up to the next one; what comes before the first is a turn of its own."""
    turn: list[StoredMessage] = []
    for (message,) in single_messages(messages):
        if message.role == Role.USER and turn:
            yield turn
            turn = []
        turn.append(message)
    if turn:
        yield turn


def atomic_units(segments: Iterable[Sequence[StoredMessage]], exchange_end: Callable[[int], int]) -> Iterator[Unit]:
    """Join the segments that share an exchange.

    A unit comes as soon as its last segment was read: in the order of the last messages, and no sooner than needed.
    """
    waiting: dict[int, Unit] = {}
    for segment in segments:
        unit = Unit(list(segment), segment[-1].sequence, {})
        for exchange in {message.exchange for message in segment if message.exchange}:
            unit = _joined(unit, exchange, waiting)
            _settle(unit, exchange, waiting, exchange_end)
        if not unit.open_until:
            yield unit


def _joined(unit: Unit, exchange: int, waiting: dict[int, Unit]) -> Unit:
    earlier = waiting.get(exchange, unit)
    if earlier is unit:
        return unit
    # The smaller moves into the larger: a thousand answers to one message must not copy it a thousand times.
    small, large = sorted((unit, earlier), key=lambda either: len(either.messages))
    large.messages += small.messages
    large.open_until |= small.open_until
    large.last = max(large.last, small.last)
    waiting.update(dict.fromkeys(small.open_until, large))
    return large


def _settle(unit: Unit, exchange: int, waiting: dict[int, Unit], exchange_end: Callable[[int], int]) -> None:
    """Ask for an exchange's end once, and forget the exchange when the end is reached."""
    if exchange not in unit.open_until:
        unit.open_until[exchange] = exchange_end(exchange)
        waiting[exchange] = unit
    if unit.open_until[exchange] <= unit.last:
        del unit.open_until[exchange], waiting[exchange]


@dataclass(frozen=True)
class ImportanceWeights:
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

    def worth(self, message: StoredMessage, recent: bool, relevance: float) -> float:
        return (
            self.tagged * bool(message.flags & Flag.IMPORTANT)
            + self.relevance * relevance
            + self.evaluation * (message.score or 0.0) / 10
            + self.question * bool(message.flags & Flag.QUESTION)
            + self.recent_tool_result * (recent and _is_result(message))
        )


def least_important_first(
    units: Sequence[Unit], importance: ImportanceWeights, relevance: Mapping[int, float]
) -> Sequence[Unit]:
    """Of equals the older first. `units` are all of the window, oldest first, so that positions are known."""
    return sorted(units, key=_scorer(units, importance, relevance))


def _scorer(
    units: Sequence[Unit], importance: ImportanceWeights, relevance: Mapping[int, float]
) -> Callable[[Unit], float]:
    sequences = sorted(message.sequence for unit in units for message in unit.messages)

    def score(unit: Unit) -> float:
        position = bisect_right(sequences, unit.last) / len(sequences)
        recent = position > 1 - importance.recent_share
        # The best member speaks for the exchange: a poor answer beside it does not make a good one less needed.
        best = max(importance.worth(message, recent, relevance.get(message.sequence, 0.0)) for message in unit.messages)
        return importance.recency * position + best

    return score


def _is_result(message: StoredMessage) -> bool:
    """An orphan is no result of anything: most providers refuse to be shown it."""
    return message.role == Role.TOOL and bool(message.exchange)
