"""Turns, exchanges, which turns are shown, cache-stable cut points."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple

from memsidecar.context.budgets import SectionLimit
from memsidecar.domain.message import Role
from memsidecar.tokens.contract import MESSAGE_OVERHEAD
from memsidecar.v1.message_pb2 import Message

MIN_MESSAGES = 2
"Never left out: a model needs the question it is to answer."
_SHARE_FREED = 5
"Of the tokens, when the oldest must go."


class WindowStep(NamedTuple):
    """How many turns are shown at most by default, and how many are left when the oldest must go.

    Not a fifth of them goes but half: ten turns are few tokens, and a new beginning every other turn would cost the
    cache more than all the rest (docs/decisions/context.md).
    """

    turns: int = 10
    min_turns: int = 5

    @property
    def step(self) -> int:
        return max(1, self.turns - self.min_turns)


class WindowMessage(NamedTuple):
    """A message of the window. `tokens` are by the context's counter, `sum_tokens` by that of the window's sums."""

    message: Message
    sequence: int
    role: int
    exchange: int
    tokens: int
    sum_tokens: int

    @property
    def text_tokens(self) -> int:
        """Without the role marker, which is framing."""
        return self.tokens - MESSAGE_OVERHEAD


@dataclass(frozen=True, eq=False, slots=True)
class Unit:
    """Messages that stay or leave together: an exchange, or a message of none. Itself and nothing else."""

    messages: tuple[WindowMessage, ...]

    @property
    def text_tokens(self) -> int:
        return sum(one.text_tokens for one in self.messages)


@dataclass(frozen=True, slots=True)
class Turn:
    """`number` and `start` say how many turns and tokens of the window stand before it."""

    units: tuple[Unit, ...]
    number: int
    start: int

    @property
    def text_tokens(self) -> int:
        return sum(unit.text_tokens for unit in self.units)

    @property
    def last(self) -> int:
        return max(one.sequence for unit in self.units for one in unit.messages)


@dataclass(frozen=True, slots=True)
class ConversationWindow:
    """The newest of a window: whole exchanges, oldest first; and how many turns and tokens the whole window has."""

    messages: Sequence[WindowMessage] = ()
    window_turns: int = 0
    window_tokens: int = 0


def split_turns(talk: ConversationWindow) -> list[Turn]:
    """Turns that share an exchange are one: they could not be apart."""
    groups = list(_joined(_split(talk.messages)))
    number, start = talk.window_turns, talk.window_tokens
    turns: list[Turn] = []
    for group in reversed(groups):
        number -= max(1, sum(spoken.role == Role.USER for spoken in group))
        start -= sum(spoken.sum_tokens for spoken in group)
        turns.append(Turn(_units(group), max(number, 0), max(start, 0)))
    return turns[::-1]


def _split(spoken: Iterable[WindowMessage]) -> Iterator[list[WindowMessage]]:
    turn: list[WindowMessage] = []
    for one in spoken:
        if one.role == Role.USER and turn:
            yield turn
            turn = []
        turn.append(one)
    if turn:
        yield turn


def _joined(turns: Iterable[list[WindowMessage]]) -> Iterator[list[WindowMessage]]:
    """Exchanges begin before they end, so a turn that answers an earlier one's call is joined with all in between."""
    joined: list[list[WindowMessage]] = []
    begins: list[int] = []
    for turn in turns:
        begin, group = turn[0].sequence, turn
        called = min((one.exchange for one in turn if one.exchange), default=begin)
        while joined and called < begin:
            group, begin = joined.pop() + group, begins.pop()
        joined.append(group)
        begins.append(begin)
    return iter(joined)


def _units(group: Sequence[WindowMessage]) -> tuple[Unit, ...]:
    """In the order of their first messages."""
    units: dict[int, list[WindowMessage]] = {}
    for one in group:
        units.setdefault(one.exchange or one.sequence, []).append(one)
    return tuple(Unit(tuple(unit)) for unit in units.values())


@dataclass(frozen=True, slots=True)
class VisibleTurns:
    """The turns that are shown, oldest first, each as its units; those in `kept` can never go."""

    turns: tuple[tuple[Unit, ...], ...] = ()
    kept: frozenset[Unit] = frozenset()
    omitted: tuple[WindowMessage, ...] = ()


def visible_turns(turns: Sequence[Turn], cap: SectionLimit, rhythm: WindowStep, spoken_for: int) -> VisibleTurns:
    """A summary speaks for the messages up to `spoken_for`: those turns are not shown."""
    kept = _last_units(turns)
    if cap.disabled:
        return VisibleTurns()
    recent = [turn for turn in turns if turn.last > spoken_for] or list(turns[-1:])
    chosen = [turn.units for turn in recent[_first(recent, cap, rhythm) :]] or _as_fits(recent[-1:], cap, kept)
    chosen = _with(chosen, turns, kept)
    there = {unit for units in chosen for unit in units}
    omitted = [one for turn in recent for unit in turn.units if unit not in there for one in unit.messages]
    return VisibleTurns(tuple(chosen), kept, tuple(omitted))


def _last_units(turns: Sequence[Turn]) -> frozenset[Unit]:
    units = [unit for turn in turns[-MIN_MESSAGES:] for unit in turn.units]
    last = sorted(one.sequence for unit in units for one in unit.messages)[-MIN_MESSAGES:]
    return frozenset(unit for unit in units if any(one.sequence in last for one in unit.messages))


def _first(turns: Sequence[Turn], cap: SectionLimit, rhythm: WindowStep) -> int:
    """Which is the first turn to show: the oldest if all fit, else the first station from which on all fit.

    Fewer turns than by default are the newest of those, so that fewer turns are never more tokens.
    """
    tokens = [*accumulate((turn.text_tokens for turn in reversed(turns)), initial=0)][::-1]
    by_count = max(0, len(turns) - max(cap.items, rhythm.turns))
    by_tokens = next((at for at in range(len(turns) + 1) if tokens[at] <= cap.tokens), len(turns))
    return max(
        len(turns) - cap.items,
        _station(by_count, [turn.number // rhythm.step for turn in turns]),
        _station(by_tokens, [turn.start // max(1, cap.tokens // _SHARE_FREED) for turn in turns]),
    )


def _station(at_least: int, blocks: Sequence[int]) -> int:
    """The first place from `at_least` on where a block begins; `at_least` where none does, or nothing must go."""
    if at_least == 0:
        return 0
    later = range(at_least, len(blocks))
    return next((at for at in later if blocks[at] != blocks[at - 1]), at_least)


def _as_fits(turns: Sequence[Turn], cap: SectionLimit, kept: frozenset[Unit]) -> list[tuple[Unit, ...]]:
    """Of a turn that is too large as a whole, the newest units that fit."""
    left, chosen = cap.tokens if cap.items else 0, []
    for unit in reversed([unit for turn in turns for unit in turn.units]):
        left -= unit.text_tokens
        if left < 0 and unit not in kept:
            break
        chosen.append(unit)
    return [tuple(reversed(chosen))] if chosen else []


def _with(chosen: list[tuple[Unit, ...]], turns: Sequence[Turn], kept: frozenset[Unit]) -> list[tuple[Unit, ...]]:
    """The last messages stay, whatever the cap says."""
    there = {unit for units in chosen for unit in units}
    missing = [
        tuple(unit for unit in turn.units if unit in kept and unit not in there) for turn in turns[-MIN_MESSAGES:]
    ]
    return [units for units in missing if units] + chosen
