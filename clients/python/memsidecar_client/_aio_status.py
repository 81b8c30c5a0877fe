"""The status with which the server ended a stream, which grpc.aio may lose.

If a request is being sent when the server ends the stream, grpc.aio replaces the status by INTERNAL (grpc/grpc issue
36066). Callbacks see the first one.
"""

from collections.abc import Coroutine
from typing import Any, TypeVar

import grpc.aio

T = TypeVar("T")


class FirstStatus:
    """Keeps the first status of a call, as an error."""

    def __init__(self, call: Any) -> None:
        self.error: grpc.aio.AioRpcError | None = None
        call.add_done_callback(self._keep)

    def _keep(self, call: Any) -> None:
        if self.error is None and (code := _at_once(call.code())) is not grpc.StatusCode.OK:
            trailing, details = _at_once(call.trailing_metadata()), _at_once(call.details())
            self.error = grpc.aio.AioRpcError(code, grpc.aio.Metadata(), trailing, details)


def _at_once(coroutine: Coroutine[Any, Any, T]) -> T:
    """Return the result of a coroutine that does not suspend: the call is done."""
    try:
        coroutine.send(None)
    except StopIteration as result:
        value: T = result.value
        return value
    coroutine.close()
    raise AssertionError("the call is done, and its status unknown")
