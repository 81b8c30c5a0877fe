"""Fixtures: one sidecar for all scenarios, a namespace and a session of the test in it."""

from collections.abc import Iterator
from uuid import uuid4

import pytest

from tests.scenarios.conversation import Conversation
from tests.scenarios.document_client import DocumentClient
from tests.scenarios.index_readiness import until_index_is_ready
from tests.support.process import Client, SidecarProcess


@pytest.fixture(scope="session")
def sidecar(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SidecarProcess]:
    with SidecarProcess(tmp_path_factory.mktemp("scenarios") / "data", "--index", "volatile") as running:
        until_index_is_ready(running)
        yield running


@pytest.fixture(scope="session")
def client(sidecar: SidecarProcess) -> Iterator[Client]:
    with sidecar.client() as connected:
        yield connected


@pytest.fixture
def namespace() -> str:
    """Return a namespace that no other test uses."""
    return f"space-{uuid4()}"


@pytest.fixture
def conversation(client: Client) -> Conversation:
    return Conversation(client, f"session-{uuid4()}")


@pytest.fixture
def document_client(client: Client, namespace: str) -> DocumentClient:
    return DocumentClient(client, namespace)
