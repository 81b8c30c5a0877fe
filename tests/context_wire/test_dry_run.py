"""A dry run of BuildContext answers like the call itself, and changes nothing that a later call sees."""

from collections.abc import Iterator

import pytest

from memsidecar.v1.context_pb2 import SECTION_EPISODIC, SECTION_WORKING, SectionBudget
from memsidecar.v1.message_pb2 import ROLE_ASSISTANT
from tests.context_wire.agent import Agent, new_agent, section_of
from tests.context_wire.summary_model import add_turns_about_huts
from tests.scenarios.knowledge_client import PROFILE, fact
from tests.support.process import Client, SidecarProcess
from tests.support.waiting import until

PROMPT = "My name is Priya Nair.\nI live in Lisbon."


@pytest.fixture(scope="module")
def sidecar(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SidecarProcess]:
    flags = ("--facts-quiet-seconds", "0.2", "--index-linger-ms", "10")
    with SidecarProcess(tmp_path_factory.mktemp("dry_runs") / "data", *flags) as running:
        yield running
        assert "Traceback" not in running.log()


def known_after_repeating_a_context(agent: Agent, *, dry_run: bool) -> set[tuple[str, str]]:
    """Build a context, add its text as a message of the user, and return what is known when it has been read."""
    agent.build(system_prompt=PROMPT, dry_run=dry_run)
    agent.conversation.add(PROMPT)
    agent.conversation.add("Noted.", ROLE_ASSISTANT)
    agent.conversation.add("I work at Northwind.")
    agent.until_known(("company", "Northwind"))
    return agent.known() - {("company", "Northwind")}


def test_facts_are_learned_from_a_message_that_repeats_a_dry_run(client: Client) -> None:
    said = {("name", "Priya Nair"), ("location", "Lisbon")}
    assert known_after_repeating_a_context(new_agent(client, user=True), dry_run=True) == said


def test_facts_are_not_learned_from_a_message_that_repeats_a_context(client: Client) -> None:
    assert known_after_repeating_a_context(new_agent(client, user=True), dry_run=False) == set()


def test_a_dry_run_answers_like_the_call_itself(client: Client) -> None:
    agent = new_agent(client, user=True)
    agent.knowledge_client.put_facts(fact("Priya Nair", PROFILE, "name"))
    add_turns_about_huts(agent, 6)
    until(lambda: agent.summary() is not None)
    sections = [SectionBudget(section=SECTION_WORKING, top_k=5), SectionBudget(section=SECTION_EPISODIC, disabled=True)]
    dry, real = (agent.build(sections=sections, dry_run=dry_run) for dry_run in (True, False))
    assert (dry.messages, dry.receipt) == (real.messages, real.receipt)
    assert section_of(dry, "SUMMARY").items and section_of(dry, "FACTS").items
