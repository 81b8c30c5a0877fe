"""The embeddings client over real HTTP, with valid and invalid responses."""

import base64
import socket
from dataclasses import replace
from threading import Event

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memsidecar.embedding.contract import Embedder, EmbedderMismatch, EmbedderUnavailable
from memsidecar.embedding.openai import OpenAIEmbedder, OpenAIEmbedderConfig, max_response_bytes
from tests.embedding import endpoint as behave
from tests.embedding.endpoint import DIMENSIONS, Endpoint, expected, with_first
from tests.endpoint import server as serve
from tests.endpoint.clock import Clock, Waits
from tests.endpoint.server import KEY, Behaviour


def test_texts_become_unit_vectors_in_their_order(endpoint: Endpoint, embedder: Embedder) -> None:
    assert embedder.embed(["one", "two", "drei"]) == pytest.approx(expected("one", "two", "drei"), abs=1e-6)
    (request,) = endpoint.requests
    assert request.path == "/v1/embeddings"
    assert request.headers["Authorization"] == f"Bearer {KEY}"
    assert request.body == {"model": "some/model", "input": ["one", "two", "drei"], "encoding_format": "float"}


def test_empty_texts_are_zeros_and_are_not_sent(endpoint: Endpoint, embedder: Embedder) -> None:
    vectors = embedder.embed(["", "one", " \n"])
    assert not vectors[[0, 2]].any() and vectors[1] == pytest.approx(expected("one")[0], abs=1e-6)
    assert endpoint.requests[0].texts == ["one"]
    assert embedder.embed(["", " "]).shape == (2, DIMENSIONS) and embedder.embed([]).shape == (0, DIMENSIONS)
    assert len(endpoint.requests) == 1


def test_dimensions_are_sent_only_on_demand(endpoint: Endpoint, configured: OpenAIEmbedderConfig) -> None:
    OpenAIEmbedder(replace(configured, send_dimensions=True)).embed(["one"])
    assert endpoint.requests[0].body["dimensions"] == DIMENSIONS


def test_requests_are_bounded_in_texts_and_in_bytes(endpoint: Endpoint, configured: OpenAIEmbedderConfig) -> None:
    bounded = OpenAIEmbedder(replace(configured, texts_per_request=3, bytes_per_request=100))
    requests = [["a", "b", "c"], ["d", "x" + "é" * 49], ["e"], ["f" * 150], ["g"]]
    texts = [text for request in requests for text in request]
    assert bounded.embed(texts) == pytest.approx(expected(*texts), abs=1e-6)
    assert [request.texts for request in endpoint.requests] == requests


@given(texts=st.lists(st.text(st.characters(), max_size=40), max_size=12), limit=st.integers(1, 5))
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_vector_is_the_same_in_any_batch(configured: OpenAIEmbedderConfig, texts: list[str], limit: int) -> None:
    batched = OpenAIEmbedder(replace(configured, texts_per_request=limit)).embed(texts)
    alone = OpenAIEmbedder(configured)
    assert all(np.array_equal(row, alone.embed([text])[0]) for row, text in zip(batched, texts, strict=True))


@pytest.mark.parametrize("good", [behave.base64_rows, behave.chunked, behave.changed(lambda rows: rows[::-1])])
def test_other_forms_of_a_valid_answer_are_accepted(endpoint: Endpoint, embedder: Embedder, good: Behaviour) -> None:
    endpoint.always = good
    assert embedder.embed(["one", "two"]) == pytest.approx(expected("one", "two"), abs=1e-6)
    assert len(endpoint.requests) == 1


@pytest.mark.parametrize("code", [401, 403, 404, 409, 301, 307, 308])
def test_a_permanent_error_is_not_retried(endpoint: Endpoint, embedder: Embedder, waits: Waits, code: int) -> None:
    endpoint.always = serve.status(code, f"wrong key {KEY}".encode())
    with pytest.raises(EmbedderMismatch, match=str(code)) as caught:
        embedder.embed(["one"])
    assert len(endpoint.requests) == 1 and not waits.seconds and KEY not in repr(caught.value)


