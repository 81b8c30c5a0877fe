"""Fixtures: frameworks without telemetry, and a client of a real sidecar."""

import os
from collections.abc import Iterator
from importlib.util import find_spec

import pytest

from memsidecar_client import Client, new_id
from runner.sidecar_process import SidecarProcess

FRAMEWORKS = ("agents", "langchain_core", "langgraph", "strands", "llama_index")

os.environ.update(OPENAI_AGENTS_DISABLE_TRACING="1", LANGSMITH_TRACING="false", OTEL_SDK_DISABLED="true")

# Where none is installed, these tests are not meant (make test-client-python). Where one is, all must be.
collect_ignore_glob = [] if any(find_spec(name) for name in FRAMEWORKS) else ["test_*.py"]


@pytest.fixture(scope="session")
def client(sidecar: SidecarProcess) -> Iterator[Client]:
    with Client(sidecar.address) as client:
        client.wait_until_ready(timeout=30)
        yield client


@pytest.fixture
def session_id() -> str:
    return f"session-{new_id()}"


@pytest.fixture
def user_id() -> str:
    return f"user-{new_id()}"
