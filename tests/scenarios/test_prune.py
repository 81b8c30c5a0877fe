"""Prune: the budget holds with each strategy, and no exchange is split."""

from typing import Any

import grpc
import pytest

from memsidecar.v1 import memory_pb2 as pb
from tests.scenarios.conversation import Conversation, tagged
from tests.support.process import refusal

RECENCY = pb.PRUNE_STRATEGY_RECENCY
TURNS = pb.PRUNE_STRATEGY_TURNS
WINDOW = pb.PRUNE_STRATEGY_WINDOW
IMPORTANCE = pb.PRUNE_STRATEGY_IMPORTANCE
BY_TOKENS = pytest.mark.parametrize("strategy", [RECENCY, TURNS, IMPORTANCE], ids=pb.PruneStrategy.Name)
EACH_STRATEGY = pytest.mark.parametrize("strategy", [RECENCY, TURNS, WINDOW, IMPORTANCE], ids=pb.PruneStrategy.Name)


def tokens_of(conversation: Conversation, *ids: str) -> int:
    return sum(message.tokens for message in conversation.messages() if message.id in ids)


def test_recency_keeps_system_messages_and_as_many_of_the_newest_as_fit(conversation: Conversation) -> None:
    conversation.system("be kind", id="s")
    conversation.add_turns(4)
    answer = conversation.prune(tokens_of(conversation, "s", "a3", "q4", "a4"))
    assert conversation.ids() == ["s", "a3", "q4", "a4"]
    assert list(answer.removed_ids) == ["q1", "a1", "q2", "a2", "q3"]


def test_the_default_strategy_is_recency(conversation: Conversation) -> None:
    conversation.add_turns(4)
    conversation.prune(tokens_of(conversation, "a3", "q4", "a4"))
    assert conversation.ids() == ["a3", "q4", "a4"]


def test_turns_keeps_whole_turns_and_system_messages(conversation: Conversation) -> None:
    conversation.system("be kind", id="s")
    conversation.add_turns(4)
    answer = conversation.prune(tokens_of(conversation, "s", "a3", "q4", "a4"), strategy=TURNS)
    assert conversation.ids() == ["s", "q4", "a4"]
    assert list(answer.removed_ids) == ["q1", "a1", "q2", "a2", "q3", "a3"]


def test_window_keeps_the_newest_messages_whatever_their_tokens(conversation: Conversation) -> None:
    conversation.system("be kind", id="s")
    conversation.add_turns(4)
    answer = conversation.prune(strategy=WINDOW, window=3)
    assert conversation.ids() == ["s", "a3", "q4", "a4"]
    assert not answer.over_budget


def test_the_default_window_is_five_messages(conversation: Conversation) -> None:
    conversation.add_turns(4)
    conversation.prune(strategy=WINDOW)
    assert conversation.ids() == ["a2", "q3", "a3", "q4", "a4"]


def test_importance_keeps_tagged_messages_over_newer_ones(conversation: Conversation) -> None:
    conversation.add_turns(4)
    conversation.annotate("a1", {"important": True})
    conversation.prune(tokens_of(conversation, "a1", "a3", "q4", "a4"), strategy=IMPORTANCE)
    assert "a1" in conversation.ids()
    assert conversation.ids()[-2:] == ["q4", "a4"]


def test_importance_keeps_a_good_answer_over_a_bad_one_of_its_age(conversation: Conversation) -> None:
    for at, name in enumerate(("good", "bad", "worse", "last")):
        conversation.assistant(f"{name} words", id=name, evaluation_score=10 if at == 0 else 0)
    conversation.add_turns(3)
    conversation.prune(conversation.count().tokens - 1, strategy=IMPORTANCE)
    assert conversation.ids()[:3] == ["good", "worse", "last"]


