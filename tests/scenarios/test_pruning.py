"""Prune: a session comes under its budget, by each strategy, and nothing that belongs together is parted."""

from typing import Any

import grpc
import pytest

from memsidecar.v1 import memory_pb2 as pb
from tests.scenarios.talk import Talk, tagged
from tests.support.process import refusal

RECENCY = pb.PRUNE_STRATEGY_RECENCY
TURNS = pb.PRUNE_STRATEGY_TURNS
WINDOW = pb.PRUNE_STRATEGY_WINDOW
IMPORTANCE = pb.PRUNE_STRATEGY_IMPORTANCE
BY_TOKENS = pytest.mark.parametrize("strategy", [RECENCY, TURNS, IMPORTANCE], ids=pb.PruneStrategy.Name)
EVERY = pytest.mark.parametrize("strategy", [RECENCY, TURNS, WINDOW, IMPORTANCE], ids=pb.PruneStrategy.Name)


def tokens_of(talk: Talk, *ids: str) -> int:
    return sum(message.tokens for message in talk.messages() if message.id in ids)


def test_recency_keeps_system_messages_and_as_many_of_the_newest_as_fit(talk: Talk) -> None:
    talk.system("be kind", id="s")
    talk.turns(4)
    answer = talk.prune(tokens_of(talk, "s", "a3", "q4", "a4"))
    assert talk.ids() == ["s", "a3", "q4", "a4"]
    assert list(answer.removed_ids) == ["q1", "a1", "q2", "a2", "q3"]


def test_recency_is_meant_where_no_strategy_is_named(talk: Talk) -> None:
    talk.turns(4)
    talk.prune(tokens_of(talk, "a3", "q4", "a4"))
    assert talk.ids() == ["a3", "q4", "a4"]


def test_turns_keeps_whole_turns_and_system_messages(talk: Talk) -> None:
    talk.system("be kind", id="s")
    talk.turns(4)
    answer = talk.prune(tokens_of(talk, "s", "a3", "q4", "a4"), strategy=TURNS)
    assert talk.ids() == ["s", "q4", "a4"]
    assert list(answer.removed_ids) == ["q1", "a1", "q2", "a2", "q3", "a3"]


def test_window_keeps_the_newest_messages_whatever_their_tokens(talk: Talk) -> None:
    talk.system("be kind", id="s")
    talk.turns(4)
    answer = talk.prune(strategy=WINDOW, window=3)
    assert talk.ids() == ["s", "a3", "q4", "a4"]
    assert not answer.over_budget


def test_window_keeps_five_messages_where_no_number_was_given(talk: Talk) -> None:
    talk.turns(4)
    talk.prune(strategy=WINDOW)
    assert talk.ids() == ["a2", "q3", "a3", "q4", "a4"]


def test_importance_keeps_what_is_tagged_over_what_is_newer(talk: Talk) -> None:
    talk.turns(4)
    talk.annotate("a1", {"important": True})
    talk.prune(tokens_of(talk, "a1", "a3", "q4", "a4"), strategy=IMPORTANCE)
    assert "a1" in talk.ids()
    assert talk.ids()[-2:] == ["q4", "a4"]


def test_importance_keeps_a_good_answer_over_a_bad_one_of_its_age(talk: Talk) -> None:
    for at, name in enumerate(("good", "bad", "worse", "last")):
        talk.assistant(f"{name} words", id=name, evaluation_score=10 if at == 0 else 0)
    talk.turns(3)
    talk.prune(talk.count().tokens - 1, strategy=IMPORTANCE)
    assert talk.ids()[:3] == ["good", "worse", "last"]


@EVERY
def test_a_call_is_never_parted_from_its_results(talk: Talk, strategy: pb.PruneStrategy) -> None:
    talk.turns(1)
    talk.call("c1", "c2", id="call")
    talk.answer("c1", "first result", id="r1")
    talk.answer("c2", "second result", id="r2")
    talk.assistant("done", id="done")
    together = {"call", "r1", "r2"}
    talk.prune(tokens_of(talk, "r2", "done"), strategy=strategy, window=2)
    assert together <= set(talk.ids()), "r2 is among the newest two, so all of the exchange stays"
    talk.say("next", id="next")
    talk.prune(1, strategy=strategy, window=1, min_messages=1)
    assert not together & set(talk.ids())


def test_a_call_that_waits_for_its_answer_leaves_whole_or_stays(talk: Talk) -> None:
    talk.call("c1", "c2", id="open")
    talk.answer("c1", "one of two", id="r1")
    talk.turns(2)
    talk.prune(tokens_of(talk, "r1", "q1", "a1", "q2", "a2"))
    assert not {"open", "r1"} & set(talk.ids())


def test_an_answer_says_what_was_there_and_what_is_left(talk: Talk) -> None:
    talk.turns(3)
    before = talk.count().tokens
    answer = talk.prune(tokens_of(talk, "q3", "a3"))
    after = talk.count()
    assert (answer.removed_count, list(answer.removed_ids)) == (4, ["q1", "a1", "q2", "a2"])
    assert (answer.tokens_before, answer.tokens_after) == (before, after.tokens)
    assert (answer.remaining_count, answer.over_budget) == (after.message_count, False)
    assert (after.message_count, after.pruned_count) == (2, 4)


@EVERY
def test_a_dry_run_tells_the_same_and_changes_nothing(talk: Talk, strategy: pb.PruneStrategy) -> None:
    talk.turns(4)
    order: dict[str, Any] = {"max_tokens": tokens_of(talk, "q4", "a4"), "strategy": strategy}
    told = talk.prune(**order, dry_run=True)
    assert (len(talk.ids()), talk.count().pruned_count) == (8, 0)
    assert talk.prune(**order) == told
    assert told.removed_count > 0


