"""A model writes the summaries: a good answer is used, and whatever else it does makes nothing worse."""

from collections.abc import Iterator
from pathlib import Path
from threading import Event

import pytest

from memsidecar.v1.knowledge_pb2 import Summary
from tests.context_wire.agent import Agent, lacks, new_agent, spoken
from tests.context_wire.summary_model import (
    ANSWERS,
    FAILURES,
    GOOD,
    NAME,
    good,
    of_summaries,
    talk_of_huts,
    twice_as_long,
    with_model,
)
from tests.language.model_server import ModelServer, said
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


def summarised(agent: Agent, last: int = 6) -> Summary:
    """The summary, as soon as it speaks for everything up to a message."""
    until(lambda: (found := agent.summary()) is not None and found.last_sequence >= last)
    found = agent.summary()
    assert found is not None
    return found


def test_a_good_answer_is_used_and_names_the_model(agent: Agent) -> None:
    talk_of_huts(agent, 6)
    found = summarised(agent)
    assert (found.text, found.origin, found.first_sequence, found.last_sequence) == (GOOD, NAME, 1, 6)
    built = agent.build()
    assert GOOD in built.memory_text and [one.sequence for one in spoken(built.messages)] == list(range(7, 13))


@pytest.mark.parametrize("answer", list(ANSWERS))
def test_an_answer_that_is_no_summary_changes_nothing(agent: Agent, server: ModelServer, answer: str) -> None:
    talk_of_huts(agent, 6)
    before = summarised(agent)
    server.always = of_summaries(said(ANSWERS[answer]))
    talk_of_huts(agent, 10, first=6)
    assert agent.summarize() == before
    assert agent.summary() == before and before.text in agent.build().memory_text
    server.always = of_summaries(said(BETTER))
    talk_of_huts(agent, 1, first=16)
    after = summarised(agent, last=20)
    assert (after.text, after.origin, after.first_sequence) == (BETTER, NAME, 1)


@pytest.mark.parametrize("answer", list(ANSWERS))
def test_where_there_is_none_yet_one_is_made_without_the_model(agent: Agent, server: ModelServer, answer: str) -> None:
    server.always = of_summaries(said(ANSWERS[answer]))
    talk_of_huts(agent, 6)
    found = summarised(agent)
    assert found.origin == "extractive" and "ut" in found.text


def test_an_answer_of_twice_the_length_is_cut_at_a_sentence_or_not_used(agent: Agent, server: ModelServer) -> None:
    talk_of_huts(agent, 6)
    before = summarised(agent)
    server.always = twice_as_long()
    talk_of_huts(agent, 10, first=6)
    found = agent.summarize()
    assert found is not None and found.tokens <= 400
    assert found == before or (found.text.endswith("beds.") and found.last_sequence == 32)


@pytest.mark.parametrize("failure", list(FAILURES))
def test_a_model_that_fails_takes_nothing_away(tmp_path: Path, failure: str) -> None:
    """A sidecar each: one that was failed by its model does not ask it for half a minute."""
    release = Event()
    with ModelServer(always=good) as server, with_model(tmp_path / "data", server, failure=failure) as sidecar:
        with sidecar.client() as client:
            agent, new = new_agent(client, user=True), new_agent(client, user=True)
            talk_of_huts(agent, 6)
            before = summarised(agent)
            server.always = FAILURES[failure](release)
            talk_of_huts(agent, 10, first=6)
            assert agent.summarize() == before
            built = agent.build(seconds=2)
            assert agent.summary() == before and before.text in built.memory_text
            until(lambda: "STALE" in lacks(agent.build(seconds=2)))
            talk_of_huts(new, 6)
            assert summarised(new).origin == "extractive"
        release.set()
