"""A model behind a real socket for each test."""

from collections.abc import Iterator

import pytest

from memsidecar.endpoint.config import EndpointConfig
from memsidecar.endpoint.resilience import RetryPolicy
from memsidecar.language.fact_model import ModelFactExtractor
from memsidecar.language.openai import CHAT, OpenAIModel
from memsidecar.language.summary_model import ModelSummarizer
from tests.endpoint.clock import Waits
from tests.endpoint.server import KEY
from tests.language.model_server import ModelServer, words


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer() as running:
        yield running


@pytest.fixture
def waits() -> Waits:
    return Waits()


@pytest.fixture
def configured(server: ModelServer, waits: Waits) -> EndpointConfig:
    return EndpointConfig(CHAT, server.url, KEY, retry_policy=RetryPolicy(sleep=waits.sleep, jitter=lambda: 1.0))


@pytest.fixture
def model(configured: EndpointConfig) -> OpenAIModel:
    return OpenAIModel("some/model", configured)


@pytest.fixture
def facts(model: OpenAIModel) -> ModelFactExtractor:
    return ModelFactExtractor(model, words)


@pytest.fixture
def summaries(model: OpenAIModel) -> ModelSummarizer:
    return ModelSummarizer(model, words)
