"""Parts that many tests use: a sidecar in a process of its own, and a client."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.process import Client, SidecarProcess

# Folders whose tests talk to running sidecars for minutes in all, and the marker of the verb that runs them.
VERBS = {"context_wire": "contexts", "access": "access", "tls": "access", "limits": "access", "mcp": "mcp"}


@pytest.hookimpl(tryfirst=True)  # before the choice by marker
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        folder = item.path.relative_to(here).parts[0] if item.path.is_relative_to(here) else ""
        if folder in VERBS:
            item.add_marker(VERBS[folder])


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
