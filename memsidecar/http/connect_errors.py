"""Errors in the Connect protocol: the HTTP status of each code, and the JSON of a status with its details."""

import base64
from collections.abc import Iterable
from typing import Any

import grpc
from google.protobuf import json_format
from google.protobuf.any_pb2 import Any as PackedAny
from google.rpc import error_details_pb2, status_pb2

HTTP_STATUSES: dict[grpc.StatusCode, int] = {
    grpc.StatusCode.CANCELLED: 499,
    grpc.StatusCode.UNKNOWN: 500,
    grpc.StatusCode.INVALID_ARGUMENT: 400,
    grpc.StatusCode.DEADLINE_EXCEEDED: 504,
    grpc.StatusCode.NOT_FOUND: 404,
    grpc.StatusCode.ALREADY_EXISTS: 409,
    grpc.StatusCode.PERMISSION_DENIED: 403,
    grpc.StatusCode.RESOURCE_EXHAUSTED: 429,
    grpc.StatusCode.FAILED_PRECONDITION: 400,
    grpc.StatusCode.ABORTED: 409,
    grpc.StatusCode.OUT_OF_RANGE: 400,
    grpc.StatusCode.UNIMPLEMENTED: 501,
    grpc.StatusCode.INTERNAL: 500,
    grpc.StatusCode.UNAVAILABLE: 503,
    grpc.StatusCode.DATA_LOSS: 500,
    grpc.StatusCode.UNAUTHENTICATED: 401,
}
"The table of the Connect specification."
_CODES = {code.value[0]: code for code in grpc.StatusCode}
_DEBUG_TYPES = {
    kind.DESCRIPTOR.full_name: kind
    for kind in (error_details_pb2.ErrorInfo, error_details_pb2.BadRequest, error_details_pb2.RetryInfo)
}


def http_status(status: status_pb2.Status) -> int:
    return HTTP_STATUSES[_code(status)]


def error_object(status: status_pb2.Status) -> dict[str, Any]:
    """Return the error as the value of JSON. The field `debug` of a detail shows its content to a person."""
    code = _code(status)
    name = "canceled" if code is grpc.StatusCode.CANCELLED else code.name.lower()
    found: dict[str, Any] = {"code": name}
    if status.message:
        found["message"] = status.message
    if status.details:
        found["details"] = [_detail(packed) for packed in status.details]
    return found


def retry_seconds(details: Iterable[PackedAny]) -> float | None:
    """Return the delay after which the call should be tried again; None if the status names none."""
    retry = error_details_pb2.RetryInfo()
    for packed in details:
        if packed.Unpack(retry):
            return float(retry.retry_delay.ToMilliseconds()) / 1000
    return None


def _code(status: status_pb2.Status) -> grpc.StatusCode:
    return _CODES.get(status.code, grpc.StatusCode.UNKNOWN)


def _detail(packed: PackedAny) -> dict[str, Any]:
    kind = packed.type_url.rpartition("/")[2]
    detail: dict[str, Any] = {"type": kind, "value": base64.b64encode(packed.value).decode().rstrip("=")}
    if kind in _DEBUG_TYPES:
        detail["debug"] = json_format.MessageToDict(_DEBUG_TYPES[kind].FromString(packed.value))
    return detail
