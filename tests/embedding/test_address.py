"""The identity of an embedder, and validation of its settings."""

import pytest

from memsidecar.embedding.contract import InvalidEmbedder
from memsidecar.embedding.openai import OpenAIEmbedder, OpenAIEmbedderConfig


@pytest.mark.parametrize("end", ["", "/", "/embeddings", "/embeddings/", "//"])
def test_spellings_of_one_address_have_one_identity(end: str) -> None:
    embedder = OpenAIEmbedder(OpenAIEmbedderConfig(f"HTTP://Host:80/v1{end}", "BAAI/bge-m3", 1024))
    assert embedder.identity == "openai/http://host:80/v1/BAAI%2Fbge-m3/1024"
    assert embedder.ready and embedder.dimensions == 1024


def test_credentials_of_a_url_are_not_part_of_the_identity() -> None:
    assert (
        OpenAIEmbedder(OpenAIEmbedderConfig("http://me:secret@host/v1", "m", 4)).identity == "openai/http://host/v1/m/4"
    )


WRONG: list[dict[str, object]] = [
    {"url": "ftp://host/v1"},
    {"key": "with\nnewline"},
    {"url": "http://me:secret@host/v1", "key": "key"},
    {"model": ""},
    {"dimensions": 0},
    {"dimensions": -1},
    {"timeout_seconds": 0},
    {"texts_per_request": 0},
]


@pytest.mark.parametrize("wrong", WRONG)
def test_impossible_settings_are_refused(wrong: dict[str, object]) -> None:
    fields: dict[str, object] = {"url": "http://host/v1", "model": "model", "dimensions": 4}
    with pytest.raises(InvalidEmbedder) as caught:
        OpenAIEmbedderConfig(**(fields | wrong))  # type: ignore[arg-type]
    assert "secret" not in str(caught.value) and "newline" not in str(caught.value)


def test_a_key_is_not_shown_by_its_settings() -> None:
    assert "secret" not in repr(OpenAIEmbedderConfig("http://host/v1", "model", 4, "secret"))
