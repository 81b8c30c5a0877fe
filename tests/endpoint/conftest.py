"""A server for each test, and a client that does not really sleep."""

from collections.abc import Iterator

import pytest

from memsidecar.endpoint.client import EndpointClient
from memsidecar.endpoint.config import EndpointApi, EndpointConfig
from memsidecar.endpoint.resilience import RetryPolicy
from tests.endpoint.clock import Waits
from tests.endpoint.server import KEY, Server

API = EndpointApi("the endpoint of things", "/things")


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as running:
        yield running


@pytest.fixture
def waits() -> Waits:
    return Waits()


@pytest.fixture
def configured(server: Server, waits: Waits) -> EndpointConfig:
    return EndpointConfig(API, server.url, KEY, retry_policy=RetryPolicy(sleep=waits.sleep, jitter=lambda: 1.0))


@pytest.fixture
def endpoint(configured: EndpointConfig) -> EndpointClient:
    return EndpointClient(configured)
