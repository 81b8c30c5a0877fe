"""A text that the model refuses whatever its length: it goes without a vector, and stops nobody else."""

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
    """As a server does that cannot bear a word, wherever the text is cut."""

    def answer(handler: Handler, request: Request) -> None:
        refused = any(text.startswith("§") for text in request.texts)
        (serve.status(code) if refused else behave.well)(handler, request)

    return answer


@pytest.mark.parametrize("code", [400, 413, 422])
@pytest.mark.parametrize("length", [1, 100])
def test_it_is_zeros_and_the_rest_is_embedded(
    endpoint: Endpoint, embedder: OpenAIEmbedder, code: int, length: int
) -> None:
    endpoint.always = refusing(code)
    vectors = embedder.embed(["one", REFUSED * length, "two", "three"])
    assert not vectors[1].any()
    assert vectors[[0, 2, 3]] == pytest.approx(expected("one", "two", "three"), abs=1e-6)
    assert embedder.rejected_count == 1


def test_many_are_counted_and_told_once_without_what_they_say(
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
def test_where_any_text_is_refused_none_is_taken_for_the_culprit(
    endpoint: Endpoint, embedder: OpenAIEmbedder, code: int
) -> None:
    """Such as a field that the server does not know: zeros for all would be stored, and hide it."""
    endpoint.always = serve.status(code)
    with pytest.raises(EmbedderMismatch, match="rejects the input"):
        embedder.embed(["one"])
    assert embedder.rejected_count == 0


def test_nothing_is_decided_while_the_server_is_away(endpoint: Endpoint, embedder: OpenAIEmbedder) -> None:
    endpoint.script, endpoint.always = [serve.status(400)], serve.status(503)
    with pytest.raises(EmbedderUnavailable):
        embedder.embed([REFUSED])
    assert embedder.rejected_count == 0


def test_a_key_that_is_refused_is_still_a_mismatch(endpoint: Endpoint, embedder: OpenAIEmbedder) -> None:
    endpoint.script, endpoint.always = [serve.status(400)], serve.status(401)
    with pytest.raises(EmbedderMismatch, match="key"):
        embedder.embed([REFUSED])
