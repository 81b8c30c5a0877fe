"""The Connect protocol: codecs, compression, content types, hostile JSON."""

import gzip
import json
from typing import Any

import pytest

from memsidecar.v1 import memory_pb2 as memory
from tests.http.connect_client import END, envelope, error_in, path_of, post, stream
from tests.http.http_client import HttpClient

ADD = {"session_id": "s", "message": {"role": "ROLE_USER", "content": "hello"}}


def add(http: HttpClient, request: Any, **headers: str) -> Any:
    body = request if isinstance(request, bytes) else json.dumps(request).encode()
    return post(http, "Add", body, **headers)


def test_both_spellings_of_a_field_are_read(http: HttpClient) -> None:
    for name in ("session_id", "sessionId"):
        assert add(http, {name: "spelled", "message": ADD["message"]}).status == 200
    stored = post(http, "GetAll", b'{"sessionId":"spelled"}').json()["messages"]
    assert [message["content"] for message in stored] == ["hello", "hello"]


def test_binary_messages_are_read_and_written(http: HttpClient) -> None:
    request = memory.CountRequest(session_id="empty").SerializeToString()
    answer = post(http, "Count", request, **{"Content-Type": "application/proto"})
    assert answer.headers["content-type"] == "application/proto"
    assert memory.CountResponse.FromString(answer.body).stats.message_count == 0


def test_requests_and_responses_are_compressed(http: HttpClient) -> None:
    text = "many words " * 20_000
    request = {"session_id": "packed", "message": {"role": "ROLE_USER", "content": text}}
    assert add(http, gzip.compress(json.dumps(request).encode()), Content_Encoding="gzip").status == 200
    answer = post(http, "GetAll", b'{"session_id":"packed"}', Accept_Encoding="br, gzip")
    assert answer.headers["content-encoding"] == "gzip" and len(answer.body) < len(text) // 10
    assert json.loads(gzip.decompress(answer.body))["messages"][0]["content"] == text
    assert (
        "content-encoding" not in post(http, "GetAll", b'{"session_id":"packed"}', Accept_Encoding="gzip;q=0").headers
    )


def test_a_request_that_unpacks_to_more_than_the_limit_is_refused(http: HttpClient) -> None:
    bomb = gzip.compress(b" " * (50 << 20))
    refused = add(http, bomb, Content_Encoding="gzip")
    assert (refused.status, error_in(refused.json()).code) == (429, "resource_exhausted")


@pytest.mark.parametrize(
    "body",
    [b"no gzip", gzip.compress(b"{}")[:-4], gzip.compress(b"{}") * 2],
    ids=["other data", "half a stream", "two streams"],
)
def test_damaged_gzip_is_refused(http: HttpClient, body: bytes) -> None:
    refused = add(http, body, Content_Encoding="gzip")
    assert (refused.status, error_in(refused.json()).code) == (400, "invalid_argument")


def test_an_unknown_encoding_and_version_are_refused(http: HttpClient) -> None:
    assert error_in(add(http, ADD, Content_Encoding="br").json()).code == "unimplemented"
    assert error_in(add(http, ADD, Connect_Protocol_Version="2").json()).code == "invalid_argument"


@pytest.mark.parametrize(
    "content_type",
    ["", "text/plain", "application/json; charset=latin-1", "application/grpc", "application/connect+json"],
)
def test_other_content_types_are_refused(http: HttpClient, content_type: str) -> None:
    refused = add(http, ADD, **{"Content-Type": content_type})
    assert refused.status == 415 and refused.headers["accept-post"] == "application/json, application/proto"


def test_utf_8_may_be_named(http: HttpClient) -> None:
    assert add(http, ADD, **{"Content-Type": 'application/json; charset="UTF-8"'}).status == 200


def test_rpcs_are_called_with_post_and_exist(http: HttpClient) -> None:
    refused = http.get(path_of("GetAll"))
    assert refused.status == 405 and refused.headers["allow"] == "POST"
    missing = http.send("POST", "/memsidecar.v1.MemoryService/Missing", b"{}")
    assert missing.status == 404 and error_in(missing.json()).code == "unimplemented"


