"""A conversation that fits is shown whole, without its summary."""

import pytest

from memsidecar.v1.context_pb2 import BuildContextResponse
from tests.context_wire.agent import Agent, new_agent, section_of, stored_messages
from tests.context_wire.summary_model import add_turns_about_huts
from tests.support.process import Client
from tests.support.waiting import until

TURNS = 30


@pytest.fixture
def agent(client: Client) -> Agent:
    """An agent with a conversation of about 700 tokens and its summary."""
    agent = new_agent(client)
    add_turns_about_huts(agent, TURNS)
    until(lambda: agent.summary() is not None)
    return agent


def shown_turns(built: BuildContextResponse) -> int:
    messages = stored_messages(built.messages)
    assert [message.sequence for message in messages] == list(range(2 * TURNS + 1 - len(messages), 2 * TURNS + 1))
    return len(messages) // 2


def has_summary(built: BuildContextResponse) -> bool:
    return bool(section_of(built, "SUMMARY").items)


@pytest.mark.parametrize("max_tokens", [2_000, 8_000, 32_000])
def test_it_is_shown_whole_if_it_fits(agent: Agent, max_tokens: int) -> None:
    built = agent.build(max_tokens=max_tokens)
    assert shown_turns(built) == TURNS and not has_summary(built)


def test_the_next_prompt_begins_with_it(agent: Agent) -> None:
    before = agent.build()
    add_turns_about_huts(agent, 1, first=TURNS)
    after = agent.build()
    stored = stored_messages(before.messages)
    assert stored_messages(after.messages)[: len(stored)] == stored


@pytest.mark.parametrize("fields", [{"max_tokens": 800}, {"context_fill": 0.0}])
def test_otherwise_the_summary_is_shown_and_the_newest_turns(agent: Agent, fields: dict[str, float]) -> None:
    built = agent.build(**fields)
    assert 0 < shown_turns(built) <= 15 and has_summary(built)


def test_the_system_prompt_takes_its_place(agent: Agent) -> None:
    prompt = " ".join(f"Rule {number}: be careful." for number in range(200))
    assert shown_turns(agent.build(max_tokens=3_000)) == TURNS
    built = agent.build(max_tokens=3_000, system_prompt=prompt)
    assert shown_turns(built) < TURNS and has_summary(built)


def test_a_pruned_conversation_keeps_its_summary(agent: Agent) -> None:
    agent.conversation.prune(max_tokens=300)
    built = agent.build()
    assert 0 < shown_turns(built) < TURNS and has_summary(built)
