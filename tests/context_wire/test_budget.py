"""The budget is respected over the wire, for any session, request and model."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memsidecar.v1.context_pb2 import (
    INCLUSION_SHORTENED,
    BuildContextRequest,
    BuildContextResponse,
    Section,
    SectionBudget,
)
from memsidecar.v1.message_pb2 import ROLE_ASSISTANT, ROLE_SYSTEM, ROLE_TOOL, ROLE_USER, Message, ToolCall
from tests.context_wire.agent import Agent, new_agent, section_of
from tests.context_wire.invariants import check_exchanges, check_token_counts
from tests.context_wire.strategies import Scene, requests, scenes
from tests.scenarios.index_readiness import until_index_is_ready
from tests.support.process import Client, Refusal, SidecarProcess

LONG_LIVED = settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
# Facts that are extracted between two calls would change the context, so extraction is off.
FLAGS = ("--index", "volatile", "--facts-every-turns", "1000", "--facts-quiet-seconds", "86400", "--log-calls", "none")


@pytest.fixture(scope="module")
def sidecar(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SidecarProcess]:
    with SidecarProcess(tmp_path_factory.mktemp("budget") / "data", *FLAGS) as running:
        until_index_is_ready(running)
        yield running
        assert "Traceback" not in running.log()


def new_session(client: Client, scene: Scene) -> Agent:
    agent = new_agent(client)
    agent.conversation.add_batch(*scene.messages)
    if scene.facts:
        agent.knowledge_client.put_facts(*scene.facts)
    for content in scene.artifacts:
        agent.knowledge_client.put(content=content)
    if scene.prune_tokens:
        agent.conversation.prune(scene.prune_tokens)
    return agent


def within(agent: Agent, request: BuildContextRequest) -> BuildContextResponse:
    """Build the context; if the budget is too small, build it with exactly the required tokens."""
    try:
        return agent.built(request)
    except grpc.RpcError as error:
        refused = Refusal(error)
    assert (refused.code.name, refused.reason) == ("FAILED_PRECONDITION", "BUDGET_TOO_SMALL"), refused.message
    required = int(refused.metadata["required_tokens"])
    assert required > request.max_tokens
    request.max_tokens = required
    return agent.built(request)


@LONG_LIVED
@given(scene=scenes, field_sets=st.lists(requests(), min_size=1, max_size=4))
def test_the_token_count_matches_the_response_and_fits(
    client: Client, scene: Scene, field_sets: list[dict[str, Any]]
) -> None:
    agent = new_session(client, scene)
    window = agent.conversation.messages()
    asked = [one.id for one in window if one.role == ROLE_USER][-1:]
    newest = [one.id for one in window if one.role != ROLE_SYSTEM][-1:]
    for fields in field_sets:
        request = BuildContextRequest(**agent.names, **fields)
        built = within(agent, request)
        check_token_counts(request, built)
        check_exchanges([one for one in window if one.role != ROLE_SYSTEM], built)
        working = [section for section in request.sections if section.section == 9]
        if not (working and working[0].disabled):
            required = newest if request.append_query else [*asked, *newest]
            assert set(required) <= {message.id for message in built.messages}


@LONG_LIVED
@given(scene=scenes, fields=requests(), steps=st.lists(st.integers(1, 5_000), max_size=6))
def test_tool_exchanges_are_complete_at_every_budget(
    client: Client, scene: Scene, fields: dict[str, Any], steps: list[int]
) -> None:
    agent = new_session(client, scene)
    window = [message for message in agent.conversation.messages() if message.role != ROLE_SYSTEM]
    for budget in steps:
        request = BuildContextRequest(**agent.names, **{**fields, "max_tokens": budget})
        built = within(agent, request)
        check_token_counts(request, built)
        check_exchanges(window, built)


def test_the_largest_budget_works_with_the_largest_section_limits(data_dir: Path) -> None:
    with SidecarProcess(data_dir, "--working-max-tokens", "10000000") as sidecar, sidecar.client() as client:
        agent, most = new_agent(client), (1 << 31) - 1
        agent.conversation.add("Hello.")
        built = agent.build(max_tokens=most)
        assert (built.max_tokens, section_of(built, "WORKING").limit_tokens) == (most, most)


@pytest.mark.parametrize("tool_call_id", ["", "unknown call"])
def test_results_without_a_call_may_be_evicted_except_the_last(client: Client, tool_call_id: str) -> None:
    agent = new_agent(client)
    results = [Message(role=ROLE_TOOL, content=f"{n}7 rain", tool_call_id=tool_call_id) for n in range(1, 6)]
    agent.conversation.add_batch(Message(role=ROLE_USER, content="Weather in Porto?"), *results)
    built = within(agent, BuildContextRequest(**agent.names, max_tokens=5))
    assert [message.content for message in built.messages] == ["Weather in Porto?", "57 rain"]


def test_required_tokens_suffice_where_a_larger_budget_reads_more_turns(client: Client) -> None:
    """A larger budget reads more of the conversation, and the section's minimum makes that part mandatory."""
    agent = new_agent(client)
    for turn in range(8):
        agent.conversation.add(f"{turn} " + "and the weather in the north " * 12)
        agent.conversation.add_batch(
            Message(role=ROLE_ASSISTANT, content="It rains there, as it does everywhere. " * 6)
        )
    sections = [
        SectionBudget(section=Section.SECTION_WORKING, min_tokens=600),
        SectionBudget(section=Section.SECTION_SUMMARY, disabled=True),
    ]
    prompt = "word " * 3_000
    built = within(agent, BuildContextRequest(**agent.names, max_tokens=50, system_prompt=prompt, sections=sections))
    assert section_of(built, "WORKING").used_tokens >= 600


@pytest.mark.parametrize("max_tokens", [1_000, 100_000, 10_000_000])
def test_tool_results_that_fit_no_response_are_shown_as_previews(client: Client, max_tokens: int) -> None:
    agent = new_agent(client)
    calls = [ToolCall(id=f"c{n}", name="read", arguments_json="{}") for n in range(8)]
    agent.conversation.add_batch(
        Message(role=ROLE_USER, content="Read it all."), Message(role=ROLE_ASSISTANT, tool_calls=calls)
    )
    for call in calls:
        agent.conversation.add_batch(Message(role=ROLE_TOOL, content="x" * 600_000, tool_call_id=call.id))
    built = agent.build(max_tokens=max_tokens)
    assert [message.content for message in built.messages if message.role == ROLE_USER] == ["Read it all."]
    results = [message for message in built.messages if message.role == ROLE_TOOL]
    assert len(results) == len(calls)
    for result in results:
        assert f"tokens left out; the whole is message {result.id}]" in result.content
    reasons = [item.reason for item in section_of(built, "WORKING").items]
    assert reasons.count(INCLUSION_SHORTENED) == len(calls)
