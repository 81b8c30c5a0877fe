"""Summaries by a model: a valid answer is used, and an invalid one changes nothing."""

from collections.abc import Iterator
from pathlib import Path
from threading import Event

import pytest

from memsidecar.v1.knowledge_pb2 import Summary
from tests.context_wire.agent import Agent, degradations, new_agent, stored_messages
from tests.context_wire.summary_model import (
    ANSWERS,
    FAILURES,
    GOOD,
    NAME,
    add_turns_about_huts,
    good,
    of_summaries,
    twice_as_long,
    with_model,
)
from tests.language.model_server import ModelServer, answer_with
from tests.support.process import SidecarProcess
from tests.support.waiting import until

BETTER = "The user asked about many huts, and which of them has how many beds."


@pytest.fixture(scope="module")
def server() -> Iterator[ModelServer]:
    with ModelServer(always=good) as running:
        yield running


@pytest.fixture(scope="module")
def sidecar(tmp_path_factory: pytest.TempPathFactory, server: ModelServer) -> Iterator[SidecarProcess]:
    with with_model(tmp_path_factory.mktemp("model") / "data", server) as running:
        yield running


@pytest.fixture
def agent(sidecar: SidecarProcess, server: ModelServer) -> Iterator[Agent]:
    server.always = good
    with sidecar.client() as client:
        yield new_agent(client, user=True)


def wait_for_summary(agent: Agent, last: int = 6) -> Summary:
    """Wait for a summary that covers the messages up to `last`."""
    until(lambda: (found := agent.summary()) is not None and found.last_sequence >= last)
    found = agent.summary()
    assert found is not None
    return found


def test_a_valid_answer_is_used_with_the_name_of_the_model(agent: Agent) -> None:
    add_turns_about_huts(agent, 6)
    found = wait_for_summary(agent)
    assert (found.text, found.origin, found.first_sequence, found.last_sequence) == (GOOD, NAME, 1, 6)
    built = agent.build_recent()
    assert GOOD in built.memory_text and [message.sequence for message in stored_messages(built.messages)] == list(
        range(7, 13)
    )


@pytest.mark.parametrize("answer", list(ANSWERS))
def test_an_answer_that_is_no_summary_changes_nothing(agent: Agent, server: ModelServer, answer: str) -> None:
    add_turns_about_huts(agent, 6)
    before = wait_for_summary(agent)
    server.always = of_summaries(answer_with(ANSWERS[answer]))
    add_turns_about_huts(agent, 10, first=6)
    assert agent.summarize() == before
    assert agent.summary() == before and before.text in agent.build_recent().memory_text
    server.always = of_summaries(answer_with(BETTER))
    add_turns_about_huts(agent, 1, first=16)
    after = wait_for_summary(agent, last=20)
    assert (after.text, after.origin, after.first_sequence) == (BETTER, NAME, 1)


@pytest.mark.parametrize("answer", list(ANSWERS))
def test_the_first_summary_is_made_without_the_model(agent: Agent, server: ModelServer, answer: str) -> None:
    server.always = of_summaries(answer_with(ANSWERS[answer]))
    add_turns_about_huts(agent, 6)
    found = wait_for_summary(agent)
    assert found.origin == "extractive" and "ut" in found.text


def test_an_answer_that_is_too_long_is_truncated_at_a_sentence_or_not_used(agent: Agent, server: ModelServer) -> None:
    add_turns_about_huts(agent, 6)
    before = wait_for_summary(agent)
    server.always = twice_as_long()
    add_turns_about_huts(agent, 10, first=6)
    found = agent.summarize()
    assert found is not None and found.tokens <= 400
    assert found == before or (found.text.endswith("beds.") and found.last_sequence == 32)


@pytest.mark.parametrize("failure", list(FAILURES))
def test_a_failing_model_changes_nothing(tmp_path: Path, failure: str) -> None:
    """Each case has its own sidecar: after failures the circuit breaker is open for half a minute."""
    release = Event()
    with ModelServer(always=good) as server, with_model(tmp_path / "data", server, failure=failure) as sidecar:
        with sidecar.client() as client:
            agent, new = new_agent(client, user=True), new_agent(client, user=True)
            add_turns_about_huts(agent, 6)
            before = wait_for_summary(agent)
            server.always = FAILURES[failure](release)
            add_turns_about_huts(agent, 10, first=6)
            assert agent.summarize() == before
            built = agent.build_recent(seconds=2)
            assert agent.summary() == before and before.text in built.memory_text
            until(lambda: "STALE" in degradations(agent.build(seconds=2)))
            add_turns_about_huts(new, 6)
            assert wait_for_summary(new).origin == "extractive"
        release.set()