@EACH_STRATEGY
def test_a_call_is_never_separated_from_its_results(conversation: Conversation, strategy: pb.PruneStrategy) -> None:
    conversation.add_turns(1)
    conversation.add_tool_call("c1", "c2", id="call")
    conversation.add_tool_result("c1", "first result", id="r1")
    conversation.add_tool_result("c2", "second result", id="r2")
    conversation.assistant("done", id="done")
    exchange = {"call", "r1", "r2"}
    conversation.prune(tokens_of(conversation, "r2", "done"), strategy=strategy, window=2)
    assert exchange <= set(conversation.ids()), "r2 is among the newest two, so all of the exchange stays"
    conversation.add("next", id="next")
    conversation.prune(1, strategy=strategy, window=1, min_messages=1)
    assert not exchange & set(conversation.ids())


def test_an_open_call_is_pruned_with_its_results_or_not_at_all(conversation: Conversation) -> None:
    conversation.add_tool_call("c1", "c2", id="open")
    conversation.add_tool_result("c1", "one of two", id="r1")
    conversation.add_turns(2)
    conversation.prune(tokens_of(conversation, "r1", "q1", "a1", "q2", "a2"))
    assert not {"open", "r1"} & set(conversation.ids())


def test_a_response_has_the_tokens_before_and_after(conversation: Conversation) -> None:
    conversation.add_turns(3)
    before = conversation.count().tokens
    answer = conversation.prune(tokens_of(conversation, "q3", "a3"))
    after = conversation.count()
    assert (answer.removed_count, list(answer.removed_ids)) == (4, ["q1", "a1", "q2", "a2"])
    assert (answer.tokens_before, answer.tokens_after) == (before, after.tokens)
    assert (answer.remaining_count, answer.over_budget) == (after.message_count, False)
    assert (after.message_count, after.pruned_count) == (2, 4)


@EACH_STRATEGY
def test_a_dry_run_returns_the_same_and_changes_nothing(conversation: Conversation, strategy: pb.PruneStrategy) -> None:
    conversation.add_turns(4)
    fields: dict[str, Any] = {"max_tokens": tokens_of(conversation, "q4", "a4"), "strategy": strategy}
    planned = conversation.prune(**fields, dry_run=True)
    assert (len(conversation.ids()), conversation.count().pruned_count) == (8, 0)
    assert conversation.prune(**fields) == planned
    assert planned.removed_count > 0


@EACH_STRATEGY
def test_pruning_again_changes_nothing(conversation: Conversation, strategy: pb.PruneStrategy) -> None:
    conversation.add_turns(4)
    conversation.prune(30, strategy=strategy)
    left = conversation.ids()
    again = conversation.prune(30, strategy=strategy)
    assert (again.removed_count, again.tokens_before) == (0, again.tokens_after)
    assert conversation.ids() == left


@BY_TOKENS
def test_a_session_within_its_budget_is_not_pruned(conversation: Conversation, strategy: pb.PruneStrategy) -> None:
    conversation.add_turns(2)
    tokens = conversation.count().tokens
    answer = conversation.prune(tokens, strategy=strategy)
    assert answer == pb.PruneResponse(tokens_before=tokens, tokens_after=tokens, remaining_count=4)


@BY_TOKENS
def test_the_newest_two_stay_even_when_they_exceed_the_budget(
    conversation: Conversation, strategy: pb.PruneStrategy
) -> None:
    conversation.add_turns(3)
    answer = conversation.prune(1, strategy=strategy)
    assert conversation.ids() == ["q3", "a3"]
    assert answer.over_budget


@EACH_STRATEGY
def test_min_messages_of_the_newest_stay(conversation: Conversation, strategy: pb.PruneStrategy) -> None:
    conversation.add_turns(4)
    conversation.prune(1, strategy=strategy, window=1, min_messages=4)
    assert conversation.ids() == ["q3", "a3", "q4", "a4"]


@BY_TOKENS
def test_system_messages_stay_even_when_they_exceed_the_budget(
    conversation: Conversation, strategy: pb.PruneStrategy
) -> None:
    conversation.system("be kind " * 50, id="s1")
    conversation.add_turns(2)
    conversation.system("be brief", id="s2")
    conversation.add("the end", id="end")
    answer = conversation.prune(1, strategy=strategy)
    assert conversation.ids() == ["s1", "s2", "end"]
    assert answer.over_budget