@pytest.mark.parametrize("embedding", [[0.5] * 3, [0.5] * 5, [], base64.b64encode(b"\0" * 12).decode()])
def test_other_dimensions_are_a_mismatch_that_names_both(
    endpoint: Endpoint, embedder: Embedder, embedding: list[float] | str
) -> None:
    endpoint.always = with_first(embedding=embedding)
    with pytest.raises(EmbedderMismatch, match=r"has [035] dimensions, but 4 are configured"):
        embedder.embed(["one"])
    assert len(endpoint.requests) == 1


@pytest.mark.parametrize("code", [400, 413, 422])
def test_a_text_too_long_for_the_model_is_embedded_by_its_beginning(
    endpoint: Endpoint, embedder: Embedder, code: int
) -> None:
    endpoint.always = behave.limited_to(1_000, code)
    texts = ["one", "x" * 7_000, "two", "y" * 1_001, "z" * 1_000]
    taken = ["one", "x" * 875, "two", "y" * 500, "z" * 1_000]
    assert embedder.embed(texts) == pytest.approx(expected(*taken), abs=1e-6)


def test_a_500_of_llama_cpp_for_a_long_text_is_handled(endpoint: Endpoint, embedder: Embedder, waits: Waits) -> None:
    endpoint.always = behave.limited_to(1_000, 500, b'{"error": {"message": "input is too large to process."}}')
    assert embedder.embed(["x" * 1_500]) == pytest.approx(expected("x" * 750), abs=1e-6)
    assert not waits.seconds


def test_input_that_is_rejected_at_any_length_is_a_mismatch_after_few_requests(
    endpoint: Endpoint, embedder: Embedder
) -> None:
    endpoint.always = serve.status(400)
    with pytest.raises(EmbedderMismatch, match="rejects the input"):
        embedder.embed(["x" * 24_000] * 64)
    assert len(endpoint.requests) < 20


def test_a_very_long_text_is_cut_before_it_is_sent(endpoint: Endpoint, configured: OpenAIEmbedderConfig) -> None:
    OpenAIEmbedder(replace(configured, max_text_bytes=100)).embed(["x" * (1 << 20), "漢" * 1_000, "\ud800"])
    assert endpoint.requests[0].texts == ["x" * 100, "漢" * 33, "?"]


def test_a_slow_server_times_out(endpoint: Endpoint, configured: OpenAIEmbedderConfig) -> None:
    release = Event()
    endpoint.script = [serve.silent_until(release)]
    assert OpenAIEmbedder(replace(configured, timeout_seconds=0.1)).embed(["one"]).any()
    release.set()


def test_a_refused_connection_is_unavailable(configured: OpenAIEmbedderConfig, waits: Waits) -> None:
    with socket.socket() as bound_but_deaf:
        bound_but_deaf.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{bound_but_deaf.getsockname()[1]}/v1"
        with pytest.raises(EmbedderUnavailable, match="NewConnectionError"):
            OpenAIEmbedder(replace(configured, url=url)).embed(["one"])
    assert waits.seconds == [0.25, 0.5]


def test_after_repeated_failures_the_circuit_opens_and_one_probe_is_sent(
    endpoint: Endpoint, configured: OpenAIEmbedderConfig
) -> None:
    clock = Clock()
    resting = OpenAIEmbedder(replace(configured, failures_before_open=2, cool_down_seconds=30, clock=clock))
    endpoint.always = serve.status(503)
    for _ in range(3):
        with pytest.raises(EmbedderUnavailable):
            resting.embed(["one"])
    assert len(endpoint.requests) == 2
    clock.now += 31
    with pytest.raises(EmbedderUnavailable):
        resting.embed(["one"])
    assert len(endpoint.requests) == 3
    clock.now += 31
    endpoint.always = behave.well
    assert resting.embed(["one"]).any() and resting.embed(["two"]).any()


def test_no_more_is_read_than_a_valid_answer_needs(endpoint: Endpoint, embedder: Embedder) -> None:
    endpoint.script = [serve.endless]
    embedder.embed(["one"])
    on_the_way_bytes = 16 << 20
    assert endpoint.wait_for_hang_up() < max_response_bytes(1, DIMENSIONS) + on_the_way_bytes
