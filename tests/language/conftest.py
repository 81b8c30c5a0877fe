"""A model behind a real socket for each test."""

from collections.abc import Iterator

import pytest

from memsidecar.endpoint.config import EndpointSettings
from memsidecar.endpoint.resilience import Patience
from memsidecar.language.fact_model import ModelFacts
from memsidecar.language.openai import CHAT, OpenAIModel
from memsidecar.language.summary_model import ModelSummaries
from tests.endpoint.server import KEY
from tests.endpoint.stand_ins import Waits
from tests.language.model_server import ModelServer, words


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer() as running:
        yield running


@pytest.fixture
def waits() -> Waits:
    return Waits()


@pytest.fixture
def configured(server: ModelServer, waits: Waits) -> EndpointSettings:
    return EndpointSettings(CHAT, server.url, KEY, patience=Patience(sleep=waits.sleep, chance=lambda: 1.0))


@pytest.fixture
def model(configured: EndpointSettings) -> OpenAIModel:
    return OpenAIModel("some/model", configured)


@pytest.fixture
def facts(model: OpenAIModel) -> ModelFacts:
    return ModelFacts(model, words)


@pytest.fixture
def summaries(model: OpenAIModel) -> ModelSummaries:
    return ModelSummaries(model, words)
