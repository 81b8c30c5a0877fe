"""Count and ReportUsage: how much a session holds, for which model, corrected by what the provider charged."""

from pathlib import Path
from uuid import uuid4

import pytest

from memsidecar.v1 import memory_pb2 as pb
from memsidecar.v1.message_pb2 import RoleNumbers, SessionStats
from tests.scenarios.talk import Talk
from tests.support.process import Client, SidecarProcess, refusal

PROSE = "Der schnelle braune Fuchs springt über den faulen Hund, and 天気がいい today. " * 10


def report(client: Client, model: str, estimated: int, actual: int, namespace: str = "") -> float:
    request = pb.ReportUsageRequest(namespace=namespace, model=model, estimated_tokens=estimated, actual_tokens=actual)
    answer: pb.ReportUsageResponse = client.memory.ReportUsage(request)
    return answer.factor


@pytest.fixture
def model() -> str:
    """An estimated model that no other test has taught anything."""
    return f"claude-{uuid4()}"


def test_messages_and_tokens_are_counted_by_role(talk: Talk) -> None:
    tokens = {
        "system": talk.system("be brief").tokens,
        "user": talk.say("what is the weather in Paris?").tokens + talk.say("and in Rome?").tokens,
        "assistant": talk.call("c").tokens,
        "tool": talk.answer("c", "rain, all day").tokens,
    }
    stats = talk.count()
    assert stats.count_by_role == RoleNumbers(system=1, user=2, assistant=1, tool=1)
    assert stats.tokens_by_role == RoleNumbers(**tokens)
    assert (stats.message_count, stats.tokens, stats.last_sequence) == (5, sum(tokens.values()), 5)


def test_an_unknown_session_counts_as_zero(talk: Talk) -> None:
    zero = SessionStats(count_by_role=RoleNumbers(), tokens_by_role=RoleNumbers())
    assert talk.count() == talk.count("gpt-4") == zero


def test_pruned_messages_are_counted_apart(talk: Talk) -> None:
    talk.turns(3)
    talk.prune(1)
    stats = talk.count()
    assert (stats.message_count, stats.pruned_count, stats.last_sequence) == (2, 4, 6)
    assert stats.tokens == sum(message.tokens for message in talk.messages())


def test_a_model_is_counted_by_its_own_tokenizer(talk: Talk) -> None:
    talk.say(PROSE)
    default = talk.count().tokens
    assert talk.count("gpt-4o").tokens == talk.count("openai/gpt-4o-2024-08-06").tokens == default
    assert talk.count("gpt-4").tokens > default
    stats = talk.count("gpt-4")
    assert (stats.tokens_by_role.user, stats.message_count) == (stats.tokens, 1)


def test_an_estimated_model_counts_four_characters_a_token(talk: Talk, model: str) -> None:
    talk.say("x" * 4000)
    assert 1000 <= talk.count(model).tokens <= 1010


def test_what_the_provider_charged_corrects_the_next_count(talk: Talk, model: str) -> None:
    talk.say("x" * 4000)
    before = talk.count(model).tokens
    assert report(talk.client, model, 1000, 1250) == pytest.approx(1.25)
    assert talk.count(model).tokens == pytest.approx(before * 1.25, rel=0.01)
    assert talk.count("claude-somebody-else").tokens == before


def test_reports_that_agree_keep_the_factor_and_others_move_it_there(client: Client, model: str) -> None:
    assert report(client, model, 1000, 1200) == pytest.approx(1.2)
    assert report(client, model, 1200, 1200) == pytest.approx(1.2)
    factors = [report(client, model, 1000, 1100) for _ in range(5)]
    assert factors == sorted(factors) and factors[-1] > 1.2


def test_the_factor_stays_between_a_half_and_two(client: Client) -> None:
    assert report(client, f"claude-{uuid4()}", 1, 1_000_000) == 2
    assert report(client, f"claude-{uuid4()}", 1_000_000, 1) == 0.5


@pytest.mark.parametrize("exact", ["gpt-4o", "gpt-4"])
def test_an_exact_model_stays_exact(talk: Talk, exact: str) -> None:
    talk.say(PROSE)
    before = talk.count(exact).tokens
    assert report(talk.client, exact, 100, 180) == 1
    assert talk.count(exact).tokens == before


def test_a_correction_belongs_to_its_namespace(client: Client, namespace: str, model: str) -> None:
    here, there = (Talk(client, "s", f"{namespace}-{at}") for at in ("here", "there"))
    here.say("x" * 4000)
    there.say("x" * 4000)
    before = there.count(model).tokens
    report(client, model, 100, 150, here.namespace)
    assert here.count(model).tokens > before
    assert there.count(model).tokens == before


def test_two_corrections_that_are_close_are_still_two(talk: Talk, model: str) -> None:
    talk.say("x" * 400_000)
    report(talk.client, model, 100_000, 107_600)
    first = talk.count(model).tokens
    factor = report(talk.client, model, 100_000, 101_500)
    assert 1.0825 < factor < 1.085
    assert talk.count(model).tokens == pytest.approx(first * factor / 1.076, abs=3)


def test_a_correction_survives_a_restart(data_dir: Path) -> None:
    with SidecarProcess(data_dir) as sidecar:
        with sidecar.client() as client:
            report(client, "claude-x", 100, 150)
            Talk(client, "s").say("x" * 4000)
            before = Talk(client, "s").count("claude-x").tokens
        assert sidecar.stop() == 0
        sidecar.start()
        with sidecar.client() as client:
            assert Talk(client, "s").count("claude-x").tokens == before
            assert report(client, "claude-x", 100, 100) == pytest.approx(1.5)


def test_a_report_without_a_model_or_without_tokens_is_refused(client: Client) -> None:
    assert refusal(lambda: report(client, "", 1, 1)).field == "model"
    assert refusal(lambda: report(client, "claude", 0, 1)).field == "estimated_tokens"
    assert refusal(lambda: report(client, "claude", 1, -1)).field == "actual_tokens"
