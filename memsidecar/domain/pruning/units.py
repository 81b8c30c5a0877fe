"""Units: messages that stay or leave together. System messages belong to none."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from memsidecar.domain.message import Role, Stored


@dataclass(slots=True)
class Unit:
    """`last` is the newest message's sequence, and units are ordered by it.

    `open_until` maps an exchange to its last message for as long as that has not been read.
    """

    messages: list[Stored]
    last: int
    open_until: dict[int, int]

    @property
    def tokens(self) -> int:
        return sum(message.tokens for message in self.messages)


def single_messages(messages: Iterable[Stored]) -> Iterator[Sequence[Stored]]:
    return ((message,) for message in messages if message.role != Role.SYSTEM)


def turns(messages: Iterable[Stored]) -> Iterator[Sequence[Stored]]:
    """A user message and everything up to the next one; what comes before the first is a turn of its own."""
    turn: list[Stored] = []
    for (message,) in single_messages(messages):
        if message.role == Role.USER and turn:
            yield turn
            turn = []
        turn.append(message)
    if turn:
        yield turn


def whole_units(segments: Iterable[Sequence[Stored]], exchange_end: Callable[[int], int]) -> Iterator[Unit]:
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
