"""The bundled model, loaded once, and an endpoint for each test."""

from collections.abc import Iterator

import pytest

from memsidecar.embedding.openai import OpenAIEmbedder, OpenAIEmbedderConfig
from memsidecar.embedding.static import BundledModel, StaticEmbedder
from memsidecar.endpoint.resilience import RetryPolicy
from tests.embedding.endpoint import DIMENSIONS, Endpoint
from tests.endpoint.clock import Waits
from tests.endpoint.server import KEY


@pytest.fixture(scope="session")
def bundled() -> BundledModel:
    model = BundledModel()
    # Loading inside a property test would break the deadline of its first example.
    model.loaded()
    return model


@pytest.fixture(scope="session")
def static(bundled: BundledModel) -> StaticEmbedder:
    return StaticEmbedder(model=bundled)


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with Endpoint() as running:
        yield running


@pytest.fixture
def waits() -> Waits:
    return Waits()


@pytest.fixture
def configured(endpoint: Endpoint, waits: Waits) -> OpenAIEmbedderConfig:
    patience = RetryPolicy(sleep=waits.sleep, jitter=lambda: 1.0)
    return OpenAIEmbedderConfig(endpoint.url, "some/model", DIMENSIONS, KEY, retry_policy=patience)


@pytest.fixture
def embedder(configured: OpenAIEmbedderConfig) -> OpenAIEmbedder:
    return OpenAIEmbedder(configured)
