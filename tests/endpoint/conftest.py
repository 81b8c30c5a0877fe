"""A server for each test, and the settings of somebody who asks it without waiting in earnest."""

from collections.abc import Iterator

import pytest

from memsidecar.endpoint.client import Endpoint
from memsidecar.endpoint.config import Api, EndpointSettings
from memsidecar.endpoint.resilience import Patience
from tests.endpoint.server import KEY, Server
from tests.endpoint.stand_ins import Waits

API = Api("the endpoint of things", "/things")


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as running:
        yield running


@pytest.fixture
def waits() -> Waits:
    return Waits()


@pytest.fixture
def configured(server: Server, waits: Waits) -> EndpointSettings:
    return EndpointSettings(API, server.url, KEY, patience=Patience(sleep=waits.sleep, chance=lambda: 1.0))


@pytest.fixture
def endpoint(configured: EndpointSettings) -> Endpoint:
    return Endpoint(configured)
