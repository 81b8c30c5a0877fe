"""The endpoint client over real HTTP: timeouts, retries, limits."""

import os
import socket
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Event

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memsidecar.endpoint.client import MAX_IDLE_CONNECTIONS, EndpointClient, json_object
from memsidecar.endpoint.config import EndpointConfig
from memsidecar.endpoint.resilience import (
    EndpointMismatch,
    EndpointUnavailable,
    RequestRejected,
    RetryableError,
    RetryPolicy,
)
from tests.endpoint import server as serve
from tests.endpoint.clock import Clock, Waits
from tests.endpoint.server import KEY, Behaviour, Server

LARGEST_BYTES = 1_000


def post(endpoint: EndpointClient) -> bytes:
    return endpoint.post(b'{"say": "something"}', LARGEST_BYTES, bytes)


def test_a_request_arrives_with_the_key(server: Server, endpoint: EndpointClient) -> None:
    assert post(endpoint) == b"{}"
    (request,) = server.requests
    assert request.path == "/v1/things" and request.body == {"say": "something"}
    assert request.headers["Authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize("code", [401, 403, 404, 409, 301, 307, 308])
def test_a_permanent_error_is_not_retried(server: Server, endpoint: EndpointClient, waits: Waits, code: int) -> None:
    server.always = serve.status(code, f"wrong key {KEY}".encode())
    with pytest.raises(EndpointMismatch, match=str(code)) as caught:
        post(endpoint)
    assert len(server.requests) == 1 and not waits.seconds and KEY not in repr(caught.value)


@pytest.mark.parametrize("refused", [serve.status(400), serve.status(413), serve.status(422)])
def test_rejected_input_has_its_own_error(server: Server, endpoint: EndpointClient, refused: Behaviour) -> None:
    server.always = refused
    with pytest.raises(RequestRejected):
        post(endpoint)


def test_a_redirect_is_not_followed(server: Server, endpoint: EndpointClient) -> None:
    with Server() as other:
        server.always = serve.status(307, Location=f"{other.url}/things")
        with pytest.raises(EndpointMismatch, match="redirects"):
            post(endpoint)
        assert not other.requests


@pytest.mark.parametrize(
    ("retry_after", "waited"), [("2", 2.0), ("0", 0.0), ("3600", 10.0), ("-1", 0.25), ("nan", 0.25), ("soon", 0.25)]
)
def test_retry_after_is_honoured_within_a_bound(
    server: Server, endpoint: EndpointClient, waits: Waits, retry_after: str, waited: float
) -> None:
    server.script = [serve.status(429, Retry_After=retry_after)]
    post(endpoint)
    assert waits.seconds == [waited]


@given(failures=st.integers(1, 1_000), chance=st.floats(0, 1))
def test_waits_double_up_to_a_bound_and_vary(failures: int, chance: float) -> None:
    waited = RetryPolicy(jitter=lambda: chance).wait_seconds(failures, None)
    longest = min(0.25 * 2.0 ** (failures - 1), 10)
    assert longest / 2 <= waited <= longest


MALFORMED_ANSWERS = {
    "500": serve.status(500),
    "503 without a body": serve.status(503, b""),
    "429": serve.status(429),
    "408": serve.status(408),
    "garbage": serve.content(b"<html>it works</html>"),
    "not UTF-8": serve.content(b'{"a": "\xff\xfe"}'),
    "half a JSON": serve.content(b'{"a": [{"b": 0, "c'),
    "an abyss of brackets": serve.chunked(b"[" * LARGEST_BYTES),
    "NaN": serve.content(b'{"a": NaN}'),
    "a list": serve.content(b"[]"),
    "nothing": serve.content(b""),
    "hung up": serve.hung_up,
    "endless": serve.endless,
}


@pytest.mark.parametrize("malformed", MALFORMED_ANSWERS.values(), ids=MALFORMED_ANSWERS.keys())
def test_one_malformed_answer_is_retried(
    server: Server, endpoint: EndpointClient, waits: Waits, malformed: Behaviour
) -> None:
    server.script = [malformed]
    assert endpoint.post(b"{}", LARGEST_BYTES, json_object) == {}
    assert waits.seconds == [0.25]


@pytest.mark.parametrize("malformed", MALFORMED_ANSWERS.values(), ids=MALFORMED_ANSWERS.keys())
def test_repeated_malformed_answers_mean_unavailable(
    server: Server, endpoint: EndpointClient, malformed: Behaviour
) -> None:
    server.always = malformed
    with pytest.raises(EndpointUnavailable) as caught:
        endpoint.post(b"{}", LARGEST_BYTES, json_object)
    assert len(server.requests) == 3 and KEY not in repr(caught.value)


def test_too_deep_nesting_is_malformed() -> None:
    with pytest.raises(RetryableError):
        json_object(b"[" * 200_000)


def test_a_slow_server_times_out(server: Server, configured: EndpointConfig) -> None:
    release = Event()
    server.script = [serve.silent_until(release)]
    assert post(EndpointClient(replace(configured, timeout_seconds=0.1)))
    release.set()


def test_an_answer_that_arrives_too_slowly_times_out(server: Server, configured: EndpointConfig) -> None:
    server.always = serve.chunked(b" " * 200)
    with pytest.raises(EndpointUnavailable, match="too long"):
        post(EndpointClient(replace(configured, timeout_seconds=10, clock=Clock(step=6))))


def test_a_refused_connection_means_unavailable(configured: EndpointConfig, waits: Waits) -> None:
    with socket.socket() as bound_but_deaf:
        bound_but_deaf.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{bound_but_deaf.getsockname()[1]}/v1"
        with pytest.raises(EndpointUnavailable, match="NewConnectionError"):
            post(EndpointClient(replace(configured, url=url)))
    assert waits.seconds == [0.25, 0.5]


def test_after_repeated_failures_the_circuit_opens_and_one_probe_is_sent(
    server: Server, configured: EndpointConfig
) -> None:
    clock = Clock()
    client = EndpointClient(replace(configured, failures_before_open=2, cool_down_seconds=30, clock=clock))
    server.script = [serve.status(503)] * 3
    for _ in range(3):
        with pytest.raises(EndpointUnavailable):
            post(client)
    assert len(server.requests) == 2
    clock.now += 31
    with pytest.raises(EndpointUnavailable):
        post(client)
    assert len(server.requests) == 3
    clock.now += 31
    assert post(client) and post(client)


def test_a_mismatch_does_not_open_the_circuit(server: Server, configured: EndpointConfig) -> None:
    endpoint = EndpointClient(replace(configured, failures_before_open=1))
    server.script = [serve.status(401)] * 3
    for _ in range(3):
        with pytest.raises(EndpointMismatch):
            post(endpoint)
    assert post(endpoint)


def test_threads_share_idle_connections(server: Server, endpoint: EndpointClient) -> None:
    with ThreadPoolExecutor(MAX_IDLE_CONNECTIONS) as pool:
        assert set(pool.map(lambda _: post(endpoint), range(200))) == {b"{}"}
    assert len({request.client_port for request in server.requests}) <= MAX_IDLE_CONNECTIONS


def test_no_more_is_read_than_the_limit_of_an_answer(server: Server, endpoint: EndpointClient) -> None:
    server.script = [serve.endless]
    post(endpoint)
    on_the_way_bytes = 16 << 20
    assert server.wait_for_hang_up() < LARGEST_BYTES + on_the_way_bytes


def test_a_connection_is_not_reused_after_a_partial_answer(server: Server, endpoint: EndpointClient) -> None:
    server.script = [serve.endless]
    post(endpoint)
    first, second = server.requests
    assert first.client_port != second.client_port


def test_proxies_of_the_environment_are_not_used(
    server: Server, endpoint: EndpointClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setitem(os.environ, name, "http://127.0.0.1:1")
    assert post(endpoint) and len(server.requests) == 1
