"""The W3C headers of the caller's current span, if the application uses OpenTelemetry."""

try:
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
except ImportError:

    def trace_headers() -> tuple[tuple[str, str], ...]:
        """Return no headers: OpenTelemetry is not installed."""
        return ()

else:
    # Not the application's propagators: its baggage may contain data that is not for the sidecar.
    _PROPAGATOR = TraceContextTextMapPropagator()

    def trace_headers() -> tuple[tuple[str, str], ...]:
        """Return the headers as metadata of a call; none outside of a span."""
        headers: dict[str, str] = {}
        _PROPAGATOR.inject(headers)
        return tuple(headers.items())
