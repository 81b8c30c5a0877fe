"""`memsidecar check`."""

from __future__ import annotations

import sys
import time
from argparse import Namespace
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

from memsidecar.cli.client_options import ClientOptions, UsageError, client_options
from memsidecar.domain.errors import SidecarError
from memsidecar.settings.client import client_environment
from memsidecar.v1 import context_pb2, memory_pb2, memory_pb2_grpc, session_pb2, session_pb2_grpc
from memsidecar.v1.message_pb2 import ROLE_USER, Message

FAILED = 1
WRONG_USAGE = 2

SERVICE = "memsidecar.v1.MemoryService"
BUDGET_TOKENS = 1_000
CALL_SECONDS = 10.0
# Short, because a sidecar that is just starting may take the connection and not answer on it.
PROBE_SECONDS = 2.0
PAUSE_SECONDS = 0.1

_OPTIONS = (
    # It is awaited, so it is tried again soon.
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.min_reconnect_backoff_ms", 1_000),
    ("grpc.max_reconnect_backoff_ms", 1_000),
    # A sidecar is never behind the proxy that the environment names.
    ("grpc.enable_http_proxy", 0),
)

_NOTHING_LISTENS = "nothing listens there"
# What gRPC says when it cannot connect, and what to do about it.
_HINTS = {
    "CERTIFICATE_VERIFY_FAILED": "its certificate is not signed by --ca-file",
    "Hostname Verification": "its certificate is for another name than --address has",
    "WRONG_VERSION_NUMBER": "it does not speak TLS: leave --ca-file out",
    "CERTIFICATE_REQUIRED": "it wants a certificate: give --certificate-file and --key-file",
    "Connection refused": _NOTHING_LISTENS,
    "No such file": "there is no such socket",
    "lookup failed": "there is no such host",
    "security handshaker": "the PEM files hold no certificate, or no key that fits it",
}
_ENDED_AT_ONCE = ("Socket closed", "Connection reset", "Broken pipe", "recvmsg")
_ENDED_PLAIN = "it ends the connection at once: does it speak TLS? Then give --ca-file"
_ENDED_TLS = "it ends the connection at once: does it want a certificate? Then give --certificate-file and --key-file"


class CheckFailed(SidecarError):
    """What was expected of the sidecar did not come."""


def run_check(arguments: Namespace) -> int:
    """The exit code; every step is told on standard output, what is wrong on standard error."""
    try:
        plan = client_options(arguments, client_environment())
        with _channel(plan) as channel:
            _check(plan, channel)
    except (UsageError, CheckFailed) as error:
        print(f"memsidecar check: {error}", file=sys.stderr)
        return WRONG_USAGE if isinstance(error, UsageError) else FAILED
    return 0


def _channel(plan: ClientOptions) -> grpc.Channel:
    if not plan.tls:
        return grpc.insecure_channel(plan.target, options=_OPTIONS)
    credentials = grpc.ssl_channel_credentials(plan.ca, plan.key, plan.certificate)
    return grpc.secure_channel(plan.target, credentials, options=_OPTIONS)


def _check(plan: ClientOptions, channel: grpc.Channel) -> None:
    _await_ready(plan, channel)
    conversation = CheckSession(channel, plan.namespace, plan.token)
    conversation.add()
    try:
        conversation.build()
    finally:
        conversation.delete()


def _await_ready(plan: ClientOptions, channel: grpc.Channel) -> None:
    """Whatever is not there yet may come; another refusal than that stays one."""
    begun = time.monotonic()
    telling = ""
    while (problem := _problem(plan, channel)) is not None:
        # A name may have two addresses, of which one is not used: what the other one says matters more.
        telling = telling if telling and problem.startswith(_NOTHING_LISTENS) else problem
        if time.monotonic() - begun >= plan.ready_seconds:
            raise CheckFailed(f"{plan.target} is not ready after {plan.ready_seconds:g} s: {telling}")
        time.sleep(PAUSE_SECONDS)
    print(f"ready: {plan.target} serves after {time.monotonic() - begun:.1f} s", flush=True)


