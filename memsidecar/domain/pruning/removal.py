"""Choose what leaves a window: whole units, never a system message, never the newest few."""

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from memsidecar.domain.message import Role, StoredMessage
from memsidecar.domain.pruning.units import (
    ImportanceWeights,
    Unit,
    atomic_units,
    least_important_first,
    single_messages,
    turns,
)
from memsidecar.domain.session import Strategy

NOTHING_PROTECTED = sys.maxsize
NO_RELEVANCE: Mapping[int, float] = MappingProxyType({})


@dataclass(frozen=True)
class RemovalCriteria:
    """What the caller wants of the window. Only WINDOW goes without a token limit (0), and it ignores any given."""

    strategy: Strategy
    max_tokens: int = 0
    window: int = 5
    min_messages: int = 2

    def __post_init__(self) -> None:
        # A zero that slipped in here would empty the session, not fail.
        if self.max_tokens < 1 and self.strategy != Strategy.WINDOW:
            raise ValueError("max_tokens must be at least 1, except for the window strategy")
        if self.min_messages < 0 or self.window < 1:
            raise ValueError("min_messages must not be negative, and window must be at least 1")


@dataclass(frozen=True)
class WindowView:
    """The messages of a session that are not pruned, so that a plan reads no more of them than it needs.

    `message_count` and `total_tokens` are of the whole window, system messages included.
    `oldest_first` may be lazy and may leave system messages out.
    `newest` is the end of the window, oldest first, system messages included: at least as many as the plan's
    `min_messages` and `window`, or all.
    `exchange_end` answers the sequence of an exchange's last message in the window; asked once for each exchange.
    """

    message_count: int
    total_tokens: int
    oldest_first: Iterable[StoredMessage]
    newest: Sequence[StoredMessage]
    exchange_end: Callable[[int], int]


@dataclass(frozen=True)
class Removal:
    """`sequences` ascending, and the tokens that leave with them."""

    sequences: list[int]
    tokens: int


def plan_removal(
    view: WindowView,
    plan: RemovalCriteria,
    importance: ImportanceWeights = ImportanceWeights(),  # noqa: B008  (frozen)
    relevance: Mapping[int, float] = NO_RELEVANCE,
) -> Removal:
    """What to remove. Where the kept part alone exceeds the budget, that is all that may be removed.

    `relevance` is 0 to 1 by sequence, for IMPORTANCE. Planning again on what is left removes nothing.
    """
    if plan.strategy == Strategy.WINDOW:
        return _removal(_outside_window(view, plan))
    excess = view.total_tokens - plan.max_tokens
    if excess <= 0:
        return Removal([], 0)
    if plan.strategy == Strategy.IMPORTANCE:
        return _removal(_enough(_by_importance(view, plan, importance, relevance), excess))
    return _removal(_enough(_oldest(view, plan.strategy, _protected_from(view, plan)), excess))


def _oldest(view: WindowView, strategy: Strategy, protected_from: int) -> Iterator[Unit]:
    segments = turns if strategy == Strategy.TURNS else single_messages
    for unit in atomic_units(segments(view.oldest_first), view.exchange_end):
        if unit.last >= protected_from:
            return
        yield unit


def _outside_window(view: WindowView, plan: RemovalCriteria) -> Iterator[Unit]:
    protected_from = _protected_from(view, plan)
    known = _reaching_window(view, plan.window)
    return _oldest(known, plan.strategy, min(protected_from, _window_start(known.newest, plan.window)))


def _by_importance(
    view: WindowView, plan: RemovalCriteria, importance: ImportanceWeights, relevance: Mapping[int, float]
) -> Iterator[Unit]:
    units = list(atomic_units(single_messages(view.oldest_first), view.exchange_end))
    protected_from = _protected_from(view, plan)
    return (unit for unit in least_important_first(units, importance, relevance) if unit.last < protected_from)


def _protected_from(view: WindowView, plan: RemovalCriteria) -> int:
    """The first of the last `min_messages`; a unit that reaches it stays."""
    if plan.min_messages == 0:
        return NOTHING_PROTECTED
    return view.newest[-plan.min_messages].sequence if view.message_count > plan.min_messages else 0


def _window_start(newest: Sequence[StoredMessage], window: int) -> int:
    conversation = [message.sequence for message in newest if message.role != Role.SYSTEM]
    return next(iter(conversation[-window:]), 0)


def _reaching_window(view: WindowView, window: int) -> WindowView:
    """System messages among the newest hide where the window begins; only then all of it is read to see."""
    conversation = sum(message.role != Role.SYSTEM for message in view.newest)
    if conversation >= window or len(view.newest) >= view.message_count:
        return view
    messages = list(view.oldest_first)
    return replace(view, oldest_first=messages, newest=messages)


def _enough(units: Iterator[Unit], excess: int) -> Iterator[Unit]:
    """The first units that weigh the excess together. Nothing after them is read."""
    while excess > 0 and (unit := next(units, None)):
        excess -= unit.tokens
        yield unit


def _removal(units: Iterable[Unit]) -> Removal:
    messages = [message for unit in units for message in unit.messages]
    return Removal(sorted(message.sequence for message in messages), sum(message.tokens for message in messages))