def test_a_budget_can_be_counted_by_a_model(conversation: Conversation) -> None:
    conversation.add_turns(4)
    half = conversation.count("claude-estimated").tokens // 2
    answer = conversation.prune(half, model="claude-estimated")
    assert answer.tokens_after == conversation.count("claude-estimated").tokens <= half
    assert answer.tokens_before > half


def test_a_retry_of_a_pruned_message_is_a_duplicate(conversation: Conversation) -> None:
    conversation.add("first", id="m", metadata=tagged({"a": 1}))
    conversation.add_turns(2)
    conversation.prune(1)
    again = conversation.add("first", id="m")
    assert (again.duplicate, again.sequence) == (True, 1)
    assert "m" not in conversation.ids()


def test_an_unknown_session_has_nothing_to_prune(conversation: Conversation) -> None:
    assert conversation.prune(100) == pb.PruneResponse()


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"max_tokens": 0}, "max_tokens"),
        ({"max_tokens": -5}, "max_tokens"),
        ({"strategy": WINDOW, "window": -1}, "window"),
        ({"max_tokens": 5, "min_messages": -1}, "min_messages"),
    ],
)
def test_an_invalid_request_is_refused(conversation: Conversation, fields: dict[str, Any], field: str) -> None:
    conversation.add_turns(1)
    refused = refusal(lambda: conversation.prune(**fields))
    assert (refused.code, refused.field) == (grpc.StatusCode.INVALID_ARGUMENT, field)


def add_fact_and_turns(conversation: Conversation) -> None:
    conversation.add("We moved to Lisbon in May 2024.", id="fact")
    conversation.add_turns(3)


@EACH_STRATEGY
def test_a_summary_covers_the_pruned_messages(conversation: Conversation, strategy: pb.PruneStrategy) -> None:
    add_fact_and_turns(conversation)
    answer = conversation.prune(1, strategy=strategy, window=2, summarize=True)
    summary = conversation.summary()
    assert summary is not None and answer.summary_id == summary.id != ""
    pruned = [
        message.sequence for message in conversation.messages(include_pruned=True) if message.id in answer.removed_ids
    ]
    assert summary.first_sequence <= min(pruned) and max(pruned) <= summary.last_sequence
    assert "Lisbon" in summary.text and 0 < summary.tokens <= 400
    assert (answer.removed_count, conversation.ids()) == (5, ["q3", "a3"])


def test_a_later_summary_covers_all_pruned_messages(conversation: Conversation) -> None:
    add_fact_and_turns(conversation)
    first = conversation.prune(1, summarize=True)
    conversation.add("Our cat is called Schmidt.", id="cat")
    conversation.add("And what else?", id="q4")
    conversation.add("Nothing, thanks.", id="a4")
    second = conversation.prune(1, summarize=True)
    summary = conversation.summary()
    assert summary is not None and summary.id == second.summary_id != first.summary_id
    assert (summary.first_sequence, summary.last_sequence) == (1, 8)
    assert "Lisbon" in summary.text and "Schmidt" in summary.text


def test_a_dry_run_makes_no_summary(conversation: Conversation) -> None:
    add_fact_and_turns(conversation)
    planned = conversation.prune(1, summarize=True, dry_run=True)
    assert (planned.removed_count, planned.summary_id, conversation.summary()) == (5, "", None)
    assert len(conversation.ids()) == 7


def test_a_prune_that_removes_nothing_makes_no_summary(conversation: Conversation) -> None:
    add_fact_and_turns(conversation)
    assert conversation.prune(10_000, summarize=True).summary_id == ""
    assert conversation.summary() is None


def test_a_prune_without_summarize_makes_no_summary(conversation: Conversation) -> None:
    add_fact_and_turns(conversation)
    assert conversation.prune(1).summary_id == ""
    assert conversation.summary() is None
