"""Count and ReportUsage: tokens of a session by model, corrected by the usage that the provider reported."""

from pathlib import Path
from uuid import uuid4

import pytest

from memsidecar.v1 import memory_pb2 as pb
from memsidecar.v1.context_pb2 import BuildContextRequest
from memsidecar.v1.message_pb2 import RoleNumbers, SessionStats
from tests.scenarios.conversation import Conversation
from tests.support.process import Client, SidecarProcess, refusal

PROSE = "Der schnelle braune Fuchs springt über den faulen Hund, and 天気がいい today. " * 10


def report(client: Client, model: str, estimated: int, actual: int, namespace: str = "") -> float:
    request = pb.ReportUsageRequest(namespace=namespace, model=model, estimated_tokens=estimated, actual_tokens=actual)
    answer: pb.ReportUsageResponse = client.memory.ReportUsage(request)
    return answer.factor


@pytest.fixture
def model() -> str:
    """Return an estimated model that no other test reports usage of.

    The word before the id matters: `claude-8` is a model of another family.
    """
    return f"claude-test-{uuid4()}"


def test_messages_and_tokens_are_counted_by_role(conversation: Conversation) -> None:
    tokens = {
        "system": conversation.system("be brief").tokens,
        "user": conversation.add("what is the weather in Paris?").tokens + conversation.add("and in Rome?").tokens,
        "assistant": conversation.add_tool_call("c").tokens,
        "tool": conversation.add_tool_result("c", "rain, all day").tokens,
    }
    stats = conversation.count()
    assert stats.count_by_role == RoleNumbers(system=1, user=2, assistant=1, tool=1)
    assert stats.tokens_by_role == RoleNumbers(**tokens)
    assert (stats.message_count, stats.tokens, stats.last_sequence) == (5, sum(tokens.values()), 5)


def test_an_unknown_session_counts_as_zero(conversation: Conversation) -> None:
    zero = SessionStats(count_by_role=RoleNumbers(), tokens_by_role=RoleNumbers())
    assert conversation.count() == conversation.count("gpt-4") == zero


def test_pruned_messages_are_counted_separately(conversation: Conversation) -> None:
    conversation.add_turns(3)
    conversation.prune(1)
    stats = conversation.count()
    assert (stats.message_count, stats.pruned_count, stats.last_sequence) == (2, 4, 6)
    assert stats.tokens == sum(message.tokens for message in conversation.messages())


def test_a_model_is_counted_by_its_own_tokenizer(conversation: Conversation) -> None:
    conversation.add(PROSE)
    default = conversation.count().tokens
    assert conversation.count("gpt-4o").tokens == conversation.count("openai/gpt-4o-2024-08-06").tokens == default
    assert conversation.count("gpt-4").tokens > default
    stats = conversation.count("gpt-4")
    assert (stats.tokens_by_role.user, stats.message_count) == (stats.tokens, 1)


def test_an_estimated_model_counts_no_less_than_o200k(conversation: Conversation, model: str) -> None:
    conversation.add("我们把发布时间从星期二改到了星期四。" * 40)
    exact = conversation.count("gpt-4o").tokens
    assert 1.4 * exact < conversation.count(model).tokens < 1.8 * exact


def test_an_unknown_model_is_answered_with_a_warning_and_the_nearest_name(conversation: Conversation) -> None:
    conversation.add(PROSE)
    request = BuildContextRequest(session_id=conversation.session_id, model="gpt4o")
    receipt = conversation.client.memory.BuildContext(request).receipt
    assert (receipt.tokenizer, receipt.exact, receipt.nearest_model) == ("o200k_base estimate", False, "gpt-4o")
    assert len(receipt.warnings) == 1
    assert "'gpt4o'" in receipt.warnings[0] and "'gpt-4o'" in receipt.warnings[0]
    assert conversation.count("gpt4o").tokens == conversation.count("gpt-4o").tokens


