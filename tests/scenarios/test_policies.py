"""SetPolicy: sessions that keep themselves in bounds."""

from itertools import pairwise
from typing import Any

from memsidecar.v1 import memory_pb2 as pb
from memsidecar.v1.message_pb2 import ROLE_USER, Message, SessionStats
from memsidecar.v1.session_pb2 import (
    GetSessionRequest,
    ListSessionsRequest,
    SessionPolicy,
    SetPolicyRequest,
    SetPolicyResponse,
)
from tests.scenarios.talk import Talk
from tests.support.process import Client, refusal


def set_policy(client: Client, policy: SessionPolicy | None, **names: Any) -> SessionPolicy:
    answer: SetPolicyResponse = client.sessions.SetPolicy(SetPolicyRequest(**names, policy=policy))
    return answer.policy


def policy_of(talk: Talk) -> SessionPolicy:
    policy: SessionPolicy = talk.client.sessions.GetSession(GetSessionRequest(**talk.names)).session.policy
    return policy


def stats_of(talk: Talk) -> SessionStats:
    stats: SessionStats = talk.client.sessions.GetSession(GetSessionRequest(**talk.names)).session.stats
    return stats


def automatic(tokens: int, **fields: Any) -> SessionPolicy:
    return SessionPolicy(auto_prune_tokens=tokens, strategy=pb.PRUNE_STRATEGY_RECENCY, **fields)


def chat(talk: Talk, count: int = 20) -> list[int]:
    """The window's tokens after each message."""
    return [
        talk.say(f"message {at} with some words in it", id=f"m{at}", return_session=True).session.tokens
        for at in range(count)
    ]


def test_a_session_that_passes_its_budget_is_pruned_to_four_fifths_of_it(talk: Talk) -> None:
    set_policy(talk.client, automatic(100), **talk.names)
    tokens = chat(talk)
    assert max(tokens) <= 100
    falls = [after for before, after in pairwise(tokens) if after < before]
    assert falls and all(60 < after <= 80 for after in falls)
    assert talk.ids()[-1] == "m19"
    assert len(talk.ids(include_pruned=True)) == 20


def test_a_session_under_its_budget_is_left_alone(talk: Talk) -> None:
    set_policy(talk.client, automatic(100_000), **talk.names)
    chat(talk)
    assert talk.count().pruned_count == 0


def test_batches_streams_and_interactions_are_kept_in_bounds_too(talk: Talk) -> None:
    set_policy(talk.client, automatic(100), **talk.names)
    talk.turns(20)
    assert talk.count().tokens <= 80
    talk.client.memory.StoreInteraction(
        pb.StoreInteractionRequest(**talk.names, user_message="word " * 30, assistant_message="word " * 20)
    )
    assert talk.count().tokens <= 80


def test_a_policy_chooses_its_strategy(talk: Talk) -> None:
    set_policy(talk.client, SessionPolicy(auto_prune_tokens=100, strategy=pb.PRUNE_STRATEGY_TURNS), **talk.names)
    for at in range(20):
        talk.say(f"question {at} with some words", id=f"q{at}")
        talk.assistant(f"answer {at} with some words", id=f"a{at}")
        assert talk.ids()[0].startswith("q")


def test_stats_tell_how_much_of_the_budget_is_in_use(talk: Talk) -> None:
    assert talk.say("hello", return_session=True).session.budget_tokens == 0
    set_policy(talk.client, automatic(200), **talk.names)
    stats = talk.count()
    assert (stats.budget_tokens, stats.budget_used) == (200, stats.tokens / 200)


def test_a_model_without_a_budget_of_the_policy_brings_its_own(talk: Talk) -> None:
    talk.say("hello")
    set_policy(talk.client, SessionPolicy(model="gpt-4o"), **talk.names)
    assert talk.count().budget_tokens == 16_000


def test_the_default_of_the_namespace_holds_for_sessions_without_a_policy(client: Client, namespace: str) -> None:
    before = Talk(client, "before", namespace)
    before.say("hello")
    set_policy(client, automatic(100), namespace=namespace)
    own = Talk(client, "own", namespace)
    set_policy(client, automatic(100_000), **own.names)
    later = Talk(client, "later", namespace)
    for talk in (before, own, later):
        chat(talk)
    assert before.count().tokens <= 100 and later.count().tokens <= 100
    assert own.count().pruned_count == 0
    assert policy_of(before) == policy_of(later) == automatic(100)
    assert policy_of(own) == automatic(100_000)


def test_a_default_does_not_reach_other_namespaces(client: Client, namespace: str, talk: Talk) -> None:
    set_policy(client, automatic(100), namespace=namespace)
    chat(talk)
    assert talk.count().pruned_count == 0


def test_a_policy_replaces_the_one_before_as_a_whole(talk: Talk) -> None:
    set_policy(talk.client, automatic(100, model="gpt-4"), **talk.names)
    assert set_policy(talk.client, automatic(200), **talk.names) == automatic(200)
    assert policy_of(talk) == automatic(200)


def test_a_session_whose_policy_is_taken_away_is_back_at_the_default(client: Client, namespace: str) -> None:
    set_policy(client, automatic(100), namespace=namespace)
    talk = Talk(client, "s", namespace)
    set_policy(client, automatic(100_000), **talk.names)
    assert set_policy(client, None, **talk.names) == automatic(100)
    assert policy_of(talk) == automatic(100)
    chat(talk)
    assert talk.count().tokens <= 100


def test_a_namespace_whose_default_is_taken_away_prunes_nothing(client: Client, namespace: str) -> None:
    set_policy(client, automatic(100), namespace=namespace)
    set_policy(client, None, namespace=namespace)
    talk = Talk(client, "s", namespace)
    chat(talk)
    assert talk.count().pruned_count == 0


