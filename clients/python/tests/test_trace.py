"""The client sends the caller's current span, so that the sidecar's spans belong to the same trace."""

from opentelemetry.trace import NonRecordingSpan, SpanContext, TraceFlags, TraceState, use_span

from memsidecar_client._trace import trace_headers

SPAN = SpanContext(
    trace_id=0xA5, span_id=0xB6, is_remote=False, trace_flags=TraceFlags(1), trace_state=TraceState([("vendor", "1")])
)


def test_the_current_span_is_in_the_metadata() -> None:
    with use_span(NonRecordingSpan(SPAN)):
        assert dict(trace_headers()) == {
            "traceparent": "00-000000000000000000000000000000a5-00000000000000b6-01",
            "tracestate": "vendor=1",
        }


def test_there_is_no_metadata_outside_of_a_span() -> None:
    assert trace_headers() == ()
