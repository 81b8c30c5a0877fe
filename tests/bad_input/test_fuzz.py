"""Arbitrary bytes as requests: a documented status, no internal error, and no change of another session."""

from random import Random
from typing import Any

import grpc
import pytest
from google.rpc import error_details_pb2, status_pb2
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.bad_input.conftest import Watch
from tests.bad_input.corpus import DOCUMENTED_CODES, FUZZED, corpus, full_request
from tests.bad_input.field_table import TABLE
from tests.bad_input.mutations import BROKEN_UTF8, DEEP_LEVELS, delimited, mutated
from tests.bad_input.rpcs import METHODS, calls, send_bytes, valid_request
from tests.support.process import Client, Refusal, SidecarProcess

ROUNDS = 60
SEED = 20_260_131
NAMES = sorted(METHODS)


def status_of(client: Client, name: str, requests: list[bytes]) -> str:
    """Return the status code; an error must have its details."""
    try:
        send_bytes(client, name, requests)
    except grpc.RpcError as error:
        refused = Refusal(error)
        assert refused.code.name in DOCUMENTED_CODES, (name, refused.code, refused.message)
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
def test_a_mutated_request_gets_a_documented_status(connected: Client, watch: Watch, name: str) -> None:
    before = watch.messages
    random = Random(f"{SEED} {name}")
    sources = corpus(name)
    statuses = {status_of(connected, name, [mutated(random.choice(sources), random)]) for _ in range(ROUNDS)}
    assert "INVALID_ARGUMENT" in statuses
    assert watch.messages == before


def test_arbitrary_bytes_get_a_documented_status(connected: Client, watch: Watch) -> None:
    @settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True, database=None)
    @given(name=st.sampled_from(NAMES), requests=st.lists(st.binary(max_size=60), min_size=1, max_size=3))
    @example(name="AddStream", requests=[b"", b""])
    @example(name="Add", requests=[b"\x23" * DEEP_LEVELS])
    @example(name="Add", requests=[b"\x22" * DEEP_LEVELS])
    def send_arbitrary_bytes(name: str, requests: list[bytes]) -> None:
        status_of(connected, name, requests)

    before = watch.messages
    send_arbitrary_bytes()
    assert watch.messages == before


@pytest.mark.parametrize("name", sorted(METHODS))
def test_text_that_is_not_utf8_is_refused(connected: Client, watch: Watch, name: str) -> None:
    watch.accept_changes()
    request = valid_request(name).SerializeToString()
    answers = {broken: status_of(connected, name, [request + delimited(1, b"a" + broken)]) for broken in BROKEN_UTF8}
    assert answers == dict.fromkeys(BROKEN_UTF8, "INVALID_ARGUMENT")
    assert watch.is_unchanged()


def test_an_invalid_request_in_a_stream_keeps_the_acknowledged_messages(connected: Client) -> None:
    request = valid_request("AddStream", "midway").SerializeToString()
    for invalid in (b"\xff", request[:-3], delimited(4, b"\xff")):
        assert status_of(connected, "AddStream", [request, request, invalid, request]) == "INVALID_ARGUMENT"
    assert len(connected.all("midway")) == 6


def test_broken_streams_do_not_use_up_the_streams(sidecar: SidecarProcess) -> None:
    """There are more of them than may be open at once: each releases its slot."""
    with sidecar.client() as client:
        for round_ in range(50):
            request = valid_request("AddStream", f"streams-{round_}").SerializeToString()
            channel: Any = client.channel
            stream = channel.stream_stream("/memsidecar.v1.MemoryService/AddStream")(iter([request] * 20), timeout=30)
            next(stream)
            stream.cancel()
        assert status_of(client, "AddStream", [valid_request("AddStream", "streams").SerializeToString()]) == "OK"


def test_mutated_requests_leave_no_traceback_in_the_log(sidecar: SidecarProcess) -> None:
    assert "Traceback" not in sidecar.log()
    assert sidecar.process.poll() is None


def test_a_full_request_is_valid_before_it_is_mutated(connected: Client) -> None:
    connected.add(FUZZED, "hello", id="known", namespace=FUZZED, tool_calls=calls(0))
    codes = {name: status_of(connected, name, [full_request(name).SerializeToString()]) for name in TABLE}
    assert set(codes.values()) <= {"OK", "FAILED_PRECONDITION", "NOT_FOUND"}
