"""A naive reference implementation of pruning: sets and fixpoints instead of streams."""

from collections.abc import Sequence

from memsidecar.domain.message import Role, StoredMessage
from memsidecar.domain.pruning import RemovalCriteria
from memsidecar.domain.session import Strategy

Group = frozenset[StoredMessage]


def groups_of(window: Sequence[StoredMessage], strategy: Strategy) -> list[Group]:
    """Return the groups that must stay together, ordered by their last message."""
    groups = _turns(window) if strategy == Strategy.TURNS else {frozenset({one}) for one in _conversation(window)}
    for exchange in {message.exchange for message in window} - {0}:
        tied = {group for group in groups if any(one.exchange == exchange for one in group)}
        groups = (groups - tied) | {frozenset().union(*tied)}
    return sorted(groups, key=max)


def removable(window: Sequence[StoredMessage], plan: RemovalCriteria) -> list[Group]:
    protected = set(window[len(window) - plan.min_messages :]) if plan.min_messages < len(window) else set(window)
    if plan.strategy == Strategy.WINDOW:
        protected |= set(_conversation(window)[-plan.window :])
    if plan.min_messages:
        protected |= set([message for message in window if message.role == Role.USER][-1:])
    return [group for group in groups_of(window, plan.strategy) if not group & protected]


def removed(window: Sequence[StoredMessage], plan: RemovalCriteria) -> list[int]:
    groups = removable(window, plan)
    if plan.strategy == Strategy.WINDOW:
        return _sequences(groups)
    trials = (groups[:size] for size in range(len(groups) + 1))
    return _sequences(next((trial for trial in trials if tokens_without(window, trial) <= plan.max_tokens), groups))


def tokens_without(window: Sequence[StoredMessage], groups: Sequence[Group]) -> int:
    gone = frozenset().union(*groups)
    return sum(message.tokens for message in window if message not in gone)


def _turns(window: Sequence[StoredMessage]) -> set[Group]:
    conversation = _conversation(window)
    number = [sum(message.role == Role.USER for message in conversation[: at + 1]) for at in range(len(conversation))]
    return {frozenset(one for one, mine in zip(conversation, number, strict=True) if mine == n) for n in set(number)}


def _conversation(window: Sequence[StoredMessage]) -> list[StoredMessage]:
    return [message for message in window if message.role != Role.SYSTEM]


def _sequences(groups: Sequence[Group]) -> list[int]:
    return sorted(one.sequence for group in groups for one in group)
