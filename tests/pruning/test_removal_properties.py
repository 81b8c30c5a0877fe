"""Properties of removal for every conversation, strategy and budget."""

from collections.abc import Sequence
from dataclasses import replace

from hypothesis import example, given

from memsidecar.domain.message import Role, StoredMessage
from memsidecar.domain.pruning import RemovalCriteria, plan_removal
from memsidecar.domain.session import Strategy

from . import oracle
from .conversations import (
    TIED_TURNS,
    answer,
    assistant,
    call,
    left_after,
    plans,
    plans_of,
    remove,
    user,
    view_of,
    window_of,
    windows,
)

LATE_ANSWER = window_of([user(), call("a", "b"), answer("a"), user(), assistant(), user(), answer("b"), user()])
TIGHT = RemovalCriteria(Strategy.RECENCY, max_tokens=30)


@given(windows(), plans)
@example(LATE_ANSWER, TIGHT)
def test_an_exchange_stays_whole_or_leaves_whole(window: Sequence[StoredMessage], plan: RemovalCriteria) -> None:
    gone = set(remove(window, plan).sequences)
    left = {message.exchange for message in window if message.sequence not in gone} - {0}
    assert not left & {message.exchange for message in window if message.sequence in gone}


@given(windows(), plans)
def test_system_messages_stay(window: Sequence[StoredMessage], plan: RemovalCriteria) -> None:
    gone = set(remove(window, plan).sequences)
    assert not [message for message in window if message.role == Role.SYSTEM and message.sequence in gone]


@given(windows(), plans)
def test_the_last_messages_stay(window: Sequence[StoredMessage], plan: RemovalCriteria) -> None:
    last = window[max(0, len(window) - plan.min_messages) :]
    assert left_after(window, plan)[len(left_after(window, plan)) - len(last) :] == last


@given(windows(), plans)
def test_the_newest_user_message_stays_unless_nothing_is_protected(
    window: Sequence[StoredMessage], plan: RemovalCriteria
) -> None:
    asked = [message for message in window if message.role == Role.USER][-1:]
    assert not plan.min_messages or set(asked) <= set(left_after(window, plan))


@given(windows(), plans_of(Strategy.RECENCY, Strategy.TURNS, Strategy.IMPORTANCE))
def test_what_is_left_fits_or_nothing_more_could_leave(window: Sequence[StoredMessage], plan: RemovalCriteria) -> None:
    left = left_after(window, plan)
    assert sum(message.tokens for message in left) <= plan.max_tokens or not oracle.removable(left, plan)


@given(windows(), plans_of(Strategy.RECENCY, Strategy.TURNS, Strategy.IMPORTANCE))
def test_what_fits_is_left_alone(window: Sequence[StoredMessage], plan: RemovalCriteria) -> None:
    enough = replace(plan, max_tokens=sum(message.tokens for message in window) + 1)
    assert remove(window, enough).sequences == []


@given(windows(), plans)
@example(LATE_ANSWER, TIGHT)
def test_pruning_again_removes_nothing(window: Sequence[StoredMessage], plan: RemovalCriteria) -> None:
    assert remove(left_after(window, plan), plan).sequences == []


@given(windows(), plans)
def test_the_tokens_are_those_of_what_was_removed_and_the_sequences_ascend(
    window: Sequence[StoredMessage], plan: RemovalCriteria
) -> None:
    removal = remove(window, plan)
    gone = [message for message in window if message.sequence in set(removal.sequences)]
    assert removal.sequences == [message.sequence for message in gone]
    assert removal.tokens == sum(message.tokens for message in gone)


@given(windows(), plans_of(Strategy.RECENCY, Strategy.TURNS))
def test_the_newest_unit_that_left_would_not_have_fitted(
    window: Sequence[StoredMessage], plan: RemovalCriteria
) -> None:
    gone = set(remove(window, plan).sequences)
    groups = [group for group in oracle.groups_of(window, plan.strategy) if max(group).sequence in gone]
    assert not groups or oracle.tokens_without(window, groups[:-1]) > plan.max_tokens


@given(windows(), plans_of(Strategy.RECENCY, Strategy.TURNS))
def test_no_unit_leaves_before_an_older_one(window: Sequence[StoredMessage], plan: RemovalCriteria) -> None:
    gone = set(remove(window, plan).sequences)
    groups = oracle.groups_of(window, plan.strategy)
    asked = set([message for message in window if message.role == Role.USER][-1:] if plan.min_messages else [])
    leaves = [max(group).sequence in gone for group in groups if not group & asked]
    assert leaves == sorted(leaves, reverse=True)


@given(windows(), plans_of(Strategy.RECENCY, Strategy.TURNS, Strategy.WINDOW))
@example(LATE_ANSWER, TIGHT)
@example(TIED_TURNS, RemovalCriteria(Strategy.TURNS, max_tokens=160))
@example(TIED_TURNS, RemovalCriteria(Strategy.TURNS, max_tokens=150))
def test_the_naive_pruner_agrees(window: Sequence[StoredMessage], plan: RemovalCriteria) -> None:
    assert remove(window, plan).sequences == oracle.removed(window, plan)


@given(windows(), plans)
def test_a_reader_that_skips_system_messages_gets_the_same_plan(
    window: Sequence[StoredMessage], plan: RemovalCriteria
) -> None:
    conversation = [message for message in window if message.role != Role.SYSTEM]
    assert plan_removal(view_of(window, plan, conversation), plan) == remove(window, plan)
