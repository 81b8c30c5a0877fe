"""A policy prunes a session beyond its budget, and not before, for every strategy and model."""

from collections.abc import Iterator

import pytest

from memsidecar.v1 import memory_pb2 as pb
from memsidecar.v1.memory_pb2 import (
    PRUNE_STRATEGY_IMPORTANCE,
    PRUNE_STRATEGY_RECENCY,
    PRUNE_STRATEGY_TURNS,
    PRUNE_STRATEGY_WINDOW,
    PruneStrategy,
)
from memsidecar.v1.session_pb2 import SessionPolicy, SetPolicyRequest
from tests.scenarios.conversation import Conversation
from tests.support.process import CALL_SECONDS, Client, SidecarProcess

TURNS = 10
SAME_MODEL, OTHER_MODEL = "gpt-4o", "mistral-large"
STRATEGIES = (
    PRUNE_STRATEGY_RECENCY,
    PRUNE_STRATEGY_TURNS,
    PRUNE_STRATEGY_WINDOW,
    PRUNE_STRATEGY_IMPORTANCE,
)
each_strategy = pytest.mark.parametrize("strategy", STRATEGIES, ids=PruneStrategy.Name)
each_model = pytest.mark.parametrize("model", ["", SAME_MODEL, OTHER_MODEL])


@pytest.fixture(scope="module")
def sidecar(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SidecarProcess]:
    """A sidecar whose estimates for one of the models are half of the reported usage."""
    with SidecarProcess(tmp_path_factory.mktemp("sidecar") / "data") as running:
        with running.client() as client:
            usage = pb.ReportUsageRequest(model=OTHER_MODEL, estimated_tokens=100, actual_tokens=200)
            client.memory.ReportUsage(usage, timeout=CALL_SECONDS)
        yield running


@pytest.fixture(scope="module")
def client(sidecar: SidecarProcess) -> Iterator[Client]:
    with sidecar.client() as connected:
        yield connected


@pytest.fixture
def conversation(client: Client, request: pytest.FixtureRequest) -> Conversation:
    return Conversation(client, request.node.name)


def set_policy(conversation: Conversation, policy: SessionPolicy) -> None:
    request = SetPolicyRequest(session_id=conversation.session_id, policy=policy)
    conversation.client.sessions.SetPolicy(request, timeout=CALL_SECONDS)


def tokens_of_the_turns(client: Client, model: str) -> int:
    """Return the tokens of the turns, counted in a session without a policy."""
    measured = Conversation(client, "measured")
    if not measured.count().message_count:
        measured.add_turns(TURNS)
    return measured.count(model).tokens


def talk_with_policy(conversation: Conversation, strategy: PruneStrategy, model: str) -> int:
    """Add the turns under a policy whose budget they fill exactly; return the budget."""
    budget = tokens_of_the_turns(conversation.client, model)
    set_policy(conversation, SessionPolicy(auto_prune_tokens=budget, strategy=strategy, model=model))
    conversation.add_turns(TURNS)
    return budget


def test_the_models_of_these_tests_have_different_counts(client: Client) -> None:
    default, same, other = (tokens_of_the_turns(client, model) for model in ("", SAME_MODEL, OTHER_MODEL))
    assert same == default and other > default


@each_model
@each_strategy
def test_a_session_that_fills_its_budget_is_not_pruned(
    conversation: Conversation, strategy: PruneStrategy, model: str
) -> None:
    budget = talk_with_policy(conversation, strategy, model)
    stats = conversation.count(model)
    assert (stats.message_count, stats.pruned_count, stats.tokens) == (2 * TURNS, 0, budget)


@each_model
@each_strategy
def test_a_session_that_exceeds_its_budget_is_pruned(
    conversation: Conversation, strategy: PruneStrategy, model: str
) -> None:
    budget = talk_with_policy(conversation, strategy, model)
    answer = conversation.add("one more", return_session=True)
    stats = conversation.count(model)
    assert answer.session.pruned_count == stats.pruned_count > 0
    assert stats.tokens <= 0.8 * budget


@each_model
def test_the_window_strategy_waits_for_the_budget_and_then_keeps_its_window(
    conversation: Conversation, model: str
) -> None:
    talk_with_policy(conversation, PRUNE_STRATEGY_WINDOW, model)
    before = conversation.contents()
    conversation.add("one more")
    assert conversation.contents() == [*before, "one more"][-5:]


# -- explicit pruning


def test_the_window_strategy_with_overflow_and_without_a_budget_shortens_nothing(conversation: Conversation) -> None:
    report = "a line of a long report\n" * 500
    conversation.add_turns(3)
    conversation.add_tool_call("c1", id="call")
    conversation.add_tool_result("c1", report, id="result")
    answer = conversation.prune(strategy=PRUNE_STRATEGY_WINDOW, window=4, overflow=True)
    assert (list(answer.shortened_ids), answer.removed_count, answer.over_budget) == ([], 4, False)
    *_, last = conversation.messages()
    assert (last.content, last.synthetic) == (report, False)


def test_the_window_strategy_with_overflow_shortens_when_a_budget_is_passed(conversation: Conversation) -> None:
    conversation.add_turns(3)
    conversation.add_tool_call("c1", id="call")
    conversation.add_tool_result("c1", "a line of a long report\n" * 500, id="result")
    answer = conversation.prune(500, strategy=PRUNE_STRATEGY_WINDOW, window=4, overflow=True)
    assert list(answer.shortened_ids) == ["result"]
