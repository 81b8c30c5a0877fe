"""SetPolicy: automatic pruning and summaries of sessions."""

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
from tests.scenarios.conversation import Conversation
from tests.support.process import Client, refusal


def set_policy(client: Client, policy: SessionPolicy | None, **names: Any) -> SessionPolicy:
    answer: SetPolicyResponse = client.sessions.SetPolicy(SetPolicyRequest(**names, policy=policy))
    return answer.policy


def policy_of(conversation: Conversation) -> SessionPolicy:
    policy: SessionPolicy = conversation.client.sessions.GetSession(
        GetSessionRequest(**conversation.scope_ids)
    ).session.policy
    return policy


def stats_of(conversation: Conversation) -> SessionStats:
    stats: SessionStats = conversation.client.sessions.GetSession(
        GetSessionRequest(**conversation.scope_ids)
    ).session.stats
    return stats


def automatic(tokens: int, **fields: Any) -> SessionPolicy:
    return SessionPolicy(auto_prune_tokens=tokens, strategy=pb.PRUNE_STRATEGY_RECENCY, **fields)


def add_messages(conversation: Conversation, count: int = 20) -> list[int]:
    """Add messages, and return the tokens of the window after each."""
    return [
        conversation.add(f"message {at} with some words in it", id=f"m{at}", return_session=True).session.tokens
        for at in range(count)
    ]


def test_a_session_over_its_budget_is_pruned_to_four_fifths_of_it(conversation: Conversation) -> None:
    set_policy(conversation.client, automatic(100), **conversation.scope_ids)
    tokens = add_messages(conversation)
    assert max(tokens) <= 100
    falls = [after for before, after in pairwise(tokens) if after < before]
    assert falls and all(60 < after <= 80 for after in falls)
    assert conversation.ids()[-1] == "m19"
    assert len(conversation.ids(include_pruned=True)) == 20


def test_a_session_under_its_budget_is_not_pruned(conversation: Conversation) -> None:
    set_policy(conversation.client, automatic(100_000), **conversation.scope_ids)
    add_messages(conversation)
    assert conversation.count().pruned_count == 0


def test_batches_and_interactions_are_pruned_too(conversation: Conversation) -> None:
    set_policy(conversation.client, automatic(100), **conversation.scope_ids)
    conversation.add_turns(20)
    assert conversation.count().tokens <= 80
    conversation.client.memory.StoreInteraction(
        pb.StoreInteractionRequest(**conversation.scope_ids, user_message="word " * 30, assistant_message="word " * 20)
    )
    assert conversation.count().tokens <= 80


def test_the_strategy_of_a_policy_is_applied(conversation: Conversation) -> None:
    set_policy(
        conversation.client,
        SessionPolicy(auto_prune_tokens=100, strategy=pb.PRUNE_STRATEGY_TURNS),
        **conversation.scope_ids,
    )
    for at in range(20):
        conversation.add(f"question {at} with some words", id=f"q{at}")
        conversation.assistant(f"answer {at} with some words", id=f"a{at}")
        assert conversation.ids()[0].startswith("q")


def test_stats_have_the_used_share_of_the_budget(conversation: Conversation) -> None:
    assert conversation.add("hello", return_session=True).session.budget_tokens == 0
    set_policy(conversation.client, automatic(200), **conversation.scope_ids)
    stats = conversation.count()
    assert (stats.budget_tokens, stats.budget_used) == (200, stats.tokens / 200)


def test_a_policy_without_a_budget_has_the_budget_of_its_model(conversation: Conversation) -> None:
    conversation.add("hello")
    set_policy(conversation.client, SessionPolicy(model="gpt-4o"), **conversation.scope_ids)
    assert conversation.count().budget_tokens == 16_000


