"""Calls in the Connect protocol, and their errors in the form of gRPC's."""

import base64
import json
import struct
from collections.abc import Iterator
from typing import Any, NamedTuple

import grpc
from google.protobuf import json_format
from google.protobuf.message import Message as Proto
from google.rpc import status_pb2

from tests.bad_input.rpcs import METHODS
from tests.http.http_client import Answer, HttpClient

_PREFIX = struct.Struct(">BI")
END = 2


class CallError(NamedTuple):
    """An error as a client sees it, over gRPC or HTTP."""

    code: str
    message: str
    details: list[tuple[str, bytes]]


def path_of(name: str) -> str:
    return f"/{METHODS[name].containing_service.full_name}/{name}"


def json_of(request: Proto) -> bytes:
    return json_format.MessageToJson(request).encode()


def post(client: HttpClient, name: str, body: bytes, **headers: str) -> Answer:
    """Call a unary RPC with a body of JSON, unless the headers say otherwise."""
    return client.send("POST", path_of(name), body, **{"Content-Type": "application/json"} | headers)


def call(client: HttpClient, name: str, request: Proto, codec: str = "json", **headers: str) -> CallError | None:
    """Return the error of a unary call; None if it succeeds."""
    body = json_of(request) if codec == "json" else request.SerializeToString()
    answer = post(client, name, body, **{"Content-Type": f"application/{codec}"} | headers)
    return None if answer.status == 200 else error_in(answer.json())


def error_in(error: Any) -> CallError:
    """Return the error that a JSON object describes."""
    details = [(detail["type"], _unpadded(detail["value"])) for detail in error.get("details", ())]
    return CallError(error["code"], error.get("message", ""), details)


def error_of(refused: grpc.RpcError) -> CallError:
    """Return the error of a call over gRPC."""
    trailing: Any = refused.trailing_metadata() or ()
    for key, value in trailing:
        if key == "grpc-status-details-bin":
            status = status_pb2.Status.FromString(value)
            details = [(packed.type_url.rpartition("/")[2], packed.value) for packed in status.details]
            return CallError(refused.code().name.lower(), status.message, details)
    return CallError(refused.code().name.lower(), refused.details() or "", [])


def _unpadded(text: str) -> bytes:
    return base64.b64decode(text + "=" * (-len(text) % 4))


def envelope(data: bytes, flags: int = 0) -> bytes:
    return _PREFIX.pack(flags, len(data)) + data


def envelopes(body: bytes) -> Iterator[tuple[int, Any]]:
    """Yield flags and value of each envelope of JSON."""
    while body:
        flags, length = _PREFIX.unpack_from(body)
        data, body = body[_PREFIX.size : _PREFIX.size + length], body[_PREFIX.size + length :]
        yield flags, json.loads(data)


def stream(client: HttpClient, name: str, body: bytes, **headers: str) -> list[tuple[int, Any]]:
    """Return the envelopes of a stream of responses that ends."""
    answer = client.send("POST", path_of(name), body, **{"Content-Type": "application/connect+json"} | headers)
    assert answer.status == 200, answer
    return list(envelopes(answer.body))
