"""A sidecar that is killed repeatedly during fact extraction ends with the same facts as one that is not."""

import time
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from memsidecar.v1.knowledge_pb2 import Fact
from memsidecar.v1.message_pb2 import ROLE_ASSISTANT, ROLE_USER, Message
from tests.context_wire.agent import Agent
from tests.scenarios.conversation import timestamp
from tests.support.process import Client, SidecarProcess
from tests.support.waiting import until

FLAGS = ("--facts-quiet-seconds", "0.3", "--index-linger-ms", "10")
KILLS = 4
_USER_TEXTS = (
    "Hi, my name is Priya Nair.",
    "I live in Lisbon.",
    "I work at Northwind as a data engineer.",
    "What is the capital of Norway?",
    "I like sailing and chess.",
    "If I lived in Paris I would eat well.",
    "I left Northwind, I work at Globex now.",
    "I moved to Porto.",
    "I prefer short answers.",
    "I don't like chess anymore.",
    "My name is not Bob.",
    "I work at Initech now.",
)
_ASSISTANT_TEXT = "And what do you do there?"


def messages() -> list[Message]:
    """Return messages with fixed ids and times, so that two runs can be compared."""
    texts = [text for user_text in _USER_TEXTS for text in (user_text, _ASSISTANT_TEXT)]
    return [
        Message(
            id=f"m{number}",
            role=ROLE_ASSISTANT if number % 2 else ROLE_USER,
            content=text,
            create_time=timestamp(f"2024-05-01T12:{number:02}:00Z"),
        )
        for number, text in enumerate(texts)
    ]


def agents(client: Client) -> list[Agent]:
    """Return two users with the same messages, and a session without a user."""
    return [Agent(client, "s1", user_id="ann"), Agent(client, "s2", user_id="bob"), Agent(client, "s3")]


def known(client: Client) -> list[list[str]]:
    return [sorted(map(_without_id, agent.facts(include_history=True))) for agent in agents(client)]


def _without_id(fact: Fact) -> str:
    fact.ClearField("id")
    return str(fact)


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory) -> list[list[str]]:
    data_dir = tmp_path_factory.mktemp("uninterrupted") / "data"
    with SidecarProcess(data_dir, *FLAGS) as sidecar, sidecar.client() as client:
        for message in messages():
            say(client, message)
        return wait_for_facts(client)


def say(client: Client, message: Message) -> None:
    for agent in agents(client):
        agent.conversation.add_batch(message)


def wait_for_facts(client: Client) -> list[list[str]]:
    """Wait until the last fact of every agent is known; return all facts."""
    until(lambda: all(("company", "Initech") in agent.known() for agent in agents(client)))
    return known(client)


def kill_points(seed: int) -> Iterator[tuple[int, float]]:
    """Yield a number of messages, and the delay after the last of them."""
    random = Random(seed)
    while True:
        yield random.randint(1, 5), random.choice([0, 0.02, 0.1, 0.4]) * random.random()


@pytest.mark.slow  # each kill is a start, and a start takes more than a second
@pytest.mark.parametrize("seed", [1])
def test_a_killed_sidecar_extracts_the_same_facts(data_dir: Path, uninterrupted: list[list[str]], seed: int) -> None:
    left = messages()
    sidecar = SidecarProcess(data_dir, *FLAGS)
    with sidecar:
        for _, (count, seconds) in zip(range(KILLS), kill_points(seed), strict=False):
            with sidecar.client() as client:
                for message in left[:count]:
                    say(client, message)
            del left[:count]
            time.sleep(seconds)  # a moment to be killed at, whatever is going on
            sidecar.kill()
            sidecar.start()
        with sidecar.client() as client:
            for message in left:
                say(client, message)
            wait_for_facts(client)
            until(lambda: known(client) == uninterrupted)
        assert "Traceback" not in sidecar.log()
