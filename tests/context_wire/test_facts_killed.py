"""Killed while it learns, again and again, a sidecar knows in the end what one knows that nobody disturbed."""

import time
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from memsidecar.v1.knowledge_pb2 import Fact
from memsidecar.v1.message_pb2 import ROLE_ASSISTANT, ROLE_USER, Message
from tests.context_wire.agent import Agent
from tests.scenarios.talk import at
from tests.support.process import Client, SidecarProcess
from tests.support.waiting import until

FLAGS = ("--facts-quiet-seconds", "0.3", "--index-linger-ms", "10")
KILLS = 4
_SAID = (
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
_ASKED = "And what do you do there?"


def messages() -> list[Message]:
    """With ids and times of their own, so that two runs can be compared."""
    texts = [text for said in _SAID for text in (said, _ASKED)]
    return [
        Message(
            id=f"m{number}",
            role=ROLE_ASSISTANT if number % 2 else ROLE_USER,
            content=text,
            create_time=at(f"2024-05-01T12:{number:02}:00Z"),
        )
        for number, text in enumerate(texts)
    ]


def agents(client: Client) -> list[Agent]:
    """Two users who say the same; and a session of nobody."""
    return [Agent(client, "s1", user_id="ann"), Agent(client, "s2", user_id="bob"), Agent(client, "s3")]


def known(client: Client) -> list[list[str]]:
    return [sorted(map(_told, agent.facts(include_history=True))) for agent in agents(client)]


def _told(fact: Fact) -> str:
    fact.ClearField("id")
    return str(fact)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> list[list[str]]:
    data_dir = tmp_path_factory.mktemp("undisturbed") / "data"
    with SidecarProcess(data_dir, *FLAGS) as sidecar, sidecar.client() as client:
        for message in messages():
            say(client, message)
        return settled(client)


def say(client: Client, message: Message) -> None:
    for agent in agents(client):
        agent.talk.batch(message)


def settled(client: Client) -> list[list[str]]:
    """When the last that was said is known of everybody."""
    until(lambda: all(("company", "Initech") in agent.known() for agent in agents(client)))
    return known(client)


def moments(seed: int) -> Iterator[tuple[int, float]]:
    """After how many more messages, and how long after the last of them."""
    random = Random(seed)
    while True:
        yield random.randint(1, 5), random.choice([0, 0.02, 0.1, 0.4]) * random.random()


@pytest.mark.slow  # each kill is a start, and a start takes more than a second
@pytest.mark.parametrize("seed", [1])
def test_a_killed_sidecar_learns_the_same(data_dir: Path, undisturbed: list[list[str]], seed: int) -> None:
    left = messages()
    sidecar = SidecarProcess(data_dir, *FLAGS)
    with sidecar:
        for _, (count, seconds) in zip(range(KILLS), moments(seed), strict=False):
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
            settled(client)
            until(lambda: known(client) == undisturbed)
        assert "Traceback" not in sidecar.log()
