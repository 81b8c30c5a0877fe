"""The bundled model, loaded once, and an endpoint for each test."""

from collections.abc import Iterator

import pytest

from memsidecar.embedding.bundled_model import BundledModel
from memsidecar.embedding.openai import OpenAIEmbedder, OpenAISettings
from memsidecar.embedding.static import StaticEmbedder
from memsidecar.endpoint.resilience import Patience
from tests.embedding.endpoint import DIMENSIONS, Endpoint
from tests.endpoint.server import KEY
from tests.endpoint.stand_ins import Waits


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
def configured(endpoint: Endpoint, waits: Waits) -> OpenAISettings:
    patience = Patience(sleep=waits.sleep, chance=lambda: 1.0)
    return OpenAISettings(endpoint.url, "some/model", DIMENSIONS, KEY, patience=patience)


@pytest.fixture
def embedder(configured: OpenAISettings) -> OpenAIEmbedder:
    return OpenAIEmbedder(configured)
