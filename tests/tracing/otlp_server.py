"""A server that receives traces over OTLP, as the backend of a collector does, and keeps the spans."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import grpc
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2_grpc import (
    TraceServiceServicer,
    add_TraceServiceServicer_to_server,
)
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from tests.support.waiting import HANG_SECONDS


def attributes_of(span: Span) -> dict[str, Any]:
    """Return the attributes of a span, with values as Python has them."""
    return {each.key: getattr(each.value, each.value.WhichOneof("value") or "string_value") for each in span.attributes}


@dataclass
class Received:
    """The spans that arrived, with the resource and the metadata that they arrived with."""

    address: str = ""
    spans: list[Span] = field(default_factory=list)
    services: set[str] = field(default_factory=set)
    metadata: dict[str, str] = field(default_factory=dict)
    arrived: threading.Condition = field(default_factory=threading.Condition)

    def wait_for(self, holds: Callable[[list[Span]], bool]) -> list[Span]:
        """Wait until the spans satisfy a condition, and return them."""
        with self.arrived:
            came = self.arrived.wait_for(lambda: holds(self.spans), HANG_SECONDS)
            assert came, [span.name for span in self.spans]
            return list(self.spans)

    def trace(self, trace_id: bytes, names: set[str]) -> dict[str, Span]:
        """Wait for spans of a trace with these names; return its spans by name."""

        def of_trace(spans: list[Span]) -> dict[str, Span]:
            return {span.name: span for span in spans if span.trace_id == trace_id}

        return of_trace(self.wait_for(lambda spans: names <= of_trace(spans).keys()))


class _Service(TraceServiceServicer):
    def __init__(self, received: Received) -> None:
        self._received = received

    def Export(self, request: ExportTraceServiceRequest, context: grpc.ServicerContext) -> ExportTraceServiceResponse:
        received = self._received
        with received.arrived:
            for each in request.resource_spans:
                names = [one.value.string_value for one in each.resource.attributes if one.key == "service.name"]
                received.services.update(names)
                received.spans.extend(span for scope in each.scope_spans for span in scope.spans)
            received.metadata.update({key: str(value) for key, value in context.invocation_metadata()})
            received.arrived.notify_all()
        return ExportTraceServiceResponse()


@contextmanager
def otlp_server() -> Iterator[Received]:
    server = grpc.server(ThreadPoolExecutor(2))
    received = Received()
    add_TraceServiceServicer_to_server(_Service(received), server)  # type: ignore[no-untyped-call]
    received.address = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
    server.start()
    try:
        yield received
    finally:
        server.stop(None).wait(HANG_SECONDS)
