"""The conversation window of a context: messages grouped into turns and exchanges."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from memsidecar.domain.message import Role
from memsidecar.tokens.contract import MESSAGE_OVERHEAD
from memsidecar.v1.message_pb2 import Message


class WindowMessage(NamedTuple):
    """A message of the window: `tokens` for the model of the request, `sum_tokens` by the default tokenizer."""

    message: Message
    sequence: int
    role: int
    exchange: int
    tokens: int
    sum_tokens: int
    shortened: bool = False

    @property
    def text_tokens(self) -> int:
        """Return the tokens without the role marker, which is booked as framing."""
        return self.tokens - MESSAGE_OVERHEAD


@dataclass(frozen=True, eq=False, slots=True)
class WindowUnit:
    """Messages that are kept or evicted together: an exchange, or a single message. Compared by identity."""

    messages: tuple[WindowMessage, ...]

    @property
    def text_tokens(self) -> int:
        return sum(message.text_tokens for message in self.messages)


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn. `number` and `start` are the turns and tokens of the window before it."""

    units: tuple[WindowUnit, ...]
    number: int
    start: int

    @property
    def text_tokens(self) -> int:
        return sum(unit.text_tokens for unit in self.units)

    @property
    def last(self) -> int:
        return max(message.sequence for unit in self.units for message in unit.messages)


@dataclass(frozen=True, slots=True)
class ConversationWindow:
    """The newest messages of a session in whole exchanges, oldest first, and the totals of the whole window.

    `complete`: these are all messages of the session except system messages, whose sequences are in `system`.
    `unread_count` messages of the window are not among them. `last_sequence` is that of the newest message.
    """

    messages: Sequence[WindowMessage] = ()
    window_turns: int = 0
    window_tokens: int = 0
    complete: bool = False
    system: frozenset[int] = frozenset()
    unread_count: int = 0
    last_sequence: int = 0

    @property
    def tokens(self) -> int:
        return sum(message.tokens for message in self.messages)

    def unread_through(self, sequence: int) -> int:
        """Return how many unread messages are not after a sequence.

        Nothing is read for it, so messages after the sequence that were pruned or erased are subtracted, too.
        """
        read = [*self.system, *(message.sequence for message in self.messages)]
        unread_after = self.last_sequence - sequence - sum(each > sequence for each in read)
        return max(0, self.unread_count - unread_after)


def split_turns(window: ConversationWindow) -> list[Turn]:
    """Return the turns, oldest first. Turns that share an exchange are one turn."""
    groups = _join_exchanges(_split_at_user(window.messages))
    number, start = window.window_turns, window.window_tokens
    turns: list[Turn] = []
    for group in reversed(groups):
        number -= max(1, sum(message.role == Role.USER for message in group))
        start -= sum(message.sum_tokens for message in group)
        turns.append(Turn(_units(group), max(number, 0), max(start, 0)))
    return turns[::-1]


def _split_at_user(messages: Iterable[WindowMessage]) -> Iterator[list[WindowMessage]]:
    turn: list[WindowMessage] = []
    for message in messages:
        if message.role == Role.USER and turn:
            yield turn
            turn = []
        turn.append(message)
    if turn:
        yield turn


def _join_exchanges(turns: Iterable[list[WindowMessage]]) -> list[list[WindowMessage]]:
    """Join a turn that answers an earlier turn's tool call with that turn and with all turns between."""
    joined: list[list[WindowMessage]] = []
    begins: list[int] = []
    for turn in turns:
        begin, group = turn[0].sequence, turn
        called = min((message.exchange for message in turn if message.exchange), default=begin)
        while joined and called < begin:
            group, begin = joined.pop() + group, begins.pop()
        joined.append(group)
        begins.append(begin)
    return joined


def _units(group: Sequence[WindowMessage]) -> tuple[WindowUnit, ...]:
    """Return the units in the order of their first messages."""
    units: dict[int, list[WindowMessage]] = {}
    for message in group:
        units.setdefault(message.exchange or message.sequence, []).append(message)
    return tuple(WindowUnit(tuple(unit)) for unit in units.values())