@EVERY
def test_pruning_again_changes_nothing(talk: Talk, strategy: pb.PruneStrategy) -> None:
    talk.turns(4)
    talk.prune(30, strategy=strategy)
    left = talk.ids()
    again = talk.prune(30, strategy=strategy)
    assert (again.removed_count, again.tokens_before) == (0, again.tokens_after)
    assert talk.ids() == left


@BY_TOKENS
def test_a_session_that_fits_is_left_alone(talk: Talk, strategy: pb.PruneStrategy) -> None:
    talk.turns(2)
    tokens = talk.count().tokens
    answer = talk.prune(tokens, strategy=strategy)
    assert answer == pb.PruneResponse(tokens_before=tokens, tokens_after=tokens, remaining_count=4)


@BY_TOKENS
def test_the_newest_two_stay_even_when_they_exceed_the_budget(talk: Talk, strategy: pb.PruneStrategy) -> None:
    talk.turns(3)
    answer = talk.prune(1, strategy=strategy)
    assert talk.ids() == ["q3", "a3"]
    assert answer.over_budget


@EVERY
def test_as_many_of_the_newest_stay_as_the_caller_asks(talk: Talk, strategy: pb.PruneStrategy) -> None:
    talk.turns(4)
    talk.prune(1, strategy=strategy, window=1, min_messages=4)
    assert talk.ids() == ["q3", "a3", "q4", "a4"]


@BY_TOKENS
def test_system_messages_stay_even_when_they_exceed_the_budget(talk: Talk, strategy: pb.PruneStrategy) -> None:
    talk.system("be kind " * 50, id="s1")
    talk.turns(2)
    talk.system("be brief", id="s2")
    talk.say("the end", id="end")
    answer = talk.prune(1, strategy=strategy)
    assert talk.ids() == ["s1", "s2", "end"]
    assert answer.over_budget


def test_a_budget_can_be_counted_by_a_model(talk: Talk) -> None:
    talk.turns(4)
    half = talk.count("claude-estimated").tokens // 2
    answer = talk.prune(half, model="claude-estimated")
    assert answer.tokens_after == talk.count("claude-estimated").tokens <= half
    assert answer.tokens_before > half


def test_messages_that_were_pruned_are_known_to_a_retry(talk: Talk) -> None:
    talk.say("first", id="m", metadata=tagged({"a": 1}))
    talk.turns(2)
    talk.prune(1)
    again = talk.say("first", id="m")
    assert (again.duplicate, again.sequence) == (True, 1)
    assert "m" not in talk.ids()


def test_an_unknown_session_has_nothing_to_prune(talk: Talk) -> None:
    assert talk.prune(100) == pb.PruneResponse()


@pytest.mark.parametrize(
    ("order", "field"),
    [
        ({"max_tokens": 0}, "max_tokens"),
        ({"max_tokens": -5}, "max_tokens"),
        ({"strategy": WINDOW, "window": -1}, "window"),
        ({"max_tokens": 5, "min_messages": -1}, "min_messages"),
    ],
)
def test_an_order_that_makes_no_sense_is_refused(talk: Talk, order: dict[str, Any], field: str) -> None:
    talk.turns(1)
    refused = refusal(lambda: talk.prune(**order))
    assert (refused.code, refused.field) == (grpc.StatusCode.INVALID_ARGUMENT, field)


def tell_and_ask(talk: Talk) -> None:
    talk.say("We moved to Lisbon in May 2024.", id="told")
    talk.turns(3)


@EVERY
def test_a_summary_speaks_for_what_was_pruned(talk: Talk, strategy: pb.PruneStrategy) -> None:
    tell_and_ask(talk)
    answer = talk.prune(1, strategy=strategy, window=2, summarize=True)
    summary = talk.summary()
    assert summary is not None and answer.summary_id == summary.id != ""
    pruned = [one.sequence for one in talk.messages(include_pruned=True) if one.id in answer.removed_ids]
    assert summary.first_sequence <= min(pruned) and max(pruned) <= summary.last_sequence
    assert "Lisbon" in summary.text and 0 < summary.tokens <= 400
    assert (answer.removed_count, talk.ids()) == (5, ["q3", "a3"])


def test_what_is_pruned_later_is_spoken_for_with_what_was_pruned_before(talk: Talk) -> None:
    tell_and_ask(talk)
    first = talk.prune(1, summarize=True)
    talk.say("Our cat is called Schmidt.", id="cat")
    talk.say("And what else?", id="q4")
    talk.say("Nothing, thanks.", id="a4")
    second = talk.prune(1, summarize=True)
    summary = talk.summary()
    assert summary is not None and summary.id == second.summary_id != first.summary_id
    assert (summary.first_sequence, summary.last_sequence) == (1, 8)
    assert "Lisbon" in summary.text and "Schmidt" in summary.text


def test_a_dry_run_makes_no_summary(talk: Talk) -> None:
    tell_and_ask(talk)
    told = talk.prune(1, summarize=True, dry_run=True)
    assert (told.removed_count, told.summary_id, talk.summary()) == (5, "", None)
    assert len(talk.ids()) == 7


def test_where_nothing_is_pruned_nothing_is_summarised(talk: Talk) -> None:
    tell_and_ask(talk)
    assert talk.prune(10_000, summarize=True).summary_id == ""
    assert talk.summary() is None


def test_without_being_asked_a_prune_makes_no_summary(talk: Talk) -> None:
    tell_and_ask(talk)
    assert talk.prune(1).summary_id == ""
    assert talk.summary() is None
