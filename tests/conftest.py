"""Parts that many tests use: a sidecar in a process of its own, and a client."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.process import Client, SidecarProcess


@pytest.fixture(scope="module")
def sidecar(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SidecarProcess]:
    """One sidecar for the tests of a module, which use session ids of their own."""
    with SidecarProcess(tmp_path_factory.mktemp("sidecar") / "data") as running:
        yield running


@pytest.fixture
def client(sidecar: SidecarProcess) -> Iterator[Client]:
    with sidecar.client() as connected:
        yield connected


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    return tmp_path / "data"
