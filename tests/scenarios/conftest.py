"""One sidecar for all scenarios that need none of their own, and a conversation in it."""

from collections.abc import Iterator
from uuid import uuid4

import pytest

from tests.scenarios.library import Library
from tests.scenarios.retrieval import until_retrieval_is_there
from tests.scenarios.talk import Talk
from tests.support.process import Client, SidecarProcess


@pytest.fixture(scope="session")
def sidecar(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SidecarProcess]:
    with SidecarProcess(tmp_path_factory.mktemp("scenarios") / "data", "--index", "volatile") as running:
        until_retrieval_is_there(running)
        yield running


@pytest.fixture(scope="session")
def client(sidecar: SidecarProcess) -> Iterator[Client]:
    with sidecar.client() as connected:
        yield connected


@pytest.fixture
def namespace() -> str:
    """One that no other test uses."""
    return f"space-{uuid4()}"


@pytest.fixture
def talk(client: Client) -> Talk:
    return Talk(client, f"session-{uuid4()}")


@pytest.fixture
def library(client: Client, namespace: str) -> Library:
    return Library(client, namespace)
