"""A conversation that fits is shown whole, without its summary."""

import pytest

from memsidecar.v1.context_pb2 import SECTION_WORKING, BuildContextResponse, SectionBudget
from memsidecar.v1.message_pb2 import ROLE_ASSISTANT
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
    messages = [message for message in stored_messages(built.messages) if message.sequence]  # no appended query
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


def test_an_appended_query_takes_its_place(agent: Agent) -> None:
    long = " ".join(f"Is rule {number} good?" for number in range(200))
    assert shown_turns(agent.build(max_tokens=3_000, query="Is it good?", append_query=True)) == TURNS
    assert shown_turns(agent.build(max_tokens=3_000, query=long, append_query=True)) < TURNS


def test_a_profile_takes_no_more_than_its_share(agent: Agent) -> None:
    profile = " ".join(f"Ann knows hut {number}." for number in range(1_000))
    assert shown_turns(agent.build(max_tokens=8_000, profile=profile)) == TURNS


@pytest.mark.parametrize("turns", [6, TURNS])
def test_a_disabled_conversation_leaves_its_summary(client: Client, turns: int) -> None:
    agent = new_agent(client)
    add_turns_about_huts(agent, turns)
    until(lambda: agent.summary() is not None)
    built = agent.build(sections=[SectionBudget(section=SECTION_WORKING, disabled=True)])
    assert not stored_messages(built.messages) and has_summary(built)


def test_facts_stay_when_a_summary_is_made_that_is_not_shown(client: Client) -> None:
    agent = new_agent(client, user=True)
    agent.conversation.add("My name is Ann Smith.")
    agent.until_known(("name", "Ann Smith"))
    add_turns_about_huts(agent, 12)
    until(lambda: agent.summary() is not None)
    built = agent.build()
    assert "name: Ann Smith" in built.memory_text and not has_summary(built)


def test_a_greeting_counts_as_a_turn(client: Client) -> None:
    agent = new_agent(client)
    agent.conversation.add("Hello!", ROLE_ASSISTANT)
    add_turns_about_huts(agent, 3)
    built = agent.build_recent(turns=3)
    assert [message.sequence for message in stored_messages(built.messages)] == list(range(2, 8))


def test_a_pruned_conversation_keeps_its_summary(agent: Agent) -> None:
    agent.conversation.prune(max_tokens=300)
    built = agent.build()
    assert 0 < shown_turns(built) < TURNS and has_summary(built)
