"""Removal from a window, case by case."""

import pytest

from memsidecar.domain.message import Flag, StoredMessage
from memsidecar.domain.pruning import ImportanceWeights, RemovalCriteria, WindowView, plan_removal
from memsidecar.domain.session import Strategy

from .conversations import (
    TIED_TURNS,
    CountingMessages,
    WindowEntry,
    answer,
    assistant,
    call,
    ends_of,
    kept,
    remove,
    system,
    user,
    view_of,
    window_of,
)


def recency(max_tokens: int, min_messages: int = 2) -> RemovalCriteria:
    return RemovalCriteria(Strategy.RECENCY, max_tokens, min_messages=min_messages)


def by_turns(max_tokens: int) -> RemovalCriteria:
    return RemovalCriteria(Strategy.TURNS, max_tokens)


def last(window: int, min_messages: int = 2) -> RemovalCriteria:
    return RemovalCriteria(Strategy.WINDOW, window=window, min_messages=min_messages)


def by_importance(max_tokens: int) -> RemovalCriteria:
    return RemovalCriteria(Strategy.IMPORTANCE, max_tokens)


def small_talk(count: int) -> list[WindowEntry]:
    return [user() if at % 2 == 0 else assistant() for at in range(count)]


def test_nothing_is_removed_from_an_empty_window() -> None:
    for strategy in Strategy:
        assert remove([], RemovalCriteria(strategy, max_tokens=1)).sequences == []


def test_the_oldest_messages_leave_until_the_rest_fits() -> None:
    assert kept(window_of([system(), *small_talk(6)]), recency(40)) == [1, 5, 6, 7]


def test_the_last_messages_stay_even_over_budget() -> None:
    assert kept(window_of([system(), *small_talk(6)]), recency(1)) == [1, 6, 7]


def test_with_no_minimum_everything_but_the_system_messages_may_leave() -> None:
    assert kept(window_of([*small_talk(3), system()]), recency(1, min_messages=0)) == [4]


def test_a_tool_call_is_never_kept_without_its_results() -> None:
    window = window_of([user(), call("a", "b"), answer("a"), answer("b"), assistant(), user()])
    assert kept(window, recency(50)) == [2, 3, 4, 5, 6]
    assert kept(window, recency(49)) == [5, 6]


def test_an_answer_among_the_last_messages_keeps_its_whole_exchange() -> None:
    window = window_of([user(), call("a", "b"), user(), answer("a"), user(), answer("b")])
    assert kept(window, recency(1)) == [2, 4, 5, 6]


def test_a_late_answer_keeps_its_call_between_removed_messages() -> None:
    window = window_of([call("a"), *small_talk(4), answer("a"), *small_talk(3)])
    assert kept(window, recency(50)) == [1, 6, 7, 8, 9]


def test_an_unanswered_call_is_removed_by_its_own_age() -> None:
    assert kept(window_of([user(), call("a"), *small_talk(3)]), recency(30)) == [3, 4, 5]


def test_an_orphan_answer_is_removed_with_its_neighbours() -> None:
    assert kept(window_of([user(), answer("unknown"), *small_talk(3)]), recency(30)) == [3, 4, 5]


def test_turns_leave_whole() -> None:
    window = window_of([assistant(), system(), user(), assistant(), assistant(), user(), assistant(), user()])
    assert kept(window, by_turns(70)) == [2, 3, 4, 5, 6, 7, 8]
    assert kept(window, by_turns(65)) == [2, 6, 7, 8]


def test_the_turn_of_a_protected_message_stays_whole() -> None:
    window = window_of([user(), assistant(), user(), *[assistant()] * 5])
    assert kept(window, by_turns(1)) == [3, 4, 5, 6, 7, 8]


def test_a_turn_before_trailing_system_messages_is_not_protected_by_them() -> None:
    window = window_of([user(), assistant(), user(), assistant(), system(), system()])
    assert kept(window, by_turns(20)) == [3, 4, 5, 6]


def test_turns_that_share_an_exchange_are_removed_together() -> None:
    window = window_of([user(), call("a"), user(), assistant(), user(), answer("a"), user(), assistant()])
    assert kept(window, by_turns(60)) == [1, 2, 5, 6, 7, 8]
    assert kept(window, by_turns(59)) == [7, 8]


def test_turns_that_share_several_exchanges_are_removed_after_the_last_of_them_ends() -> None:
    assert len(TIED_TURNS) == 17
    assert remove(TIED_TURNS, by_turns(150)).sequences == [12, 13]
    assert kept(TIED_TURNS, by_turns(149)) == [16, 17]


def test_the_window_is_the_newest_messages_whatever_their_tokens() -> None:
    window = window_of([*small_talk(6), user(tokens=10_000)])
    assert kept(window, last(3)) == [5, 6, 7]
    assert kept(window, RemovalCriteria(Strategy.WINDOW, max_tokens=1, window=3)) == [5, 6, 7]


