"""The URL of an endpoint: its many spellings, its identity, and the secrets in it."""

from base64 import b64encode

import pytest

from memsidecar.embedding.address import parse_address
from memsidecar.embedding.invalid import InvalidEmbedder
from memsidecar.embedding.openai import OpenAIEmbedder, OpenAISettings
from tests.embedding.endpoint import Endpoint


@pytest.mark.parametrize("end", ["", "/", "/embeddings", "/embeddings/", "//"])
def test_spellings_of_one_address_have_one_identity(end: str) -> None:
    embedder = OpenAIEmbedder(OpenAISettings(f"HTTP://Host:80/v1{end}", "BAAI/bge-m3", 1024))
    assert embedder.identity == "openai/http://host:80/v1/BAAI%2Fbge-m3/1024"
    assert embedder.ready and embedder.dimensions == 1024


def test_an_address_of_ip_version_6_keeps_its_brackets() -> None:
    assert parse_address("http://[::1]:8080/v1").origin == "http://[::1]:8080"


WRONG = ["", "host/v1", "ftp://host/v1", "http://", "http://host:99999/v1", "http://host:x/", "http://[::1/v1"]


@pytest.mark.parametrize("url", [*WRONG, "http://host/v1?key=1", "http://host/v1#x", "http://h\nost/", "http://hôte/"])
def test_an_impossible_url_is_refused(url: str) -> None:
    with pytest.raises(InvalidEmbedder, match="URL"):
        OpenAISettings(url, "model", 4)


def test_credentials_of_a_url_are_sent_and_never_shown(endpoint: Endpoint) -> None:
    settings = OpenAISettings(f"http://me:p%40ss@127.0.0.1:{endpoint.port}/v1", "model", 4)
    embedder = OpenAIEmbedder(settings)
    embedder.embed(["one"])
    assert endpoint.requests[0].headers["Authorization"] == "Basic " + b64encode(b"me:p@ss").decode()
    assert "ss@" not in embedder.identity + repr(settings) + repr(settings.address)


@pytest.mark.parametrize("key", ["with\nnewline", "schlüssel", "", " "])
def test_an_impossible_key_is_refused_without_being_shown(key: str) -> None:
    with pytest.raises(InvalidEmbedder, match=r"printable ASCII$"):
        OpenAISettings("http://host/v1", "model", 4, key)


def test_two_ways_to_authorise_are_one_too_many() -> None:
    with pytest.raises(InvalidEmbedder, match="keep one"):
        OpenAISettings("http://me:secret@host/v1", "model", 4, "key")


@pytest.mark.parametrize(
    "wrong", [{"model": ""}, {"dimensions": 0}, {"timeout_seconds": 0}, {"texts_per_request": 0}, {"dimensions": -1}]
)
def test_impossible_settings_are_refused(wrong: dict[str, object]) -> None:
    fields: dict[str, object] = {"url": "http://host/v1", "model": "model", "dimensions": 4}
    with pytest.raises(InvalidEmbedder):
        OpenAISettings(**(fields | wrong))  # type: ignore[arg-type]


def test_a_key_is_not_shown_by_its_settings() -> None:
    assert "secret" not in repr(OpenAISettings("http://host/v1", "model", 4, "secret"))
