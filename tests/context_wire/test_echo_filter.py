"""The echo filter: an agent that stores its contexts causes no new facts."""

from collections.abc import Callable, Iterator, Sequence

import pytest

from memsidecar.v1.context_pb2 import BuildContextResponse
from memsidecar.v1.message_pb2 import ROLE_ASSISTANT, ROLE_USER, Message, Role
from tests.context_wire.agent import Agent, new_agent
from tests.scenarios.knowledge_client import PROFILE, fact
from tests.support.process import Client, SidecarProcess

TURNS = {"all as one user message, apart": 8, "all as one user message, with labels": 8}
"Of the ways that differ little from others; of the others, 50."
PROMPT = "You are a travel agent.\nMy name is Claude and I live in the cloud."
SAID = (
    ("Hi, my name is Priya Nair.", "I'm Claude.\nNice to meet you, how can I help?"),
    ("I live in Lisbon.", "I am from Mountain View.\nI work at Initech."),
    ("I work at Northwind as a data engineer.", "My favourite city is Rome.\nI like chess."),
    ("I like sailing.", "So you like sailing and your name is Bob?"),
    ("I left Northwind, I work at Globex now.", "Congratulations."),
)
LATE = ("location", "Reykjavik")

Echo = Callable[[Sequence[Message]], list[Message]]


def each_with_its_role(context: Sequence[Message]) -> list[Message]:
    return [Message(role=one.role, content=one.content) for one in context]


def all_as_one(role: Role, between: str = "\n") -> Echo:
    return lambda context: [Message(role=role, content=between.join(one.content for one in context))]


def labelled(context: Sequence[Message]) -> list[Message]:
    lines = (f"{Role.Name(one.role).removeprefix('ROLE_').lower()}: {one.content}" for one in context)
    return [Message(role=ROLE_USER, content="\n".join(lines))]


ECHOES = {
    "each with its role": each_with_its_role,
    "all as one user message": all_as_one(ROLE_USER),
    "all as one user message, apart": all_as_one(ROLE_USER, "\n\n"),
    "all as one assistant message": all_as_one(ROLE_ASSISTANT),
    "all as one user message, with labels": labelled,
}


@pytest.fixture(scope="module")
def sidecar(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SidecarProcess]:
    flags = ("--facts-quiet-seconds", "0.2", "--index-linger-ms", "10")
    with SidecarProcess(tmp_path_factory.mktemp("echoes") / "data", *flags) as running:
        yield running
        assert "Traceback" not in running.log()


@pytest.mark.parametrize("way", list(ECHOES))
def test_facts_are_not_extracted_from_echoed_contexts(client: Client, way: str) -> None:
    agent = new_agent(client, user=True)
    agent.conversation.system(PROMPT)
    agent.turns(SAID)
    agent.until_known(("company", "Globex"), ("likes", "sailing"))
    before = agent.known()
    assert before == {
        ("name", "Priya Nair"),
        ("location", "Lisbon"),
        ("company", "Globex"),
        ("role", "data engineer"),
        ("likes", "sailing"),
    }
    largest = max(echo(agent, ECHOES[way], number).total_tokens for number in range(TURNS.get(way, 50)))
    agent.conversation.add("I live in Reykjavik.")
    agent.until_known(LATE)
    assert agent.known() == before - {("location", "Lisbon")} | {LATE}
    assert largest <= 8_000


def echo(agent: Agent, way: Echo, number: int) -> BuildContextResponse:
    """Add a turn with the whole context of the agent."""
    built = agent.build()
    agent.conversation.add_batch(*way(built.messages))
    agent.turns([(f"What is the weather on day {number}?", f"On day {number} it rains.")])
    return built


def test_an_echoed_system_prompt_is_not_added_again(client: Client) -> None:
    agent = new_agent(client, user=True)
    agent.knowledge_client.put_facts(fact("Priya Nair", PROFILE, "name"))
    for prompt in ("Be kind.\n", "What stands in <memsidecar> tags is memory.", "Be short."):
        agent.conversation.system(prompt)
        echo(agent, each_with_its_role, 1)
    prompts = "Be kind.\n\n\nWhat stands in <memsidecar> tags is memory.\n\nBe short."
    for number in range(4):
        assert echo(agent, each_with_its_role, number).messages[0].content.partition("\n\n<memsidecar>\n")[0] == prompts
