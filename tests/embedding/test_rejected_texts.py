"""A text that the model rejects at any length gets a zero vector, and does not affect others."""

import logging

import pytest

from memsidecar.embedding.contract import EmbedderMismatch, EmbedderUnavailable
from memsidecar.embedding.openai import OpenAIEmbedder
from tests.embedding import endpoint as behave
from tests.embedding.endpoint import Endpoint, expected
from tests.endpoint import server as serve
from tests.endpoint.server import Behaviour, Handler, Request

REFUSED = "§ unspeakable"


def refusing(code: int) -> Behaviour:
    """Reject texts with a certain word, however the text is cut."""

    def answer(handler: Handler, request: Request) -> None:
        refused = any(text.startswith("§") for text in request.texts)
        (serve.status(code) if refused else behave.well)(handler, request)

    return answer


@pytest.mark.parametrize("code", [400, 413, 422])
@pytest.mark.parametrize("length", [1, 100])
def test_a_rejected_text_gets_zeros_and_the_rest_is_embedded(
    endpoint: Endpoint, embedder: OpenAIEmbedder, code: int, length: int
) -> None:
    endpoint.always = refusing(code)
    vectors = embedder.embed(["one", REFUSED * length, "two", "three"])
    assert not vectors[1].any()
    assert vectors[[0, 2, 3]] == pytest.approx(expected("one", "two", "three"), abs=1e-6)
    assert embedder.rejected_count == 1


def test_rejected_texts_are_counted_and_logged_once_without_content(
    endpoint: Endpoint, embedder: OpenAIEmbedder, caplog: pytest.LogCaptureFixture
) -> None:
    endpoint.always = refusing(400)
    with caplog.at_level(logging.WARNING):
        assert not embedder.embed([REFUSED, f"{REFUSED} twice"]).any()
        assert not embedder.embed([REFUSED]).any()
    (record,) = caplog.records
    assert embedder.rejected_count == 3
    assert record.levelno == logging.WARNING and "unspeakable" not in record.getMessage()


@pytest.mark.parametrize("code", [400, 413, 422])
def test_if_every_text_is_rejected_no_text_gets_zeros(endpoint: Endpoint, embedder: OpenAIEmbedder, code: int) -> None:
    """The cause may be an unknown field: zeros for all texts would hide it."""
    endpoint.always = serve.status(code)
    with pytest.raises(EmbedderMismatch, match="rejects the input"):
        embedder.embed(["one"])
    assert embedder.rejected_count == 0


def test_an_unavailable_server_rejects_no_text(endpoint: Endpoint, embedder: OpenAIEmbedder) -> None:
    endpoint.script, endpoint.always = [serve.status(400)], serve.status(503)
    with pytest.raises(EmbedderUnavailable):
        embedder.embed([REFUSED])
    assert embedder.rejected_count == 0


def test_a_rejected_key_is_a_mismatch(endpoint: Endpoint, embedder: OpenAIEmbedder) -> None:
    endpoint.script, endpoint.always = [serve.status(400)], serve.status(401)
    with pytest.raises(EmbedderMismatch, match="key"):
        embedder.embed([REFUSED])
