"""Atomic units of removal (a message, a turn, a tool exchange): how tool results join one, and their importance."""

from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import nsmallest

from memsidecar.domain.message import Flag, Role, StoredMessage

MAX_OPEN_CALLS = 1_000
"""Bound on the calls in a session head: an agent that never stores tool results must not make it grow forever."""

OpenCalls = Mapping[str, tuple[int, ...]]
"""Tool call id -> sequences of the messages that made it and have no result yet, oldest first, one for each call."""


@dataclass(slots=True)
class Unit:
    """Messages that leave the window together. Units are ordered by `last`, the sequence of their newest message.

    `open_until` maps an exchange to the sequence of its last message until that message is read.
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
    """Yield turns: a user message and all messages up to the next one. Messages before the first are one turn."""
    turn: list[StoredMessage] = []
    for (message,) in single_messages(messages):
        if message.role == Role.USER and turn:
            yield turn
            turn = []
        turn.append(message)
    if turn:
        yield turn


def atomic_units(segments: Iterable[Sequence[StoredMessage]], exchange_end: Callable[[int], int]) -> Iterator[Unit]:
    """Join segments that share an exchange into units.

    A unit is yielded as soon as its last segment is read, so units come in the order of their last messages.
    """
    open_units: dict[int, Unit] = {}
    for segment in segments:
        unit = Unit(list(segment), segment[-1].sequence, {})
        for exchange in {message.exchange for message in segment if message.exchange}:
            unit = _join(unit, exchange, open_units)
            _close_if_complete(unit, exchange, open_units, exchange_end)
        if not unit.open_until:
            yield unit


def _join(unit: Unit, exchange: int, open_units: dict[int, Unit]) -> Unit:
    earlier = open_units.get(exchange, unit)
    if earlier is unit:
        return unit
    # The smaller unit moves into the larger: a thousand results of one message must not copy it a thousand times.
    small, large = sorted((unit, earlier), key=lambda either: len(either.messages))
    large.messages += small.messages
    large.open_until |= small.open_until
    large.last = max(large.last, small.last)
    open_units.update(dict.fromkeys(small.open_until, large))
    return large


def _close_if_complete(
    unit: Unit, exchange: int, open_units: dict[int, Unit], exchange_end: Callable[[int], int]
) -> None:
    """Look up the end of an exchange once; remove the exchange from the open ones when the unit reaches it."""
    if exchange not in unit.open_until:
        unit.open_until[exchange] = exchange_end(exchange)
        open_units[exchange] = unit
    if unit.open_until[exchange] <= unit.last:
        del unit.open_until[exchange], open_units[exchange]


@dataclass(frozen=True)
class ImportanceWeights:
    """Weights of the signals in the score of a unit. Units with the lowest score are removed first."""

    recency: float = 1.0
    """Scale of the others: the newest message gets all of it, the oldest nearly nothing."""

    tagged: float = 2.0
    """Explicit tag by the client. At least the sum of all other signals, so that no untagged message outlives it."""

    relevance: float = 0.5
    """Relevance for the newest turn, the strongest estimate. It is an estimate, so it counts half of recency."""

    evaluation: float = 0.3
    """Evaluation score of a message. A high score says that it was good, not that it is still needed."""

    question: float = 0.2
    """Question of the user: it explains the answers that follow it."""

    recent_tool_result: float = 0.2
    """Recent tool result: the agent probably still uses it, and to call the tool again costs more than to keep it."""

    recent_share: float = 0.2
    """Share of the newest messages that count as recent. Older results are mostly contained in an answer."""

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
    """Return the units by ascending score, the older first among equals.

    `units` must be all units of the window, oldest first, because recency depends on their positions.
    """
    return sorted(units, key=_scorer(units, importance, relevance))


def _scorer(
    units: Sequence[Unit], importance: ImportanceWeights, relevance: Mapping[int, float]
) -> Callable[[Unit], float]:
    sequences = sorted(message.sequence for unit in units for message in unit.messages)

    def score(unit: Unit) -> float:
        position = bisect_right(sequences, unit.last) / len(sequences)
        recent = position > 1 - importance.recent_share
        # The best message decides: a poor answer in the same exchange does not make a good one less needed.
        best = max(importance.worth(message, recent, relevance.get(message.sequence, 0.0)) for message in unit.messages)
        return importance.recency * position + best

    return score


def _is_result(message: StoredMessage) -> bool:
    """Whether the message answers a tool call. Orphans do not count: most providers reject them."""
    return message.role == Role.TOOL and bool(message.exchange)


def link_exchange(
    open_calls: OpenCalls, draft_calls: Sequence[str], answers: str, sequence: int
) -> tuple[int, OpenCalls]:
    """Return the exchange of the message that becomes `sequence`, and the calls that are open after it.

    A message with calls starts an exchange. A result belongs to the nearest earlier open call with its id, because
    providers reuse ids. A result without an open call is an orphan: exchange 0. `open_calls` is not modified.
    """
    if draft_calls:
        return sequence, _drop_surplus(_with_calls(open_calls, draft_calls, sequence))
    if answers and answers in open_calls:
        return _close_newest(open_calls, answers)
    return 0, open_calls


def without_exchanges(open_calls: OpenCalls, exchanges: Collection[int]) -> OpenCalls:
    """Return the open calls without those of some exchanges: a result that comes later joins none of them."""
    left = {
        call: tuple(sequence for sequence in sequences if sequence not in exchanges)
        for call, sequences in open_calls.items()
    }
    return {call: sequences for call, sequences in left.items() if sequences}


def _with_calls(open_calls: OpenCalls, calls: Sequence[str], sequence: int) -> dict[str, tuple[int, ...]]:
    opened = dict(open_calls)
    for call in calls:
        opened[call] = (*opened.get(call, ()), sequence)
    return opened


def _close_newest(open_calls: OpenCalls, call: str) -> tuple[int, OpenCalls]:
    *earlier, newest = open_calls[call]
    remaining = dict(open_calls)
    if earlier:
        remaining[call] = tuple(earlier)
    else:
        del remaining[call]
    return newest, remaining


def _drop_surplus(opened: dict[str, tuple[int, ...]]) -> OpenCalls:
    surplus = sum(map(len, opened.values())) - MAX_OPEN_CALLS
    if surplus > 0:
        calls = ((sequence, call) for call, sequences in opened.items() for sequence in sequences)
        for _, call in nsmallest(surplus, calls):
            _drop_oldest(opened, call)
    return opened


def _drop_oldest(opened: dict[str, tuple[int, ...]], call: str) -> None:
    _, *later = opened.pop(call)
    if later:
        opened[call] = tuple(later)