def test_a_policy_outlives_a_clear(talk: Talk) -> None:
    set_policy(talk.client, automatic(100), **talk.names)
    talk.turns(3)
    talk.clear()
    assert policy_of(talk) == automatic(100)
    assert max(chat(talk)) <= 100


def test_a_budget_is_counted_by_the_tokenizer_of_the_policys_model(talk: Talk) -> None:
    set_policy(talk.client, automatic(100, model="claude-estimated"), **talk.names)
    for at in range(20):
        talk.say("x" * 40, id=f"m{at}")
        assert talk.count("claude-estimated").tokens <= 100
    assert talk.count().pruned_count > 0


def test_what_is_in_use_of_a_budget_is_counted_by_the_tokenizer_of_the_policys_model(talk: Talk) -> None:
    """Every answer says the same share, and it reaches 1 where the session prunes itself."""
    model = "claude-charged-twice"
    for _ in range(4):
        usage = pb.ReportUsageRequest(model=model, estimated_tokens=100, actual_tokens=200)
        talk.client.memory.ReportUsage(usage)
    set_policy(talk.client, automatic(100, model=model), **talk.names)
    shares, pruned = [], []
    for at in range(30):
        answer = talk.say(f"hello world again and again {at}", return_session=True)
        by_model = talk.count(model)
        assert (answer.session.budget_tokens, answer.session.budget_used) == (100, by_model.tokens / 100)
        assert answer.session.tokens == talk.count().tokens < by_model.tokens
        assert by_model.budget_used == talk.count().budget_used == stats_of(talk).budget_used == by_model.tokens / 100
        shares.append(answer.session.budget_used)
        pruned.append(answer.session.pruned_count)
    falls = [before for before, after in pairwise(shares) if after < before]
    assert falls and min(falls) > 0.85 and max(shares) <= 1.0
    assert pruned[-1] > 0


def test_batches_and_interactions_tell_the_same_share_before_and_after_a_prune(talk: Talk) -> None:
    set_policy(talk.client, automatic(100_000, model="claude-estimated"), **talk.names)
    turn = pb.StoreInteractionRequest(**talk.names, user_message="word " * 30, assistant_message="word " * 20)
    batch = [Message(role=ROLE_USER, content="x" * 40)] * 10
    for add in (lambda: talk.batch(*batch), lambda: talk.client.memory.StoreInteraction(turn)) * 2:
        assert add().session.budget_used == talk.count("claude-estimated").tokens / 100_000
        talk.prune(100)
        assert stats_of(talk).budget_used == talk.count("claude-estimated").tokens / 100_000


def test_the_budget_of_a_models_own_is_in_its_own_tokens(talk: Talk) -> None:
    talk.say("x" * 400)
    asked = talk.count("claude-estimated")
    assert asked.budget_used == asked.tokens / asked.budget_tokens
    set_policy(talk.client, SessionPolicy(model="claude-estimated"), **talk.names)
    told = talk.say("y" * 400, return_session=True).session
    by_model = talk.count("claude-estimated")
    assert told.tokens != by_model.tokens
    assert told.budget_used == by_model.budget_used == by_model.tokens / by_model.budget_tokens


def test_a_policys_budget_without_a_model_is_in_default_tokens_whoever_counts(talk: Talk) -> None:
    talk.say("x" * 400)
    set_policy(talk.client, automatic(1_000), **talk.names)
    stats = talk.count("claude-estimated")
    assert stats.tokens != talk.count().tokens
    assert stats.budget_used == talk.count().budget_used == talk.count().tokens / 1_000


def test_listed_sessions_tell_their_share_as_each_of_them_does(client: Client, namespace: str) -> None:
    set_policy(client, automatic(1_000, model="claude-estimated"), namespace=namespace)
    talks = [Talk(client, name, namespace) for name in "abc"]
    for count, talk in enumerate(talks, 1):
        talk.turns(count)
    listed = client.sessions.ListSessions(ListSessionsRequest(namespace=namespace)).sessions
    shares = [talk.count("claude-estimated").tokens / 1_000 for talk in talks]
    assert [one.stats.budget_used for one in listed] == shares[::-1]


def test_a_policy_that_asks_for_it_summarises_what_it_prunes(talk: Talk) -> None:
    """Fewer messages than the background would wait for before it makes a summary of its own."""
    set_policy(talk.client, automatic(60, summarize=True), **talk.names)
    assert policy_of(talk) == automatic(60, summarize=True)
    talk.say("We moved to Lisbon in May 2024.", id="told")
    chat(talk, 9)
    gone = [one.sequence for one in talk.messages(include_pruned=True) if one.id not in talk.ids()]
    summary = talk.summary()
    assert gone[0] == 1 and summary is not None
    assert summary.first_sequence == 1 and max(gone) <= summary.last_sequence
    assert "Lisbon" in summary.text


def test_a_policy_that_does_not_ask_for_it_summarises_nothing(talk: Talk) -> None:
    set_policy(talk.client, automatic(60), **talk.names)
    chat(talk, 9)
    assert talk.count().pruned_count > 0
    assert talk.summary() is None


def test_a_policy_that_prunes_nothing_summarises_nothing(talk: Talk) -> None:
    set_policy(talk.client, SessionPolicy(summarize=True), **talk.names)
    chat(talk, 9)
    assert (talk.count().pruned_count, talk.summary()) == (0, None)


def test_a_budget_or_strategy_that_makes_no_sense_is_refused(talk: Talk) -> None:
    assert refusal(lambda: set_policy(talk.client, automatic(-1), **talk.names)).field == "policy.auto_prune_tokens"
    odd = SessionPolicy.FromString(b"\x10\x63")  # strategy 99
    assert refusal(lambda: set_policy(talk.client, odd, **talk.names)).field == "policy.strategy"
