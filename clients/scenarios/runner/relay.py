"""A gRPC relay between a client and a sidecar that injects errors and records all calls.

It produces errors that a sidecar does not produce on demand, and records what a client sends.
"""

import itertools
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import grpc
from google.protobuf import any_pb2
from google.rpc import error_details_pb2, status_pb2

DETAILS = "grpc-status-details-bin"
DOMAIN = "memsidecar.dev"
NO_DEADLINE_SECONDS = 1e6
_HOP_BY_HOP = ("user-agent", "grpc-", ":")


class Relay(grpc.GenericRpcHandler):
    def __init__(self, target: str) -> None:
        options = (("grpc.use_local_subchannel_pool", 1), ("grpc.enable_retries", 0))
        self._channel = grpc.insecure_channel(target, options)
        self._server = grpc.server(ThreadPoolExecutor(32))
        self._server.add_generic_rpc_handlers((self,))
        self.address = f"127.0.0.1:{self._server.add_insecure_port('127.0.0.1:0')}"
        self._lock = threading.Lock()
        self._rules: list[dict[str, Any]] = []
        self.recorded: list[dict[str, Any]] = []
        self._server.start()

    def add_rule(self, rule: dict[str, Any]) -> None:
        """Answer the next `times` calls of `rpc` with `error`; with `stored`, after the sidecar has processed the call.

        With `ends_after` instead of an error, a stream ends with OK after so many responses.
        """
        with self._lock:
            self._rules.append({"times": 1, "stored": False, "after_seconds": 0, **rule})

    def close(self) -> None:
        self._server.stop(None)
        self._channel.close()

    def service(self, handler_call_details: grpc.HandlerCallDetails) -> Any:
        """Return one handler for all methods: the relay forwards every call as a stream of bytes."""
        path: str = handler_call_details.method
        return grpc.stream_stream_rpc_method_handler(lambda requests, context: self._handle(path, requests, context))

    def _handle(self, path: str, requests: Iterator[bytes], context: Any) -> Iterator[bytes]:
        rpc = path.rpartition("/")[2]
        rule = self._record(rpc, context)
        if rule and "ends_after" in rule:
            yield from itertools.islice(self._forward(path, requests, context), rule["ends_after"])
            return
        if rule and not rule["stored"]:
            time.sleep(rule["after_seconds"])
            _abort(context, rule["error"])
        responses = list(self._forward(path, requests, context)) if rule else self._forward(path, requests, context)
        if rule:
            _abort(context, rule["error"])
        yield from responses

    def _forward(self, path: str, requests: Iterator[bytes], context: Any) -> Iterator[bytes]:
        metadata = [(key, value) for key, value in context.invocation_metadata() if not key.startswith(_HOP_BY_HOP)]
        call: Any = self._channel.stream_stream(path)
        try:
            yield from call(requests, timeout=_remaining(context), metadata=metadata)
        except grpc.RpcError as error:
            failed: Any = error
            context.set_trailing_metadata(failed.trailing_metadata() or ())
            context.abort(failed.code(), failed.details() or "")

    def _record(self, rpc: str, context: Any) -> dict[str, Any] | None:
        """Record a call and return the rule that applies to it, if any."""
        metadata = dict(context.invocation_metadata())
        recorded = {
            "rpc": rpc,
            "authorization": metadata.get("authorization"),
            "user_agent": metadata.get("user-agent"),
            "deadline_seconds": _remaining(context),
        }
        with self._lock:
            self.recorded.append(recorded)
            rule = next((rule for rule in self._rules if rule["rpc"] == rpc and rule["times"] > 0), None)
            if rule:
                rule["times"] -= 1
            return rule


def _remaining(context: Any) -> float | None:
    """Return the seconds until the deadline, or None. gRPC reports centuries for a call without a deadline."""
    seconds: float | None = context.time_remaining()
    return None if seconds is None or seconds > NO_DEADLINE_SECONDS else seconds


def _abort(context: Any, error: dict[str, Any]) -> None:
    code = grpc.StatusCode[error["code"]]
    status = status_pb2.Status(code=code.value[0], message=error.get("message", "injected by the relay"))
    for detail in _details(error):
        packed = any_pb2.Any()
        packed.Pack(detail)
        status.details.append(packed)
    if status.details:
        context.set_trailing_metadata(((DETAILS, status.SerializeToString()),))
    context.abort(code, status.message)


def _details(error: dict[str, Any]) -> Iterator[Any]:
    if reason := error.get("reason"):
        yield error_details_pb2.ErrorInfo(
            reason=reason, domain=error.get("domain", DOMAIN), metadata=error.get("metadata", {})
        )
    if field := error.get("field"):
        violation = error_details_pb2.BadRequest.FieldViolation(field=field, description="is wrong")
        yield error_details_pb2.BadRequest(field_violations=[violation])
    if (seconds := error.get("retry_after_seconds")) is not None:
        retry = error_details_pb2.RetryInfo()
        retry.retry_delay.FromMilliseconds(round(1000 * seconds))
        yield retry
