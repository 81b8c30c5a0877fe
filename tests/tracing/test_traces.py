"""Traces of calls, as a collector receives them over OTLP."""

import secrets
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from memsidecar.v1 import context_pb2, memory_pb2
from memsidecar.v1.message_pb2 import Message, Role
from memsidecar.v1.session_pb2 import EVENT_KIND_ADDED, EVENT_KIND_HEARTBEAT, WatchRequest
from tests.support.process import Client, SidecarProcess
from tests.support.waiting import HANG_SECONDS
from tests.tracing.otlp_server import Received, attributes_of, otlp_server

SERVICE = "memsidecar.v1.MemoryService"
SECRET_TEXT = "the launch code is walrus"


@pytest.fixture(scope="module")
def received() -> Iterator[Received]:
    with otlp_server() as received:
        yield received


@pytest.fixture(scope="module")
def sidecar(received: Received, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SidecarProcess]:
    flags = ("--index", "volatile", "--otlp-endpoint", f"http://{received.address}", "--trace-sample-ratio", "0")
    environ = {"OTEL_BSP_SCHEDULE_DELAY": "50", "OTEL_EXPORTER_OTLP_HEADERS": "x-tenant=blue"}
    with SidecarProcess(tmp_path_factory.mktemp("traced") / "data", *flags, environ=environ) as sidecar:
        yield sidecar


@pytest.fixture(scope="module")
def client(sidecar: SidecarProcess) -> Iterator[Client]:
    with sidecar.client() as client:
        yield client


class Caller:
    """The caller's side of a trace: its id, the span of the call, and the metadata that names both."""

    def __init__(self, sampled: bool = True) -> None:
        self.trace_id, self.span_id = secrets.token_bytes(16), secrets.token_bytes(8)
        traceparent = f"00-{self.trace_id.hex()}-{self.span_id.hex()}-{'01' if sampled else '00'}"
        self.metadata = (("traceparent", traceparent), ("tracestate", "vendor=1"))

    def call(self, rpc: Any, request: Any) -> Any:
        return rpc(request, metadata=self.metadata, timeout=HANG_SECONDS)


def add(session: str, content: str = "I live in Porto.") -> memory_pb2.AddRequest:
    return memory_pb2.AddRequest(session_id=session, message=Message(role=Role.ROLE_USER, content=content))


def test_an_add_is_a_span_of_its_callers_trace_with_admission_and_journal(client: Client, received: Received) -> None:
    caller = Caller()
    caller.call(client.memory.Add, add("traced"))
    spans = received.trace(caller.trace_id, {f"{SERVICE}/Add", "admission", "journal"})
    call = spans[f"{SERVICE}/Add"]
    assert call.parent_span_id == caller.span_id and call.trace_state == "vendor=1"
    assert call.kind == Span.SPAN_KIND_SERVER and call.status.code == Status.STATUS_CODE_UNSET
    assert attributes_of(call) == {
        "rpc.system.name": "grpc",
        "rpc.method": f"{SERVICE}/Add",
        "rpc.response.status_code": "OK",
    }
    steps = [spans["admission"], spans["journal"]]
    assert all(step.parent_span_id == call.span_id for step in steps)
    assert call.start_time_unix_nano <= steps[0].start_time_unix_nano <= steps[1].start_time_unix_nano
    assert steps[1].end_time_unix_nano <= call.end_time_unix_nano
    assert received.services == {"memsidecar"} and received.metadata["x-tenant"] == "blue"


def test_a_search_has_the_embedding_of_its_query_as_a_step(client: Client, received: Received) -> None:
    caller = Caller()
    client.add("searched", "We moved to Porto in May.", user_id="ines")
    caller.call(client.memory.Search, memory_pb2.SearchRequest(user_id="ines", query="Where did we move?"))
    spans = received.trace(caller.trace_id, {f"{SERVICE}/Search", "search", "embed"})
    assert spans["search"].parent_span_id == spans[f"{SERVICE}/Search"].span_id
    assert spans["embed"].parent_span_id == spans["search"].span_id


def test_a_context_has_search_and_assemble_with_its_tokens(client: Client, received: Received) -> None:
    caller = Caller()
    client.add("built", "My sister Ana plays the cello.", user_id="rui")
    request = context_pb2.BuildContextRequest(session_id="built", user_id="rui", query="Who plays?", max_tokens=900)
    response = caller.call(client.memory.BuildContext, request)
    spans = received.trace(caller.trace_id, {f"{SERVICE}/BuildContext", "search", "assemble"})
    assert spans["assemble"].parent_span_id == spans[f"{SERVICE}/BuildContext"].span_id
    assert attributes_of(spans["assemble"]) == {
        "memsidecar.context.tokens": response.total_tokens,
        "memsidecar.context.budget_tokens": 900,
    }