def test_the_default_of_the_namespace_applies_to_sessions_without_a_policy(client: Client, namespace: str) -> None:
    before = Conversation(client, "before", namespace)
    before.add("hello")
    set_policy(client, automatic(100), namespace=namespace)
    own = Conversation(client, "own", namespace)
    set_policy(client, automatic(100_000), **own.scope_ids)
    later = Conversation(client, "later", namespace)
    for conversation in (before, own, later):
        add_messages(conversation)
    assert before.count().tokens <= 100 and later.count().tokens <= 100
    assert own.count().pruned_count == 0
    assert policy_of(before) == policy_of(later) == automatic(100)
    assert policy_of(own) == automatic(100_000)


def test_a_default_does_not_apply_to_other_namespaces(
    client: Client, namespace: str, conversation: Conversation
) -> None:
    set_policy(client, automatic(100), namespace=namespace)
    add_messages(conversation)
    assert conversation.count().pruned_count == 0


def test_a_policy_replaces_all_fields_of_the_previous_one(conversation: Conversation) -> None:
    set_policy(conversation.client, automatic(100, model="gpt-4"), **conversation.scope_ids)
    assert set_policy(conversation.client, automatic(200), **conversation.scope_ids) == automatic(200)
    assert policy_of(conversation) == automatic(200)


def test_a_session_whose_policy_is_removed_has_the_default(client: Client, namespace: str) -> None:
    set_policy(client, automatic(100), namespace=namespace)
    conversation = Conversation(client, "s", namespace)
    set_policy(client, automatic(100_000), **conversation.scope_ids)
    assert set_policy(client, None, **conversation.scope_ids) == automatic(100)
    assert policy_of(conversation) == automatic(100)
    add_messages(conversation)
    assert conversation.count().tokens <= 100


def test_a_namespace_whose_default_is_removed_prunes_nothing(client: Client, namespace: str) -> None:
    set_policy(client, automatic(100), namespace=namespace)
    set_policy(client, None, namespace=namespace)
    conversation = Conversation(client, "s", namespace)
    add_messages(conversation)
    assert conversation.count().pruned_count == 0


def test_a_policy_outlives_a_clear(conversation: Conversation) -> None:
    set_policy(conversation.client, automatic(100), **conversation.scope_ids)
    conversation.add_turns(3)
    conversation.clear()
    assert policy_of(conversation) == automatic(100)
    assert max(add_messages(conversation)) <= 100


def test_a_budget_is_counted_by_the_tokenizer_of_the_policys_model(conversation: Conversation) -> None:
    set_policy(conversation.client, automatic(100, model="claude-estimated"), **conversation.scope_ids)
    for at in range(20):
        conversation.add("x" * 40, id=f"m{at}")
        assert conversation.count("claude-estimated").tokens <= 100
    assert conversation.count().pruned_count > 0


def test_the_used_share_of_a_budget_is_counted_by_the_tokenizer_of_the_policys_model(
    conversation: Conversation,
) -> None:
    """Each response has the same share, and it reaches 1 where the session is pruned."""
    model = "claude-charged-twice"
    for _ in range(4):
        usage = pb.ReportUsageRequest(model=model, estimated_tokens=100, actual_tokens=200)
        conversation.client.memory.ReportUsage(usage)
    set_policy(conversation.client, automatic(100, model=model), **conversation.scope_ids)
    shares, pruned = [], []
    for at in range(30):
        answer = conversation.add(f"hello world again and again {at}", return_session=True)
        by_model = conversation.count(model)
        assert (answer.session.budget_tokens, answer.session.budget_used) == (100, by_model.tokens / 100)
        assert answer.session.tokens == conversation.count().tokens < by_model.tokens
        assert (
            by_model.budget_used
            == conversation.count().budget_used
            == stats_of(conversation).budget_used
            == by_model.tokens / 100
        )
        shares.append(answer.session.budget_used)
        pruned.append(answer.session.pruned_count)
    falls = [before for before, after in pairwise(shares) if after < before]
    assert falls and min(falls) > 0.85 and max(shares) <= 1.0
    assert pruned[-1] > 0


