"""Fixtures: a sidecar with a filled memory, and an empty one."""

from collections.abc import Iterator

import pytest

from tests.archives.filled_memory import fill
from tests.scenarios.index_readiness import until_index_is_ready
from tests.support.process import Client, SidecarProcess

FLAGS = ("--index", "volatile", "--facts-quiet-seconds", "0")


@pytest.fixture(scope="session")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """Return a client of a sidecar whose memory no test changes."""
    with SidecarProcess(tmp_path_factory.mktemp("archives") / "filled", *FLAGS) as sidecar, sidecar.client() as client:
        until_index_is_ready(sidecar)
        fill(client)
        yield client


@pytest.fixture
def empty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with SidecarProcess(tmp_path_factory.mktemp("archives") / "empty", *FLAGS) as sidecar, sidecar.client() as client:
        until_index_is_ready(sidecar)
        yield client
