"""Oversized requests are refused as TOO_LARGE with details, and nothing of them is stored."""

from functools import partial

from google.protobuf.struct_pb2 import Value

from memsidecar.v1 import memory_pb2 as memory
from memsidecar.v1.message_pb2 import ROLE_ASSISTANT, ROLE_USER, Message, ToolCall
from tests.bad_input.conftest import Watch
from tests.bad_input.field_values import METADATA_BYTES, MIB, NAN, metadata_of_bytes, tags
from tests.bad_input.rpcs import METHODS, WATCHED, send, send_bytes, set_field, valid_request
from tests.support.process import Client, Refusal, refusal

PADDING_FIELD = b"\xfa\x7f"  # an unknown field with the number 2047


def padded(request: bytes, size: int) -> bytes:
    """Return the request, padded to this size with an unknown field."""
    remaining = size - len(request) - len(PADDING_FIELD)
    for length_bytes in range(1, 6):
        length = remaining - length_bytes
        encoded = _varint(length)
        if len(encoded) == length_bytes:
            return request + PADDING_FIELD + encoded + b"x" * length
    raise AssertionError(f"there is no padding to {size} bytes")


def _varint(number: int) -> bytes:
    low, rest = number & 0x7F, number >> 7
    return bytes([low | 0x80]) + _varint(rest) if rest else bytes([low])


def assert_too_large(refused: Refusal) -> None:
    assert (refused.code.name, refused.reason) == ("RESOURCE_EXHAUSTED", "TOO_LARGE")
    assert not refused.retry


def test_a_request_of_4_mib_is_read_and_one_byte_more_is_too_large(connected: Client, watch: Watch) -> None:
    count = valid_request("Count").SerializeToString()
    assert send_bytes(connected, "Count", [padded(count, 4 * MIB)])
    assert_too_large(refusal(lambda: send_bytes(connected, "Count", [padded(count, 4 * MIB + 1)])))
    assert watch.is_unchanged()


def test_each_built_rpc_refuses_an_oversized_request_with_details(connected: Client, watch: Watch) -> None:
    for name in METHODS:
        request = padded(valid_request(name).SerializeToString(), 5 * MIB)
        assert_too_large(refusal(partial(send_bytes, connected, name, [request])))
    assert watch.is_unchanged()


def test_beyond_the_limit_of_grpc_itself_a_request_is_resource_exhausted(connected: Client, watch: Watch) -> None:
    for name in ("Add", "AddStream"):
        request = padded(valid_request(name).SerializeToString(), 17 * MIB)
        refused = refusal(partial(send_bytes, connected, name, [request]))
        assert refused.code.name == "RESOURCE_EXHAUSTED"
    assert watch.is_unchanged()


def test_a_query_may_have_as_many_bytes_as_a_message(connected: Client, watch: Watch) -> None:
    for name in ("Search", "SearchDocuments", "BuildContext"):
        request = valid_request(name)
        set_field(request, "query", "é" * (MIB // 2))
        assert send(connected, name, request)
        set_field(request, "query", "é" * (MIB // 2) + "?")
        assert_too_large(refusal(partial(send, connected, name, request)))
    assert watch.is_unchanged()


def test_the_sizes_of_all_parts_of_a_message_are_added(connected: Client, watch: Watch) -> None:
    third = "x" * (MIB // 3 + 1)
    call = ToolCall(id="c", name="n", arguments_json=third)
    message = Message(role=ROLE_ASSISTANT, content=third, reasoning=third, tool_calls=[call])
    request = memory.AddRequest(session_id=WATCHED, message=message)
    assert_too_large(refusal(lambda: send(connected, "Add", request)))
    assert watch.is_unchanged()


def test_one_message_that_is_too_large_refuses_its_batch(connected: Client, watch: Watch) -> None:
    request = memory.AddBatchRequest(session_id=WATCHED)
    request.messages.add(role=ROLE_USER, content="small")
    request.messages.add(role=ROLE_USER, content="x" * (MIB + 1))
    assert_too_large(refusal(lambda: send(connected, "AddBatch", request)))
    assert watch.is_unchanged()


def test_metadata_cannot_grow_past_its_limit_by_annotations(connected: Client, watch: Watch) -> None:
    request = memory.AnnotateRequest(session_id="growing", message_id="m", metadata=metadata_of_bytes(METADATA_BYTES))
    connected.add("growing", "hello", id="m")
    send(connected, "Annotate", request)
    watch.accept_changes()
    set_field(request, "metadata", tags(b="one more"))
    refused = refusal(lambda: send(connected, "Annotate", request))
    assert (refused.code.name, refused.field) == ("INVALID_ARGUMENT", "metadata")
    assert watch.is_unchanged()


def test_a_refusal_that_names_a_long_key_still_has_its_details(connected: Client, watch: Watch) -> None:
    """gRPC drops the details of an error, and the code with them, beyond 8 KiB of headers."""
    for name, path in (("Add", "message.metadata"), ("Annotate", "metadata"), ("StoreInteraction", "metadata")):
        request = valid_request(name)
        set_field(request, path, tags(**{"k" * 12_000: Value(number_value=NAN)}))
        refused = refusal(partial(send, connected, name, request))
        assert (refused.code.name, refused.reason) == ("INVALID_ARGUMENT", "INVALID_FIELD")
    assert watch.is_unchanged()


def test_an_id_of_256_bytes_in_another_script_fits_into_a_refusal(connected: Client) -> None:
    message_id = "\U0001f600" * 64
    connected.add("scripts", "one", id=message_id)
    assert refusal(lambda: connected.add("scripts", "two", id=message_id)).reason == "ID_CONFLICT"