def test_batches_and_interactions_return_the_same_share_before_and_after_a_prune(conversation: Conversation) -> None:
    set_policy(conversation.client, automatic(100_000, model="claude-estimated"), **conversation.scope_ids)
    turn = pb.StoreInteractionRequest(
        **conversation.scope_ids, user_message="word " * 30, assistant_message="word " * 20
    )
    batch = [Message(role=ROLE_USER, content="x" * 40)] * 10
    for add in (lambda: conversation.add_batch(*batch), lambda: conversation.client.memory.StoreInteraction(turn)) * 2:
        assert add().session.budget_used == conversation.count("claude-estimated").tokens / 100_000
        conversation.prune(100)
        assert stats_of(conversation).budget_used == conversation.count("claude-estimated").tokens / 100_000


def test_the_budget_of_a_model_is_in_tokens_of_the_model(conversation: Conversation) -> None:
    conversation.add("x" * 400)
    counted = conversation.count("claude-estimated")
    assert counted.budget_used == counted.tokens / counted.budget_tokens
    set_policy(conversation.client, SessionPolicy(model="claude-estimated"), **conversation.scope_ids)
    added = conversation.add("y" * 400, return_session=True).session
    by_model = conversation.count("claude-estimated")
    assert added.tokens != by_model.tokens
    assert added.budget_used == by_model.budget_used == by_model.tokens / by_model.budget_tokens


def test_a_policys_budget_without_a_model_is_in_default_tokens_for_each_model(conversation: Conversation) -> None:
    conversation.add("x" * 400)
    set_policy(conversation.client, automatic(1_000), **conversation.scope_ids)
    stats = conversation.count("claude-estimated")
    assert stats.tokens != conversation.count().tokens
    assert stats.budget_used == conversation.count().budget_used == conversation.count().tokens / 1_000


def test_listed_sessions_have_the_same_share_as_single_ones(client: Client, namespace: str) -> None:
    set_policy(client, automatic(1_000, model="claude-estimated"), namespace=namespace)
    talks = [Conversation(client, name, namespace) for name in "abc"]
    for count, conversation in enumerate(talks, 1):
        conversation.add_turns(count)
    listed = client.sessions.ListSessions(ListSessionsRequest(namespace=namespace)).sessions
    shares = [conversation.count("claude-estimated").tokens / 1_000 for conversation in talks]
    assert [session.stats.budget_used for session in listed] == shares[::-1]


def test_a_policy_with_summarize_summarizes_pruned_messages(conversation: Conversation) -> None:
    """There are fewer messages than the background task needs for a summary."""
    set_policy(conversation.client, automatic(60, summarize=True), **conversation.scope_ids)
    assert policy_of(conversation) == automatic(60, summarize=True)
    conversation.add("We moved to Lisbon in May 2024.", id="fact")
    add_messages(conversation, 9)
    gone = [
        message.sequence
        for message in conversation.messages(include_pruned=True)
        if message.id not in conversation.ids()
    ]
    summary = conversation.summary()
    assert gone[0] == 1 and summary is not None
    assert summary.first_sequence == 1 and max(gone) <= summary.last_sequence
    assert "Lisbon" in summary.text


def test_a_policy_without_summarize_makes_no_summary(conversation: Conversation) -> None:
    set_policy(conversation.client, automatic(60), **conversation.scope_ids)
    add_messages(conversation, 9)
    assert conversation.count().pruned_count > 0
    assert conversation.summary() is None


def test_a_policy_that_prunes_nothing_makes_no_summary(conversation: Conversation) -> None:
    set_policy(conversation.client, SessionPolicy(summarize=True), **conversation.scope_ids)
    add_messages(conversation, 9)
    assert (conversation.count().pruned_count, conversation.summary()) == (0, None)


def test_an_invalid_budget_or_strategy_is_refused(conversation: Conversation) -> None:
    assert (
        refusal(lambda: set_policy(conversation.client, automatic(-1), **conversation.scope_ids)).field
        == "policy.auto_prune_tokens"
    )
    odd = SessionPolicy.FromString(b"\x10\x63")  # strategy 99
    assert refusal(lambda: set_policy(conversation.client, odd, **conversation.scope_ids)).field == "policy.strategy"
