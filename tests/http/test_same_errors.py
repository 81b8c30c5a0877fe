"""Errors over HTTP are those of gRPC: code, message and all details, for each invalid field of each unary RPC."""

from collections.abc import Iterator

import grpc
import pytest
from google.protobuf import json_format
from google.protobuf.message import Message as Proto

from memsidecar.v1 import memory_pb2 as memory
from memsidecar.v1.message_pb2 import ROLE_USER, Message
from tests.bad_input.field_table import TABLE
from tests.bad_input.rpcs import KNOWN_MESSAGE, METHODS, WATCHED, send, valid_request
from tests.bad_input.test_fields import request_with
from tests.http.connect_client import CallError, call, error_in, error_of, json_of, path_of, post
from tests.http.http_client import HttpClient
from tests.support.process import Client, SidecarProcess

UNARY = sorted(name for name, method in METHODS.items() if not method.client_streaming and not method.server_streaming)
SMALL_BYTES = 100_000
MESSAGE = Message(role=ROLE_USER, content="hello")


@pytest.fixture(scope="module")
def grpc_client(http_sidecar: SidecarProcess) -> Iterator[Client]:
    """A client, and the message that the invalid requests are about."""
    with http_sidecar.client() as client:
        client.add(WATCHED, "hello", id=KNOWN_MESSAGE)
        yield client


def grpc_error(client: Client, name: str, request: Proto) -> CallError | None:
    try:
        send(client, name, request)
    except grpc.RpcError as error:
        return error_of(error)
    return None


def has_json(request: Proto) -> bool:
    """Return whether JSON can express the request: it has no times before the year 1, and no value without a kind."""
    try:
        read = json_format.Parse(json_of(request), type(request)())
    except json_format.SerializeToJsonError:
        return False
    return read.SerializeToString(deterministic=True) == request.SerializeToString(deterministic=True)


@pytest.mark.parametrize("name", UNARY)
def test_each_invalid_field_has_the_error_of_grpc(http: HttpClient, grpc_client: Client, name: str) -> None:
    rows = [(path, row) for path, field in TABLE[name].items() for row in field.invalid]
    requests = [(path, row, request_with(name, path, row)) for path, row in rows]
    small = [(path, row, request) for path, row, request in requests if request.ByteSize() < SMALL_BYTES]
    for path, row, request in small:
        expected = grpc_error(grpc_client, name, request)
        assert expected is not None, (path, row.label)
        for codec in ("json", "proto") if has_json(request) else ("proto",):
            assert call(http, name, request, codec) == expected, (path, row.label, codec)


@pytest.mark.parametrize("name", UNARY)
def test_a_valid_request_has_the_result_of_grpc(http: HttpClient, grpc_client: Client, name: str) -> None:
    expected = grpc_error(grpc_client, name, valid_request(name, f"{name}-grpc"))
    found = call(http, name, valid_request(name, f"{name}-http"))
    assert (found and found.code) == (expected and expected.code)


def test_a_request_over_the_limit_is_refused_before_it_is_read(http: HttpClient) -> None:
    for headers in ({}, {"Transfer-Encoding": "chunked"}):
        body = b'{"session_id":"' + b"x" * (5 << 20) + b'"}'
        chunked = b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body) if headers else body
        refused = post(http, "Count", chunked, **headers)
        error = error_in(refused.json())
        assert refused.status == 429 and error.code == "resource_exhausted" and b"TOO_LARGE" in error.details[0][1]
        assert "4194304 are allowed" in error.message
    assert post(http, "Count", b'{"session_id":"s"}').status == 200, "the connection is in order"


def test_a_repeated_item_too_many_is_refused(http: HttpClient) -> None:
    body = b'{"session_id":"s","query":"q","query_vector":[' + b"1," * 300_000 + b"1]}"
    error = error_in(post(http, "Search", body).json())
    assert (error.code, error.message) == ("resource_exhausted", "the request has more than 200000 repeated items")


def test_a_deadline_that_has_passed_is_refused(http: HttpClient) -> None:
    refused = post(http, "Count", b'{"session_id":"s"}', Connect_Timeout_Ms="0")
    assert refused.status == 504 and error_in(refused.json()).code == "deadline_exceeded"


def test_a_deadline_ends_a_call_that_is_still_being_sent(http_sidecar: SidecarProcess) -> None:
    with HttpClient(http_sidecar.ready["http_listen"]) as client:
        headers = {"Content-Type": "application/json", "Connect-Timeout-Ms": "50"}
        client.begin(path_of("Count"), length=100, **headers)
        refused = client.answer()
    assert refused.status == 504 and error_in(refused.json()).code == "deadline_exceeded"


@pytest.mark.parametrize("value", ["-1", "1.5", "x", "12345678901", "٣"])
def test_an_invalid_timeout_is_refused(http: HttpClient, value: str) -> None:
    refused = post(http, "Count", b'{"session_id":"s"}', Connect_Timeout_Ms=value.encode().decode("latin-1"))
    assert refused.status == 400 and "connect-timeout-ms" in error_in(refused.json()).message


def test_an_error_that_a_retry_may_cure_says_when(http: HttpClient) -> None:
    request = memory.AddRequest(session_id="retry", message=MESSAGE, expected_sequence=7)
    refused = post(http, "Add", json_of(request))
    assert refused.status == 409 and "retry-after" not in refused.headers
    assert refused.json()["details"][0]["debug"]["reason"] == "SEQUENCE_MISMATCH"