def test_a_stream_and_a_watch_are_spans_without_steps(client: Client, received: Received) -> None:
    caller = Caller()
    request = memory_pb2.AddStreamRequest(
        session_id="streamed", message=Message(role=Role.ROLE_USER, content="Streamed.")
    )
    answers = client.memory.AddStream(iter([request]), metadata=caller.metadata, timeout=HANG_SECONDS)
    assert len(list(answers)) == 1
    watch = client.sessions.Watch(WatchRequest(), metadata=caller.metadata, timeout=HANG_SECONDS)
    assert next(watch).kind == EVENT_KIND_HEARTBEAT
    client.add("streamed", "told to the watcher")
    assert next(watch).kind == EVENT_KIND_ADDED
    watch.cancel()
    names = {f"{SERVICE}/AddStream", "memsidecar.v1.SessionService/Watch"}
    spans = received.trace(caller.trace_id, names)
    assert spans.keys() == names
    assert attributes_of(spans["memsidecar.v1.SessionService/Watch"])["error.type"] == "CANCELLED"


def test_the_span_of_a_refused_call_has_its_status_and_reason(client: Client, received: Received) -> None:
    caller = Caller()
    with pytest.raises(grpc.RpcError):
        caller.call(client.memory.Add, memory_pb2.AddRequest(session_id="refused"))
    call = received.trace(caller.trace_id, {f"{SERVICE}/Add"})[f"{SERVICE}/Add"]
    found = attributes_of(call)
    assert found["rpc.response.status_code"] == "INVALID_ARGUMENT" and found["error.type"] == "INVALID_FIELD"
    assert call.status.code == Status.STATUS_CODE_UNSET, "the caller's error is no failure of the server"


def test_neither_unsampled_calls_nor_content_are_exported(client: Client, received: Received) -> None:
    unsampled, last = Caller(sampled=False), Caller()
    unsampled.call(client.memory.Add, add("quiet"))
    client.add("quiet", "without a trace, at a sample ratio of 0")
    last.call(client.memory.Add, add("quiet", SECRET_TEXT))
    received.trace(last.trace_id, {f"{SERVICE}/Add", "admission", "journal"})
    spans = received.wait_for(bool)
    assert not [span for span in spans if span.trace_id == unsampled.trace_id]
    assert not [span for span in spans if span.kind == Span.SPAN_KIND_SERVER and not span.parent_span_id]
    text = b"".join(span.SerializeToString() for span in spans)
    assert not [secret for secret in (b"walrus", b"quiet", b"ines", b"Porto") if secret in text]


@pytest.mark.parametrize(
    "metadata",
    [
        [("traceparent", "00-" + "0" * 32 + "-" + "0" * 16 + "-01")],
        [("traceparent", "no trace")],
        [("traceparent", "00-" + "a" * 32 + "-" + "b" * 16 + "-01" + "-x" * 3_000)],
        [("traceparent", "00-" + "a" * 32 + "-" + "b" * 16 + "-00"), ("tracestate", "a=1," * 1_500)],
        [("traceparent-bin", b"\xff"), ("tracestate", "=" * 400)],
    ],
)
def test_a_call_with_invalid_trace_headers_is_answered_and_has_no_trace(
    client: Client, received: Received, metadata: list[tuple[str, Any]]
) -> None:
    assert client.memory.Add(add("hostile"), metadata=metadata, timeout=HANG_SECONDS).sequence > 0
    caller = Caller()
    caller.call(client.memory.Add, add("hostile"))
    received.trace(caller.trace_id, {f"{SERVICE}/Add"})
    assert not [span for span in received.spans if span.trace_id == b"\xaa" * 16]


def test_a_collector_that_does_not_answer_delays_neither_calls_nor_the_exit(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        endpoint = f"http://127.0.0.1:{silent.getsockname()[1]}"
        with SidecarProcess(tmp_path / "data", "--otlp-endpoint", endpoint, "--index", "off") as sidecar:
            with sidecar.client() as client:
                for number in range(20):
                    client.add("s", f"message {number}")
                assert len(client.all("s")) == 20
            assert sidecar.stop() == 0
        assert "memsidecar.assembly.serve stopped" in sidecar.log()


def test_an_invalid_header_variable_is_not_logged(tmp_path: Path, received: Received) -> None:
    environ = {"OTEL_EXPORTER_OTLP_HEADERS": "authorization Bearer hunter2"}
    flags = ("--index", "off", "--otlp-endpoint", f"http://{received.address}")
    with SidecarProcess(tmp_path / "data", *flags, environ=environ) as sidecar:
        assert sidecar.stop() == 0
        assert "hunter2" not in sidecar.log()
