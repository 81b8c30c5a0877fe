"""Traces by the OpenTelemetry SDK, exported over OTLP. Imported only if `otlp_endpoint` is set."""

import logging
from threading import Thread

from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import SERVICE_NAME, SERVICE_VERSION, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.sampling import ParentBased, TraceIdRatioBased
from opentelemetry.trace import Span as OtelSpan
from opentelemetry.trace import SpanKind, StatusCode, set_span_in_context
from opentelemetry.trace import Tracer as OtelTracer
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from memsidecar.spans import AttributeValue, Metadata, Span

LIBRARY = "memsidecar"
MAX_HEADER_CHARACTERS = 512
"Longer headers are ignored. The W3C asks for as many characters of `tracestate`; `traceparent` has 55."
CLOSE_SECONDS = 2.0
"Time to export the last spans. A collector that does not answer must not delay the exit."
_HEADERS = ("traceparent", "tracestate")

# It prints invalid headers of OTEL_EXPORTER_OTLP_HEADERS, which may contain a token.
logging.getLogger("opentelemetry.util.re").disabled = True


class OtlpSpan:
    """A recorded span. Implements `spans.Span`."""

    __slots__ = ("_span", "_tracer")

    def __init__(self, tracer: OtelTracer, span: OtelSpan) -> None:
        self._tracer = tracer
        self._span = span

    def child(self, name: str) -> Span:
        within = set_span_in_context(self._span)
        return OtlpSpan(self._tracer, self._tracer.start_span(name, within))

    def set_attribute(self, name: str, value: AttributeValue) -> None:
        self._span.set_attribute(name, value)

    def end(self, error_type: str = "", *, is_failure: bool = True) -> None:
        if error_type:
            self._span.set_attribute("error.type", error_type)
            if is_failure:
                self._span.set_status(StatusCode.ERROR)
        self._span.end()


class OtlpTracer:
    """Exports spans in batches, on a thread. Spans that do not fit into its queue are dropped.

    The sampling of a caller's trace is the caller's decision; `sample_ratio` is that of calls without a trace.
    """

    def __init__(self, endpoint: str, sample_ratio: float, version: str) -> None:
        resource = Resource.create({SERVICE_NAME: LIBRARY, SERVICE_VERSION: version})
        self._exporter = OTLPSpanExporter(endpoint=endpoint)
        self._provider = TracerProvider(
            sampler=ParentBased(TraceIdRatioBased(sample_ratio)), resource=resource, shutdown_on_exit=False
        )
        self._provider.add_span_processor(BatchSpanProcessor(self._exporter))
        self._tracer = self._provider.get_tracer(LIBRARY, version)
        self._propagator = TraceContextTextMapPropagator()

    def start_call(self, system: str, method: str, metadata: Metadata) -> Span | None:
        attributes = {"rpc.system.name": system, "rpc.method": method}
        parent = self._propagator.extract(_trace_headers(metadata))
        span = self._tracer.start_span(method, parent, SpanKind.SERVER, attributes)
        return OtlpSpan(self._tracer, span) if span.is_recording() else None

    def close(self) -> None:
        closing = Thread(target=self._provider.shutdown, name="span exporter", daemon=True)
        closing.start()
        closing.join(CLOSE_SECONDS)
        if closing.is_alive():
            self._exporter.shutdown(0)


def _trace_headers(metadata: Metadata) -> dict[str, str]:
    """Return the headers of the W3C. Text that is too long, or that is there twice, is left out."""
    found: dict[str, str] = {}
    for name, value in metadata:
        if name in _HEADERS and isinstance(value, str):
            found[name] = "" if name in found or len(value) > MAX_HEADER_CHARACTERS else value
    return {name: value for name, value in found.items() if value}