def _problem(plan: ClientOptions, channel: grpc.Channel) -> str | None:
    health: Any = health_pb2_grpc.HealthStub(channel)
    try:
        with _step("asking for its health", or_else=_Unavailable):
            answer = health.Check(
                health_pb2.HealthCheckRequest(service=SERVICE),
                timeout=PROBE_SECONDS,
                metadata=_credentials(plan.token),
            )
    except _Unavailable as error:
        return connection_hint(str(error), secure=plan.tls)
    return None if answer.status == health_pb2.HealthCheckResponse.SERVING else "its health is NOT_SERVING"


@dataclass(frozen=True)
class CheckSession:
    """A session that nobody else has."""

    channel: grpc.Channel
    namespace: str
    token: str
    session_id: str = field(default_factory=lambda: f"memsidecar-check-{uuid4()}")

    @property
    def content(self) -> str:
        return f"This is {self.session_id}: can you hear me?"

    def add(self) -> None:
        message = Message(id=self.session_id, role=ROLE_USER, content=self.content)
        request = memory_pb2.AddRequest(namespace=self.namespace, session_id=self.session_id, message=message)
        with _step("Add"):
            answer = self._call(self._memory.Add, request)
        print(f"added: a message of {answer.tokens} tokens to the session {self.session_id}", flush=True)

    def build(self) -> None:
        request = context_pb2.BuildContextRequest(
            namespace=self.namespace, session_id=self.session_id, max_tokens=BUDGET_TOKENS
        )
        with _step("BuildContext"):
            answer: context_pb2.BuildContextResponse = self._call(self._memory.BuildContext, request)
        if self.content not in [message.content for message in answer.messages]:
            raise CheckFailed("BuildContext answered without the message that was added")
        used_tokens = sum(section.used_tokens for section in answer.receipt.sections)
        if not 0 < used_tokens <= BUDGET_TOKENS:
            raise CheckFailed(f"BuildContext accounts for {used_tokens} tokens, and may use {BUDGET_TOKENS}")
        print(f"built: a context with it, {used_tokens} of {BUDGET_TOKENS} tokens", flush=True)

    def delete(self) -> None:
        stub: Any = session_pb2_grpc.SessionServiceStub(self.channel)  # type: ignore[no-untyped-call]
        request = session_pb2.DeleteSessionRequest(namespace=self.namespace, session_id=self.session_id)
        try:
            with _step("DeleteSession", or_else=_Denied):
                self._call(stub.DeleteSession, request)
        except _Denied:
            print(f"not deleted: the token may not erase, so the session {self.session_id} stays", flush=True)
        else:
            print("deleted: the session", flush=True)

    @property
    def _memory(self) -> Any:
        return memory_pb2_grpc.MemoryServiceStub(self.channel)  # type: ignore[no-untyped-call]

    def _call(self, method: Callable[..., Any], request: object) -> Any:
        return method(request, timeout=CALL_SECONDS, metadata=_credentials(self.token))


def _credentials(token: str) -> tuple[tuple[str, str], ...]:
    return (("authorization", f"Bearer {token}"),) if token else ()


class _Unavailable(Exception):
    """UNAVAILABLE, or no answer in time."""

    codes = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED)


class _Denied(Exception):
    """PERMISSION_DENIED."""

    codes = (grpc.StatusCode.PERMISSION_DENIED,)


@contextmanager
def _step(called: str, or_else: type[_Unavailable | _Denied] | None = None) -> Iterator[None]:
    """Raises CheckFailed for a refused call, or `or_else` for the codes that it stands for."""
    try:
        yield
    except grpc.RpcError as error:
        code, details = error.code(), error.details()
    else:
        return
    if or_else is not None and code in or_else.codes:
        raise or_else(details)
    raise CheckFailed(f"{called} is refused with {code.name}: {details}")


def connection_hint(details: str, *, secure: bool) -> str:
    """What gRPC says when it cannot connect, and before it what that means, where it is known."""
    for said, meaning in _HINTS.items():
        if said in details:
            return f"{meaning} ({details})"
    if any(said in details for said in _ENDED_AT_ONCE):
        return f"{_ENDED_TLS if secure else _ENDED_PLAIN} ({details})"
    return details
