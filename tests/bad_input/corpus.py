"""Valid requests to mutate, and the statuses that a mutated request may get."""

from typing import Any

from google.protobuf.message import Message as Proto

from tests.bad_input.field_table import TABLE
from tests.bad_input.rpcs import set_field, valid_request

DOCUMENTED_CODES = {
    "OK",
    "INVALID_ARGUMENT",
    "NOT_FOUND",
    "ALREADY_EXISTS",
    "ABORTED",
    "FAILED_PRECONDITION",
    "RESOURCE_EXHAUSTED",
    "UNIMPLEMENTED",
}
FUZZED = "fuzzed"
ID_FIELDS = ("session_id", "message_id", "document_id", "document.id", "artifact_id", "artifact.id", "fact_id")


def full_request(name: str) -> Proto:
    """Return a request with nearly all fields set, for an unmonitored session in its own namespace."""
    request = valid_request(name, FUZZED)
    for path, field in TABLE[name].items():
        last = field.valid[-1]
        if not last.given and "[" not in path and path not in ID_FIELDS and _is_small(last.value):
            set_field(request, path, last.value)
    set_field(request, "namespace", FUZZED)
    return request


def _is_small(value: Any) -> bool:
    return value is not None and not isinstance(value, list) and len(str(value)) < 500


def corpus(name: str) -> list[bytes]:
    """Return encoded requests of an RPC: one with nearly all fields, and a usual one."""
    return [request.SerializeToString() for request in (full_request(name), valid_request(name, FUZZED))]