def test_system_messages_do_not_count_against_the_window() -> None:
    window = window_of([*small_talk(6), system(), system(), system(), user()])
    assert kept(window, last(3)) == [5, 6, 7, 8, 9, 10]


def test_the_window_is_never_smaller_than_the_minimum() -> None:
    assert kept(window_of(small_talk(6)), last(1, min_messages=4)) == [3, 4, 5, 6]


def test_messages_tagged_important_are_removed_last() -> None:
    window = window_of([user(flags=Flag.IMPORTANT), *small_talk(6)])
    assert kept(window, by_importance(30)) == [1, 6, 7]


def test_a_highly_scored_answer_is_kept_longer_than_a_newer_one_with_a_low_score() -> None:
    window = window_of([*small_talk(3), assistant(score=10), assistant(score=1), *small_talk(3)])
    assert 4 in kept(window, by_importance(40))
    assert 5 not in kept(window, by_importance(40))


def test_a_question_is_kept_longer_than_the_statement_after_it() -> None:
    window = window_of([user(flags=Flag.QUESTION), assistant(), *small_talk(8)])
    assert 1 in kept(window, by_importance(90))


def test_a_recent_tool_result_is_kept_longer_than_a_newer_statement() -> None:
    # Twenty messages: the exchange ends at the 17th, within the newest fifth.
    window = window_of([*small_talk(15), call("a"), answer("a"), *small_talk(3)])
    assert kept(window, by_importance(40)) == [16, 17, 19, 20]


def test_a_recent_orphan_is_no_tool_result() -> None:
    window = window_of([*small_talk(16), answer("unknown"), *small_talk(3)])
    assert kept(window, by_importance(30)) == [18, 19, 20]


def test_a_relevant_message_is_kept_longer_than_a_newer_one() -> None:
    window = window_of([assistant() for _ in range(10)])
    plan = by_importance(90)
    assert plan_removal(view_of(window, plan), plan, relevance={1: 1.0}).sequences == [2]


def test_the_importance_of_an_exchange_is_that_of_its_best_message() -> None:
    window = window_of([call("a"), WindowEntry(answer("a").role, answers="a", flags=Flag.IMPORTANT), *small_talk(6)])
    assert kept(window, by_importance(40)) == [1, 2, 7, 8]


def test_importance_keeps_the_last_messages_and_their_exchange_too() -> None:
    window = window_of([user(flags=Flag.IMPORTANT), call("a"), user(), answer("a"), user()])
    assert kept(window, by_importance(1)) == [2, 4, 5]


def test_of_equal_importance_the_older_leaves_first() -> None:
    window = window_of([assistant() for _ in range(6)])
    plan = by_importance(40)
    assert plan_removal(view_of(window, plan), plan, ImportanceWeights(recency=0)).sequences == [1, 2]


def test_a_tag_outweighs_all_other_signals_together() -> None:
    weights = ImportanceWeights()
    others = weights.recency + weights.relevance + weights.evaluation
    assert weights.tagged >= others + max(weights.question, weights.recent_tool_result)


@pytest.mark.parametrize("strategy", [Strategy.RECENCY, Strategy.TURNS, Strategy.IMPORTANCE])
def test_a_plan_without_a_token_limit_is_refused(strategy: Strategy) -> None:
    with pytest.raises(ValueError, match="max_tokens"):
        RemovalCriteria(strategy, max_tokens=0)


def test_a_window_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="window"):
        RemovalCriteria(Strategy.WINDOW, window=0)


LONG = window_of(small_talk(10_000))


def messages_read(plan: RemovalCriteria, window: list[StoredMessage] = LONG) -> int:
    counted = CountingMessages(window)
    plan_removal(view_of(window, plan, counted), plan)
    return counted.read


def test_recency_reads_only_what_it_removes() -> None:
    assert messages_read(recency(10 * (10_000 - 10))) == 10


def test_turns_read_one_message_more_to_see_where_a_turn_ends() -> None:
    assert messages_read(by_turns(10 * (10_000 - 10))) == 11


def test_nothing_is_read_of_a_window_that_fits() -> None:
    for strategy in (Strategy.RECENCY, Strategy.TURNS, Strategy.IMPORTANCE):
        assert messages_read(RemovalCriteria(strategy, 100_000)) == 0


def test_the_window_strategy_stops_where_the_window_begins() -> None:
    assert messages_read(last(9_000)) == 1_001


def test_protected_messages_are_not_read_to_the_end() -> None:
    assert messages_read(recency(1, min_messages=9_000)) == 1_001


def test_the_end_of_an_exchange_is_looked_up_once() -> None:
    window = window_of([call(*"abcdef"), *[answer(one) for one in "abcdef"], *small_talk(2)])
    looked_up: list[int] = []

    def exchange_end(exchange: int) -> int:
        looked_up.append(exchange)
        return ends_of(window)(exchange)

    plan_removal(WindowView(9, 90, window, window[-5:], exchange_end), recency(20))
    assert looked_up == [1]
