"""Whatever bytes arrive: a clear answer, no bug, and nobody else's session changes."""

from random import Random
from typing import Any

import grpc
import pytest
from google.protobuf.message import Message as Proto
from google.protobuf.message_factory import GetMessageClass
from google.rpc import error_details_pb2, status_pb2
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.bad_input.conftest import Watch
from tests.bad_input.mutations import BROKEN_UTF8, DEEP_LEVELS, delimited, mutated
from tests.bad_input.rpcs import BUILT, METHODS, NOT_IMPLEMENTED, calls, good, put, send_bytes
from tests.bad_input.table import TABLE
from tests.support.process import Client, Refusal, SidecarProcess

CLEAR = {
    "OK",
    "INVALID_ARGUMENT",
    "NOT_FOUND",
    "ALREADY_EXISTS",
    "ABORTED",
    "FAILED_PRECONDITION",
    "RESOURCE_EXHAUSTED",
    "UNIMPLEMENTED",
}
ROUNDS = 60
SEED = 20_260_131
NAMES = sorted(METHODS)
FUZZED = "fuzzed"
KEPT = ("session_id", "message_id", "document_id", "document.id", "artifact_id", "artifact.id", "fact_id")


def rich(name: str) -> Proto:
    """A request with nearly every field set, to a session that nobody watches, in a namespace of its own."""
    if name in NOT_IMPLEMENTED:
        return GetMessageClass(METHODS[name].input_type)()
    request = good(name, FUZZED)
    for path, field in TABLE[name].items():
        last = field.right[-1]
        if not last.given and "[" not in path and path not in KEPT and _is_small(last.value):
            put(request, path, last.value)
    put(request, "namespace", FUZZED)
    return request


def _is_small(value: Any) -> bool:
    return value is not None and not isinstance(value, list) and len(str(value)) < 500


def answer_to(client: Client, name: str, requests: list[bytes]) -> str:
    """The code of the answer, which if it is an error must have its details."""
    try:
        send_bytes(client, name, requests)
    except grpc.RpcError as error:
        refused = Refusal(error)
        assert refused.code.name in CLEAR, (name, refused.code, refused.message)
        assert_one_error_info(error)
        return str(refused.code.name)
    return "OK"


def assert_one_error_info(error: Any) -> None:
    (encoded,) = [value for key, value in error.trailing_metadata() if key == "grpc-status-details-bin"]
    status = status_pb2.Status.FromString(encoded)
    infos = [detail for detail in status.details if detail.Is(error_details_pb2.ErrorInfo.DESCRIPTOR)]
    assert len(infos) == 1
    info = error_details_pb2.ErrorInfo()
    infos[0].Unpack(info)
    assert info.domain == "memsidecar.dev"


@pytest.mark.parametrize("name", NAMES)
def test_a_spoiled_request_gets_a_clear_answer(connected: Client, watch: Watch, name: str) -> None:
    before = watch.messages
    random = Random(f"{SEED} {name}")
    sources = [rich(name).SerializeToString() or b"\x0a\x01a"]
    if name not in NOT_IMPLEMENTED:
        sources.append(good(name, FUZZED).SerializeToString())
    seen = {answer_to(connected, name, [mutated(random.choice(sources), random)]) for _ in range(ROUNDS)}
    # Bytes that are no request are told from one that cannot be answered yet, as who asks must be known first.
    assert seen == {"UNIMPLEMENTED", "INVALID_ARGUMENT"} if name in NOT_IMPLEMENTED else "INVALID_ARGUMENT" in seen
    assert watch.messages == before


def test_any_bytes_get_a_clear_answer(connected: Client, watch: Watch) -> None:
    @settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True, database=None)
    @given(name=st.sampled_from(NAMES), requests=st.lists(st.binary(max_size=60), min_size=1, max_size=3))
    @example(name="AddStream", requests=[b"", b""])
    @example(name="Add", requests=[b"\x23" * DEEP_LEVELS])
    @example(name="Add", requests=[b"\x22" * DEEP_LEVELS])
    def send_anything(name: str, requests: list[bytes]) -> None:
        answer_to(connected, name, requests)

    before = watch.messages
    send_anything()
    assert watch.messages == before


@pytest.mark.parametrize("name", BUILT)
def test_text_that_is_not_utf8_is_refused(connected: Client, watch: Watch, name: str) -> None:
    watch.look_again()
    request = good(name).SerializeToString()
    answers = {broken: answer_to(connected, name, [request + delimited(1, b"a" + broken)]) for broken in BROKEN_UTF8}
    assert answers == dict.fromkeys(BROKEN_UTF8, "INVALID_ARGUMENT")
    assert watch.saw_no_change()


def test_a_stream_that_is_spoiled_midway_keeps_what_was_answered(connected: Client) -> None:
    one = good("AddStream", "midway").SerializeToString()
    for spoiled in (b"\xff", one[:-3], delimited(4, b"\xff")):
        assert answer_to(connected, "AddStream", [one, one, spoiled, one]) == "INVALID_ARGUMENT"
    assert len(connected.all("midway")) == 6


def test_broken_streams_do_not_use_up_the_streams(sidecar: SidecarProcess) -> None:
    """More of them than may be open at once: each gives its place back."""
    with sidecar.client() as client:
        for round_ in range(50):
            request = good("AddStream", f"streams-{round_}").SerializeToString()
            channel: Any = client.channel
            stream = channel.stream_stream("/memsidecar.v1.MemoryService/AddStream")(iter([request] * 20), timeout=30)
            next(stream)
            stream.cancel()
        assert answer_to(client, "AddStream", [good("AddStream", "streams").SerializeToString()]) == "OK"


def test_spoiled_requests_left_no_bug_in_the_log(sidecar: SidecarProcess) -> None:
    assert "Traceback" not in sidecar.log()
    assert sidecar.process.poll() is None


def test_a_rich_request_is_good_before_it_is_spoiled(connected: Client) -> None:
    connected.add(FUZZED, "hello", id="known", namespace=FUZZED, tool_calls=calls(0))
    codes = {name: answer_to(connected, name, [rich(name).SerializeToString()]) for name in TABLE}
    assert set(codes.values()) <= {"OK", "FAILED_PRECONDITION", "NOT_FOUND"}
