"""A question is stored first, as agents do, and the context is asked for without saying it again."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from memsidecar.v1.context_pb2 import BuildContextRequest
from tests.scenarios.retrieval import until_retrieval_is_there
from tests.support.process import Client, SidecarProcess


@pytest.fixture(scope="module")
def sidecar(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SidecarProcess]:
    folder: Path = tmp_path_factory.mktemp("questions")
    with SidecarProcess(folder / "data", "--index", "volatile") as running:
        until_retrieval_is_there(running)
        yield running


def said_before(client: Client, user: str, newest: str) -> str:
    client.add(f"{user} once", "I live in Lisbon.", user_id=user)
    client.add(f"{user} once", "Nice city!", user_id=user)
    client.add(f"{user} now", newest, user_id=user)
    asked = BuildContextRequest(user_id=user, session_id=f"{user} now", max_tokens=4000)
    return str(client.memory.BuildContext(asked).memory_text)


def test_a_stored_question_brings_back_what_it_is_about(client: Client) -> None:
    assert "I live in Lisbon." in said_before(client, "ana", "How is the weather where I live?")


def test_a_turn_that_asks_memory_for_nothing_gets_nothing(client: Client) -> None:
    assert "Lisbon" not in said_before(client, "bo", "Thanks, that was all for now.")
