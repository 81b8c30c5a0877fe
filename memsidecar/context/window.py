"""The conversation window of a context: messages grouped into turns and exchanges, and the turns that are visible.

The oldest visible turn moves in steps (cut points), so that the prompt prefix stays the same for several turns and the
provider's prompt cache is reused.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple

from memsidecar.context.budgets import SectionLimit
from memsidecar.domain.message import Role
from memsidecar.tokens.contract import MESSAGE_OVERHEAD
from memsidecar.v1.message_pb2 import Message

MIN_MESSAGES = 2
"The newest messages that are never evicted: a model needs the question it is to answer."
_CUT_POINTS_PER_LIMIT = 5
"Cut points by tokens lie a fifth of the section's token limit apart."


class WindowStep(NamedTuple):
    """Default number of visible turns, and how many are left after the oldest are cut.

    Half of the turns go at once, not a fifth: a new prefix every other turn would cost the prompt cache more than the
    tokens saved (docs/decisions/context.md).
    """

    turns: int = 10
    min_turns: int = 5

    @property
    def step(self) -> int:
        return max(1, self.turns - self.min_turns)


class WindowMessage(NamedTuple):
    """A message of the window: `tokens` for the model of the request, `sum_tokens` by the default tokenizer."""

    message: Message
    sequence: int
    role: int
    exchange: int
    tokens: int
    sum_tokens: int

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
    """The newest messages of a session in whole exchanges, oldest first, and the totals of the whole window."""

    messages: Sequence[WindowMessage] = ()
    window_turns: int = 0
    window_tokens: int = 0


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


@dataclass(frozen=True, slots=True)
class VisibleTurns:
    """The visible turns, oldest first, each as its units. Units in `kept` are never evicted."""

    turns: tuple[tuple[WindowUnit, ...], ...] = ()
    kept: frozenset[WindowUnit] = frozenset()
    omitted: tuple[WindowMessage, ...] = ()


def visible_turns(
    turns: Sequence[Turn], limit: SectionLimit, step: WindowStep, summarized_through: int
) -> VisibleTurns:
    """Return the turns to show. Turns up to the sequence `summarized_through` are left to the summary."""
    kept = _last_units(turns)
    if limit.disabled:
        return VisibleTurns()
    recent = [turn for turn in turns if turn.last > summarized_through] or list(turns[-1:])
    chosen = [turn.units for turn in recent[_first_visible(recent, limit, step) :]]
    chosen = _with_newest(chosen or _newest_units(recent[-1:], limit, kept), turns, kept)
    included = {unit for units in chosen for unit in units}
    omitted = [message for turn in recent for unit in turn.units if unit not in included for message in unit.messages]
    return VisibleTurns(tuple(chosen), kept, tuple(omitted))


def _last_units(turns: Sequence[Turn]) -> frozenset[WindowUnit]:
    units = [unit for turn in turns[-MIN_MESSAGES:] for unit in turn.units]
    last = sorted(message.sequence for unit in units for message in unit.messages)[-MIN_MESSAGES:]
    return frozenset(unit for unit in units if any(message.sequence in last for message in unit.messages))


def _first_visible(turns: Sequence[Turn], limit: SectionLimit, step: WindowStep) -> int:
    """Return the index of the oldest visible turn: 0 if all fit, else the first cut point from which on all fit.

    With fewer turns than by default, the newest are shown, so that fewer turns never cost more tokens.
    """
    tokens = [*accumulate((turn.text_tokens for turn in reversed(turns)), initial=0)][::-1]
    by_count = max(0, len(turns) - max(limit.items, step.turns))
    by_tokens = next((at for at in range(len(turns) + 1) if tokens[at] <= limit.tokens), len(turns))
    return max(
        len(turns) - limit.items,
        _cut_point(by_count, [turn.number // step.step for turn in turns]),
        _cut_point(by_tokens, [turn.start // max(1, limit.tokens // _CUT_POINTS_PER_LIMIT) for turn in turns]),
    )


def _cut_point(at_least: int, blocks: Sequence[int]) -> int:
    """Return the first index from `at_least` on where a block begins, or `at_least` if none does."""
    if at_least == 0:
        return 0
    later = range(at_least, len(blocks))
    return next((at for at in later if blocks[at] != blocks[at - 1]), at_least)


def _newest_units(
    turns: Sequence[Turn], limit: SectionLimit, kept: frozenset[WindowUnit]
) -> list[tuple[WindowUnit, ...]]:
    """Return the newest units that fit of a turn that is too large as a whole."""
    left, chosen = limit.tokens if limit.items else 0, []
    for unit in reversed([unit for turn in turns for unit in turn.units]):
        left -= unit.text_tokens
        if left < 0 and unit not in kept:
            break
        chosen.append(unit)
    return [tuple(reversed(chosen))] if chosen else []


def _with_newest(
    chosen: list[tuple[WindowUnit, ...]], turns: Sequence[Turn], kept: frozenset[WindowUnit]
) -> list[tuple[WindowUnit, ...]]:
    """Add the units that are never evicted, even beyond the limit."""
    included = {unit for units in chosen for unit in units}
    missing = [
        tuple(unit for unit in turn.units if unit in kept and unit not in included) for turn in turns[-MIN_MESSAGES:]
    ]
    return [units for units in missing if units] + chosen
