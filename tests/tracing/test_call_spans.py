"""The outcome of a call in its span: status, reason, and whether the sidecar failed."""

import asyncio
from typing import Any

import pytest

from memsidecar.api.interceptors.call_spans import STATUS_ATTRIBUTE, CallSpans
from memsidecar.domain import errors
from memsidecar.spans import AttributeValue, Metadata, Span

METHOD = "memsidecar.v1.MemoryService.Add"


class RecordedSpan:
    """A span that keeps what it is told."""

    def __init__(self) -> None:
        self.attributes: dict[str, AttributeValue] = {}
        self.ended: list[tuple[str, bool]] = []

    def child(self, name: str) -> Span:
        raise AssertionError(f"there is no step {name}")

    def set_attribute(self, name: str, value: AttributeValue) -> None:
        self.attributes[name] = value

    def end(self, error_type: str = "", *, is_failure: bool = True) -> None:
        self.ended.append((error_type, is_failure))


class RecordingTracer:
    """Begins one span."""

    def __init__(self) -> None:
        self.span = RecordedSpan()

    def start_call(self, _system: str, _method: str, _metadata: Metadata) -> Span | None:
        return self.span

    def close(self) -> None:
        """Export nothing."""


class CallerContext:
    """The part of gRPC's context that the interceptor uses."""

    def invocation_metadata(self) -> Metadata:
        return ()


@pytest.mark.parametrize(
    ("error", "status", "reason", "is_failure"),
    [
        (errors.InvalidField("message", "is required"), "INVALID_ARGUMENT", "INVALID_FIELD", False),
        (errors.Overloaded("try again"), "UNAVAILABLE", "OVERLOADED", True),
        (errors.DeadlineExceeded(), "DEADLINE_EXCEEDED", "DEADLINE_EXCEEDED", True),
        (ValueError("a bug"), "INTERNAL", "INTERNAL", True),
        (asyncio.CancelledError(), "CANCELLED", "CANCELLED", False),
    ],
)
def test_a_failed_call_has_its_status_and_reason(
    error: BaseException, status: str, reason: str, is_failure: bool
) -> None:
    tracer, context = RecordingTracer(), CallerContext()
    untyped_context: Any = context

    async def fail(_request: object, _context: object) -> bytes:
        raise error

    with pytest.raises(type(error)):
        asyncio.run(_called(CallSpans(tracer).unary(METHOD, fail)(b"", untyped_context)))
    assert tracer.span.attributes == {STATUS_ATTRIBUTE: status}
    assert tracer.span.ended == [(reason, is_failure)]


async def _called(call: Any) -> None:
    await call