@pytest.mark.parametrize("known", ["", "gpt-4o", "claude-sonnet-4-5", "normal"])
def test_a_known_model_is_answered_without_a_warning(conversation: Conversation, known: str) -> None:
    conversation.add(PROSE)
    request = BuildContextRequest(session_id=conversation.session_id, model=known)
    receipt = conversation.client.memory.BuildContext(request).receipt
    assert (list(receipt.warnings), receipt.nearest_model) == ([], "")


def test_an_unknown_name_without_a_similar_one_has_only_the_warning(conversation: Conversation) -> None:
    request = BuildContextRequest(session_id=conversation.session_id, model="our-own-tune")
    receipt = conversation.client.memory.BuildContext(request).receipt
    assert len(receipt.warnings) == 1 and receipt.nearest_model == ""


def test_reported_usage_corrects_the_next_count(conversation: Conversation, model: str) -> None:
    conversation.add("x" * 4000)
    before = conversation.count(model).tokens
    assert report(conversation.client, model, 1000, 1250) == pytest.approx(1.25)
    assert conversation.count(model).tokens == pytest.approx(before * 1.25, rel=0.01)
    assert conversation.count("claude-other").tokens == before


def test_reports_that_agree_keep_the_factor_and_others_change_it(client: Client, model: str) -> None:
    assert report(client, model, 1000, 1200) == pytest.approx(1.2)
    assert report(client, model, 1200, 1200) == pytest.approx(1.2)
    factors = [report(client, model, 1000, 1100) for _ in range(5)]
    assert factors == sorted(factors) and factors[-1] > 1.2


def test_the_factor_stays_between_a_half_and_two(client: Client) -> None:
    assert report(client, f"claude-{uuid4()}", 1, 1_000_000) == 2
    assert report(client, f"claude-{uuid4()}", 1_000_000, 500_000) == 0.5


def test_a_report_of_what_no_cache_had_is_ignored(client: Client, model: str) -> None:
    assert report(client, model, 1_988, 37) == 1
    assert report(client, model, 1_000, 1_200) == pytest.approx(1.2), "the first report that counts"


@pytest.mark.parametrize("exact", ["gpt-4o", "gpt-4"])
def test_an_exact_model_stays_exact(conversation: Conversation, exact: str) -> None:
    conversation.add(PROSE)
    before = conversation.count(exact).tokens
    assert report(conversation.client, exact, 100, 180) == 1
    assert conversation.count(exact).tokens == before


def test_a_correction_belongs_to_its_namespace(client: Client, namespace: str, model: str) -> None:
    here, there = (Conversation(client, "s", f"{namespace}-{at}") for at in ("here", "there"))
    here.add("x" * 4000)
    there.add("x" * 4000)
    before = there.count(model).tokens
    report(client, model, 100, 150, here.namespace)
    assert here.count(model).tokens > before
    assert there.count(model).tokens == before


def test_two_corrections_that_are_close_are_still_two(conversation: Conversation, model: str) -> None:
    conversation.add("x" * 400_000)
    report(conversation.client, model, 100_000, 107_600)
    first = conversation.count(model).tokens
    factor = report(conversation.client, model, 100_000, 101_500)
    assert 1.0825 < factor < 1.085
    assert conversation.count(model).tokens == pytest.approx(first * factor / 1.076, abs=3)


def test_a_correction_survives_a_restart(data_dir: Path) -> None:
    with SidecarProcess(data_dir) as sidecar:
        with sidecar.client() as client:
            report(client, "claude-x", 100, 150)
            Conversation(client, "s").add("x" * 4000)
            before = Conversation(client, "s").count("claude-x").tokens
        assert sidecar.stop() == 0
        sidecar.start()
        with sidecar.client() as client:
            assert Conversation(client, "s").count("claude-x").tokens == before
            assert report(client, "claude-x", 100, 100) == pytest.approx(1.5)


def test_a_report_without_a_model_or_without_tokens_is_refused(client: Client) -> None:
    assert refusal(lambda: report(client, "", 1, 1)).field == "model"
    assert refusal(lambda: report(client, "claude", 0, 1)).field == "estimated_tokens"
    assert refusal(lambda: report(client, "claude", 1, -1)).field == "actual_tokens"
