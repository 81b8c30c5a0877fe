"""Choice of the embedder by the settings or a stored identity; the host that gets the key."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from memsidecar.embedding.contract import Embedders, InvalidEmbedder
from memsidecar.embedding.openai import OpenAIEmbedder
from memsidecar.embedding.registry import ClientEmbedder, ConfiguredEmbedders, EmbedderConfig
from memsidecar.embedding.static import StaticEmbedder
from tests.embedding.endpoint import Endpoint

STATIC = "static/wordllama-l2_supercat-256/mean"


def test_the_bundled_model_is_the_default() -> None:
    embedders: Embedders = ConfiguredEmbedders(EmbedderConfig())
    assert isinstance(embedders.default, StaticEmbedder) and embedders.default.identity == STATIC
    assert not embedders.default.ready


CHOICES = [
    EmbedderConfig(dimensions=64),
    EmbedderConfig("client", 3),
    EmbedderConfig("openai", 3, url="http://host/v1/", model="BAAI/bge m3%", key="k"),
    EmbedderConfig("openai", 3, url="https://me:secret@host:8443", model="m"),
]


@pytest.mark.parametrize("choice", CHOICES, ids=lambda choice: choice.kind)
def test_an_embedder_can_be_created_from_its_identity(choice: EmbedderConfig) -> None:
    default = ConfiguredEmbedders(choice).default
    again = ConfiguredEmbedders(EmbedderConfig()).of_identity(default.identity)
    assert again and type(again) is type(default)
    assert (again.identity, again.dimensions) == (default.identity, default.dimensions)


def test_the_same_identity_is_the_same_instance() -> None:
    embedders = ConfiguredEmbedders(EmbedderConfig("client", 3))
    assert embedders.of_identity("client/3") is embedders.default
    with ThreadPoolExecutor(8) as pool:
        assert len(set(map(id, pool.map(embedders.of_identity, [STATIC] * 8)))) == 1


def test_lengths_of_the_bundled_model_share_its_memory() -> None:
    embedders = ConfiguredEmbedders(EmbedderConfig())
    short = embedders.of_identity(STATIC.replace("256", "64"))
    embedders.default.warm()
    assert short and short.ready and short.dimensions == 64


UNKNOWN = [
    "",
    "static",
    "static/wordllama-l2_supercat-256/zipf-2",
    "static/wordllama-l2_supercat-100/mean",
    "static/another-256/mean",
    "client/",
    "client/0",
    "client/03",
    "client/3/4",
    "openai/model/3",
    "openai/ftp://host/model/3",
    "openai/http://host/v1/model/many",
    "openai/http://host/v1/embeddings/model/3",
    "openai/http://me:secret@host/v1/model/3",
    "cohere/model/3",
]


@pytest.mark.parametrize("identity", UNKNOWN)
def test_an_unknown_identity_has_no_embedder(identity: str) -> None:
    assert ConfiguredEmbedders(EmbedderConfig()).of_identity(identity) is None


@pytest.mark.parametrize("credentials", ["", "me:secret@"])
def test_only_the_configured_host_gets_the_key(endpoint: Endpoint, credentials: str) -> None:
    with Endpoint() as former:
        url = endpoint.url.replace("//", f"//{credentials}")
        key = None if credentials else "sk-secret"
        embedders = ConfiguredEmbedders(EmbedderConfig("openai", 4, url=url, model="new", key=key))
        for base in (former.url, endpoint.url):
            again = embedders.of_identity(f"openai/{base}/old/4")
            assert isinstance(again, OpenAIEmbedder) and again.embed(["one"]).any()
        assert "Authorization" not in former.requests[0].headers
        assert "Authorization" in endpoint.requests[0].headers


def test_another_port_or_scheme_is_another_host(endpoint: Endpoint) -> None:
    choice = EmbedderConfig("openai", 4, url=endpoint.url.replace("http:", "https:"), model="new", key="sk-secret")
    again = ConfiguredEmbedders(choice).of_identity(f"openai/{endpoint.url}/old/4")
    assert again and again.embed(["one"]).any()
    assert "Authorization" not in endpoint.requests[0].headers


WRONG = [
    (EmbedderConfig("cohere"), "known: static, onnx, openai, client"),
    (EmbedderConfig(dimensions=100), "not 100"),
    (EmbedderConfig("client"), "dimensions"),
    (EmbedderConfig("client", -1), "dimensions"),
    (EmbedderConfig("openai", url="http://host/v1", model="m"), "dimensions"),
    (EmbedderConfig("openai", 3, url="", model="m"), "URL"),
    (EmbedderConfig("openai", 3, url="http://host/v1"), "name of a model"),
]


@pytest.mark.parametrize(("choice", "problem"), WRONG)
def test_a_wrong_setting_is_refused_at_start(choice: EmbedderConfig, problem: str) -> None:
    with pytest.raises(InvalidEmbedder, match=problem):
        ConfiguredEmbedders(choice)


def test_a_choice_does_not_show_its_secrets() -> None:
    assert "secret" not in repr(EmbedderConfig("openai", 3, url="http://me:secret@host", key="secret"))


def test_the_client_embedder_returns_zeros() -> None:
    embedder = ClientEmbedder(3)
    embedder.warm()
    assert embedder.ready and embedder.identity == "client/3"
    assert embedder.embed(["one", ""]).shape == (2, 3) and not embedder.embed(["one", ""]).any()
