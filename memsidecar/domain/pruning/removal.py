"""Removal strategies: choose whole units to remove, never a system message, the newest messages or the task.

The task is the newest user message. However many tool results follow it, a model needs it to go on.
"""

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
    """Strategy and limits of one removal. Only WINDOW needs no `max_tokens` (0), and it ignores any given."""

    strategy: Strategy
    max_tokens: int = 0
    window: int = 5
    min_messages: int = 2

    def __post_init__(self) -> None:
        # A limit of 0 would empty the session instead of failing.
        if self.max_tokens < 1 and self.strategy != Strategy.WINDOW:
            raise ValueError("max_tokens must be at least 1, except for the window strategy")
        if self.min_messages < 0 or self.window < 1:
            raise ValueError("min_messages must not be negative, and window must be at least 1")


@dataclass(frozen=True)
class WindowView:
    """Read access to the window of a session, so that planning reads no more messages than it needs.

    `message_count` and `total_tokens` are of the whole window, system messages included.
    `oldest_first` may be lazy and may omit system messages.
    `newest` is the end of the window, oldest first, system messages included: at least as many messages as
    `min_messages` and `window` of the criteria, or all.
    `exchange_end` returns the sequence of the last message of an exchange in the window. It is called once for each
    exchange.
    `task` is the sequence of the newest user message, 0 if there is none.
    """

    message_count: int
    total_tokens: int
    oldest_first: Iterable[StoredMessage]
    newest: Sequence[StoredMessage]
    exchange_end: Callable[[int], int]
    task: int = 0


@dataclass(frozen=True)
class Removal:
    """Sequences to remove, ascending, and the sum of their tokens."""

    sequences: list[int]
    tokens: int


def plan_removal(
    view: WindowView,
    criteria: RemovalCriteria,
    importance: ImportanceWeights = ImportanceWeights(),  # noqa: B008  (frozen)
    relevance: Mapping[int, float] = NO_RELEVANCE,
) -> Removal:
    """Return the messages to remove until the window fits; all removable ones if the protected rest is over budget.

    `relevance` is 0 to 1 by sequence, for IMPORTANCE. Planning again on the result removes nothing.
    """
    if criteria.min_messages == 0:
        view = replace(view, task=0)
    if criteria.strategy == Strategy.WINDOW:
        return _removal(_outside_window(view, criteria))
    excess = view.total_tokens - criteria.max_tokens
    if excess <= 0:
        return Removal([], 0)
    if criteria.strategy == Strategy.IMPORTANCE:
        return _removal(_until_removed(_by_importance(view, criteria, importance, relevance), excess))
    return _removal(_until_removed(_oldest(view, criteria.strategy, _protected_from(view, criteria)), excess))


def _oldest(view: WindowView, strategy: Strategy, protected_from: int) -> Iterator[Unit]:
    segments = turns if strategy == Strategy.TURNS else single_messages
    for unit in atomic_units(segments(view.oldest_first), view.exchange_end):
        if unit.last >= protected_from:
            return
        if not _has_task(unit, view):
            yield unit


def _has_task(unit: Unit, view: WindowView) -> bool:
    return unit.last >= view.task > 0 and any(message.sequence == view.task for message in unit.messages)


def _outside_window(view: WindowView, criteria: RemovalCriteria) -> Iterator[Unit]:
    protected_from = _protected_from(view, criteria)
    reaching = _reaching_window(view, criteria.window)
    return _oldest(reaching, criteria.strategy, min(protected_from, _window_start(reaching.newest, criteria.window)))


def _by_importance(
    view: WindowView, criteria: RemovalCriteria, importance: ImportanceWeights, relevance: Mapping[int, float]
) -> Iterator[Unit]:
    units = list(atomic_units(single_messages(view.oldest_first), view.exchange_end))
    units = [unit for unit in units if not _has_task(unit, view)]
    protected_from = _protected_from(view, criteria)
    return (unit for unit in least_important_first(units, importance, relevance) if unit.last < protected_from)


def _protected_from(view: WindowView, criteria: RemovalCriteria) -> int:
    """Return the sequence of the first of the last `min_messages`; a unit that reaches it stays."""
    if criteria.min_messages == 0:
        return NOTHING_PROTECTED
    return view.newest[-criteria.min_messages].sequence if view.message_count > criteria.min_messages else 0


def _window_start(newest: Sequence[StoredMessage], window: int) -> int:
    conversation = [message.sequence for message in newest if message.role != Role.SYSTEM]
    return next(iter(conversation[-window:]), 0)


def _reaching_window(view: WindowView, window: int) -> WindowView:
    """Return a view whose `newest` holds `window` conversation messages.

    System messages among the newest can make it too short. Only then the whole window is read.
    """
    conversation = sum(message.role != Role.SYSTEM for message in view.newest)
    if conversation >= window or len(view.newest) >= view.message_count:
        return view
    messages = list(view.oldest_first)
    return replace(view, oldest_first=messages, newest=messages)


def _until_removed(units: Iterator[Unit], excess: int) -> Iterator[Unit]:
    """Yield the first units whose tokens sum up to the excess. No unit after them is read."""
    while excess > 0 and (unit := next(units, None)):
        excess -= unit.tokens
        yield unit


def _removal(units: Iterable[Unit]) -> Removal:
    messages = [message for unit in units for message in unit.messages]
    return Removal(sorted(message.sequence for message in messages), sum(message.tokens for message in messages))