INVALID = {
    "nothing": (b"", "request"),
    "half a text": (b'{"session_id":', "request"),
    "a list": (b"[]", "request"),
    "null": (b"null", "request"),
    "UTF-16": (json.dumps(ADD).encode("utf-16"), "request"),
    "broken UTF-8": (b'{"session_id":"\xff"}', "request"),
    "an unknown field": (b'{"sesion_id":"s"}', "sesion_id"),
    "a nested unknown field": (b'{"message":{"tool_calls":[{},{"idd":"x"}]}}', "message.tool_calls[1].idd"),
    "an unknown field that is no text": (b'{"\\ud800":1}', "?"),
    "a name twice": (b'{"session_id":"s","session_id":"t"}', "session_id"),
    "both spellings": (b'{"session_id":"s","sessionId":"t"}', "session_id"),
    "a number for a string": (b'{"session_id":5}', "session_id"),
    "a lone surrogate": (b'{"message":{"content":"\\ud800"}}', "message.content"),
    "a string for a message": (b'{"message":"hello"}', "message"),
    "an object for a list": (b'{"message":{"tool_calls":{}}}', "message.tool_calls"),
    "null in a list": (b'{"message":{"tool_calls":[null]}}', "message.tool_calls[0]"),
    "an unknown role": (b'{"message":{"role":"ROLE_KING"}}', "message.role"),
    "a number too large": (b'{"expected_sequence":99999999999999999999}', "expected_sequence"),
    "a fraction": (b'{"expected_sequence":1.5}', "expected_sequence"),
    "true for a number": (b'{"expected_sequence":true}', "expected_sequence"),
    "a text for a number": (b'{"expected_sequence":"many"}', "expected_sequence"),
    "NaN": (b'{"message":{"evaluation_score":NaN}}', "request"),
    "an infinite number": (b'{"message":{"evaluation_score":1e999}}', "message.evaluation_score"),
    "a number of 100,000 digits": (b'{"expected_sequence":' + b"9" * 100_000 + b"}", "request"),
    "a time that is none": (b'{"message":{"create_time":"yesterday"}}', "message.create_time"),
    "a list for an object": (b'{"message":{"metadata":[1]}}', "message.metadata"),
    "deep lists": (b'{"message":{"metadata":{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}}}", "request"),
    "deep objects": (b'{"message":{"metadata":' + b'{"a":' * 500 + b"1" + b"}" * 500 + b"}}", "message.metadata"),
}


@pytest.mark.parametrize(("body", "field"), INVALID.values(), ids=INVALID)
def test_invalid_json_is_refused_with_the_field(http: HttpClient, body: bytes, field: str) -> None:
    refused = add(http, body)
    assert refused.status == 400
    assert refused.json()["details"][1]["debug"]["fieldViolations"][0]["field"] == field


def test_an_export_is_a_stream(http: HttpClient) -> None:
    assert add(http, {**ADD, "namespace": "exported"}).status == 200
    *records, end = stream(http, "Export", envelope(b'{"namespace":"exported"}'))
    assert [flags for flags, _ in records] == [0] * len(records) and end == (END, {})
    assert any("message" in response.get("record", {}) for _, response in records)


STREAMS = {
    "nothing": (b"", "unimplemented"),
    "two messages": (envelope(b"{}") * 2, "unimplemented"),
    "half a prefix": (b"\x00\x00", "invalid_argument"),
    "half an envelope": (envelope(b"{}")[:-1], "invalid_argument"),
    "an end": (envelope(b"{}", END), "invalid_argument"),
    "too much": (b"\x00\x7f\xff\xff\xff{}", "resource_exhausted"),
    "an unknown field": (envelope(b'{"x":1}'), "invalid_argument"),
    "an invalid cursor": (envelope(b'{"cursor":"x"}'), "invalid_argument"),
    "compressed without a name": (envelope(gzip.compress(b"{}"), 1), "internal"),
}


@pytest.mark.parametrize("name", ["Watch", "Export"])
@pytest.mark.parametrize(("body", "code"), STREAMS.values(), ids=STREAMS)
def test_an_invalid_request_of_a_stream_ends_it_with_an_error(
    http: HttpClient, name: str, body: bytes, code: str
) -> None:
    ((flags, end),) = stream(http, name, body)
    assert (flags, end["error"]["code"]) == (END, code)
