"""Spans of the call under way: steps of its trace. Without a traced call a step costs one lookup.

Only `assembly` knows which library records them.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from contextvars import ContextVar, Token
from types import TracebackType
from typing import Protocol

from memsidecar.domain.errors import SidecarError

AttributeValue = str | int | float | bool
Metadata = Iterable[tuple[str, str | bytes]]
"The metadata that came with a call."


class Span(Protocol):
    """A step of a trace. Thread-safe."""

    def child(self, name: str) -> Span:
        """Begin a step within this one."""

    def set_attribute(self, name: str, value: AttributeValue) -> None: ...

    def end(self, error_type: str = "", *, is_failure: bool = True) -> None:
        """End the step. `error_type` is empty without an error. `is_failure`: the caller did not cause the error."""


class Tracer(Protocol):
    """Begins the span of a call, and exports what has ended."""

    def start_call(self, system: str, method: str, metadata: Metadata) -> Span | None:
        """Begin the span of a call, within the trace of its caller if `metadata` names one. None: it is not sampled.

        `system` is the protocol by its name in OpenTelemetry.
        """

    def close(self) -> None:
        """Export what has ended, for a bounded time."""


_current: ContextVar[Span | None] = ContextVar("span of the call", default=None)
_UNTRACED: AbstractContextManager[None] = nullcontext()


class ActiveSpan:
    """Makes a span the parent of steps in its block, and ends it afterwards.

    A refusal is no failure of a step: whether the sidecar failed is said by the span of the call.
    """

    __slots__ = ("_span", "_token")

    def __init__(self, span: Span) -> None:
        self._span = span
        self._token: Token[Span | None] | None = None

    def __enter__(self) -> None:
        self._token = _current.set(self._span)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._token is not None:
            _current.reset(self._token)
        is_failure = kind is not None and not issubclass(kind, SidecarError)
        self._span.end(kind.__name__ if kind else "", is_failure=is_failure)


def step(name: str) -> AbstractContextManager[None]:
    """Return a context manager that records its block as a step of the call under way, if that is traced."""
    parent = _current.get()
    return _UNTRACED if parent is None else ActiveSpan(parent.child(name))


def begin(span: Span) -> None:
    """Make the span that of the call under way, until its task ends."""
    _current.set(span)


def set_attribute(name: str, value: AttributeValue) -> None:
    """Set an attribute of the step under way, if the call is traced."""
    span = _current.get()
    if span is not None:
        span.set_attribute(name, value)
