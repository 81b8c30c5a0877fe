"""The interactive embedder: the same vectors, or an error after a short time."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Event

import numpy as np
import pytest

from memsidecar.embedding.contract import Embedder, Embedders, EmbedderUnavailable
from memsidecar.embedding.openai import INTERACTIVE_TIMEOUT_SECONDS, OpenAIEmbedder, OpenAIEmbedderConfig
from memsidecar.embedding.registry import ConfiguredEmbedders, EmbedderConfig
from tests.embedding.endpoint import DIMENSIONS, Endpoint
from tests.endpoint import server as serve
from tests.endpoint.clock import Clock, Waits


@pytest.fixture
def embedders(endpoint: Endpoint) -> Embedders:
    return ConfiguredEmbedders(EmbedderConfig("openai", DIMENSIONS, url=endpoint.url, model="m"))


@pytest.fixture
def silence(endpoint: Endpoint) -> Iterator[None]:
    release = Event()
    endpoint.always = serve.silent_until(release)
    yield
    release.set()


def fails(embedder: Embedder) -> None:
    with pytest.raises(EmbedderUnavailable):
        embedder.embed(["one"])


def test_it_has_the_same_vectors_and_identity(embedders: Embedders) -> None:
    patient = embedders.default
    hurried = embedders.interactive(patient)
    assert hurried is not patient
    assert (hurried.identity, hurried.dimensions) == (patient.identity, patient.dimensions)
    assert np.array_equal(hurried.embed(["one", ""]), patient.embed(["one", ""]))


def test_each_identity_has_one_interactive_embedder(endpoint: Endpoint, embedders: Embedders) -> None:
    older = embedders.of_identity(f"openai/{endpoint.url}/older/{DIMENSIONS}")
    assert older
    with ThreadPoolExecutor(8) as pool:
        assert len(set(map(id, pool.map(embedders.interactive, [embedders.default] * 8)))) == 1
    hurried = embedders.interactive(embedders.default)
    assert embedders.interactive(hurried) is hurried
    assert embedders.interactive(older).identity == older.identity != hurried.identity


@pytest.mark.parametrize("choice", [EmbedderConfig(), EmbedderConfig("client", 3)], ids=lambda choice: choice.kind)
def test_an_embedder_without_a_network_is_its_own_interactive_variant(choice: EmbedderConfig) -> None:
    embedders = ConfiguredEmbedders(choice)
    assert embedders.interactive(embedders.default) is embedders.default


def test_it_does_not_retry_and_ignores_retry_after(endpoint: Endpoint, embedder: OpenAIEmbedder, waits: Waits) -> None:
    endpoint.always = serve.status(503, Retry_After="5")
    fails(embedder.interactive())
    assert len(endpoint.requests) == 1 and not waits.seconds


@pytest.mark.usefixtures("silence")
@pytest.mark.parametrize(("configured_seconds", "at_most"), [(60.0, INTERACTIVE_TIMEOUT_SECONDS), (0.1, 0.1)])
def test_it_has_a_short_timeout(configured: OpenAIEmbedderConfig, configured_seconds: float, at_most: float) -> None:
    hurried = OpenAIEmbedder(replace(configured, timeout_seconds=configured_seconds)).interactive()
    assert hurried._config.timeout_seconds == at_most
    fails(hurried)


def test_it_shares_the_circuit_breaker_of_the_patient_embedder(
    endpoint: Endpoint, configured: OpenAIEmbedderConfig
) -> None:
    clock = Clock()
    patient = OpenAIEmbedder(replace(configured, failures_before_open=3, cool_down_seconds=30, clock=clock))
    hurried = patient.interactive()
    endpoint.script = [serve.status(503)] * 3
    fails(patient)
    fails(hurried)
    assert len(endpoint.requests) == 3
    clock.now += 31
    assert hurried.embed(["one"]).any()


def test_its_timeouts_do_not_open_the_circuit_of_the_patient_embedder(
    endpoint: Endpoint, configured: OpenAIEmbedderConfig
) -> None:
    patient = OpenAIEmbedder(replace(configured, failures_before_open=2, cool_down_seconds=3_600))
    hurried = patient.interactive()
    endpoint.script = [serve.status(503)] * 2
    for _ in range(3):
        fails(hurried)
    assert len(endpoint.requests) == 2
    assert patient.embed(["one"]).any()
