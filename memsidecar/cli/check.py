"""`memsidecar check`: wait until a sidecar is ready, then add, build a context and delete."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from uuid import uuid4

import click
import grpc
from google.rpc import error_details_pb2
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_status import rpc_status

from memsidecar.cli.client_options import ClientFlags, ClientOptions, client_options, with_client_flags
from memsidecar.cli.command import SidecarCommand
from memsidecar.domain.errors import SidecarError
from memsidecar.settings.client import TOKEN_VARIABLE, client_environment
from memsidecar.v1 import context_pb2, memory_pb2, memory_pb2_grpc, session_pb2, session_pb2_grpc
from memsidecar.v1.message_pb2 import ROLE_USER, Message

SERVICE = "memsidecar.v1.MemoryService"
BUDGET_TOKENS = 1_000
CALL_SECONDS = 10.0
# Short, because a starting sidecar may accept the connection and not answer on it.
PROBE_SECONDS = 2.0
PAUSE_SECONDS = 0.1

_OPTIONS = (
    # The command waits for the sidecar, so it reconnects soon.
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.min_reconnect_backoff_ms", 1_000),
    ("grpc.max_reconnect_backoff_ms", 1_000),
    # A sidecar is never behind the proxy of the environment.
    ("grpc.enable_http_proxy", 0),
)

_UNAUTHENTICATED = grpc.StatusCode.UNAUTHENTICATED
_NOTHING_LISTENS = "nothing listens there"
HTTP_HINT = "it speaks HTTP/1, as the sidecar's HTTP listener does, and not gRPC"
# Text in gRPC's error when it cannot connect: advice.
_HINTS = {
    "CERTIFICATE_VERIFY_FAILED": "its certificate is not signed by --ca-file",
    "Hostname Verification": "its certificate is for another name than --address has",
    "WRONG_VERSION_NUMBER": "it does not speak TLS: leave --ca-file out",
    "CERTIFICATE_REQUIRED": "it wants a certificate: give --certificate-file and --key-file",
    "Connection refused": _NOTHING_LISTENS,
    "No such file": "there is no such socket",
    "lookup failed": "there is no such host",
    "http1.x server": HTTP_HINT,
    "security handshaker": "the PEM files hold no certificate, or no key that fits it",
}
_ENDED_AT_ONCE = ("Socket closed", "Connection reset", "Broken pipe", "recvmsg")
_ENDED_PLAIN = "it ends the connection at once: does it speak TLS? Then give --ca-file"
_ENDED_TLS = "it ends the connection at once: does it want a certificate? Then give --certificate-file and --key-file"


class CheckFailed(SidecarError):
    """The sidecar did not respond as expected."""


@click.command(cls=SidecarCommand, examples=("memsidecar check", "memsidecar check --timeout 5 --namespace tests"))
@with_client_flags(namespace="Where to add.", timeout="Seconds to wait until the sidecar is ready.")
def check(flags: ClientFlags) -> None:
    """Call a running sidecar once as an agent would, and report the outcome.

    It waits until the sidecar is ready, adds a message to a session of its own, builds a context, and deletes the
    session.
    """
    options = client_options(flags, client_environment())
    with open_channel(options) as channel:
        _check(options, channel)


def open_channel(options: ClientOptions) -> grpc.Channel:
    if not options.tls:
        return grpc.insecure_channel(options.target, options=_OPTIONS)
    credentials = grpc.ssl_channel_credentials(options.ca, options.key, options.certificate)
    return grpc.secure_channel(options.target, credentials, options=_OPTIONS)


def _check(options: ClientOptions, channel: grpc.Channel) -> None:
    _await_ready(options, channel)
    session = CheckSession(channel, options.namespace, options.token)
    session.add()
    try:
        session.build()
    finally:
        session.delete()


def _await_ready(options: ClientOptions, channel: grpc.Channel) -> None:
    """Wait until the sidecar serves. An error other than unavailability is final."""
    start = time.monotonic()
    last_problem = ""
    while (problem := _problem(options, channel)) is not None:
        # A name may have two addresses, one of them unused: the problem of the other one matters more.
        if not last_problem or not problem.startswith(_NOTHING_LISTENS):
            last_problem = problem
        if time.monotonic() - start >= options.ready_seconds:
            raise CheckFailed(f"{options.target} is not ready after {options.ready_seconds:g} s: {last_problem}")
        time.sleep(PAUSE_SECONDS)
    print(f"ready: {options.target} serves after {time.monotonic() - start:.1f} s", flush=True)


def _problem(options: ClientOptions, channel: grpc.Channel) -> str | None:
    health: Any = health_pb2_grpc.HealthStub(channel)
    try:
        with _calling("asking for its health", or_else=_Unavailable):
            answer = health.Check(
                health_pb2.HealthCheckRequest(service=SERVICE),
                timeout=PROBE_SECONDS,
                metadata=credentials(options.token),
            )
    except _Unavailable as error:
        return connection_hint(str(error), secure=options.tls)
    return None if answer.status == health_pb2.HealthCheckResponse.SERVING else "its health is NOT_SERVING"


@dataclass(frozen=True)
class CheckSession:
    """A session with a random id, which no other client uses."""

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
        with _calling("Add"):
            answer = self._call(self._memory.Add, request)
        print(f"added: a message of {answer.tokens} tokens to the session {self.session_id}", flush=True)

    def build(self) -> None:
        request = context_pb2.BuildContextRequest(
            namespace=self.namespace, session_id=self.session_id, max_tokens=BUDGET_TOKENS
        )
        with _calling("BuildContext"):
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
            with _calling("DeleteSession", or_else=_Denied):
                self._call(stub.DeleteSession, request)
        except _Denied:
            print(f"not deleted: the token may not erase, so the session {self.session_id} stays", flush=True)
        else:
            print("deleted: the session", flush=True)

    @property
    def _memory(self) -> Any:
        return memory_pb2_grpc.MemoryServiceStub(self.channel)  # type: ignore[no-untyped-call]

    def _call(self, method: Callable[..., Any], request: object) -> Any:
        return method(request, timeout=CALL_SECONDS, metadata=credentials(self.token))


def credentials(token: str) -> tuple[tuple[str, str], ...]:
    return (("authorization", f"Bearer {token}"),) if token else ()


class _Unavailable(Exception):
    """UNAVAILABLE, or no answer in time."""

    codes = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED)


class _Denied(Exception):
    """PERMISSION_DENIED."""

    codes = (grpc.StatusCode.PERMISSION_DENIED,)


@contextmanager
def _calling(rpc: str, or_else: type[_Unavailable | _Denied] | None = None) -> Iterator[None]:
    """Raise CheckFailed for a failed call, or `or_else` for the status codes that it stands for."""
    try:
        yield
    except grpc.RpcError as error:
        code, details = error.code(), error.details()
    else:
        return
    if or_else is not None and code in or_else.codes:
        raise or_else(details)
    raise CheckFailed(f"{rpc} is refused with {code.name}: {details}{refusal_hint(code)}")


class ErrorDetails(NamedTuple):
    """What the details of a status name: the reason, and the invalid field; empty if they do not."""

    reason: str = ""
    field: str = ""


def error_details(error: grpc.RpcError) -> ErrorDetails:
    status = rpc_status.from_call(error)  # type: ignore[arg-type]
    info, bad = error_details_pb2.ErrorInfo(), error_details_pb2.BadRequest()
    for detail in status.details if status else ():
        _ = detail.Unpack(info) or detail.Unpack(bad)
    return ErrorDetails(info.reason, bad.field_violations[0].field if bad.field_violations else "")


def refusal_hint(code: grpc.StatusCode) -> str:
    """Return advice to append to the details of a refusal; empty if there is none."""
    return f": give a token with --token-file, or in {TOKEN_VARIABLE}" if code is _UNAUTHENTICATED else ""


def connection_hint(details: str, *, secure: bool) -> str:
    """Return the error of gRPC when it cannot connect, preceded by advice if the error is a known one."""
    for text, advice in _HINTS.items():
        if text in details:
            return f"{advice} ({details})"
    if any(text in details for text in _ENDED_AT_ONCE):
        return f"{_ENDED_TLS if secure else _ENDED_PLAIN} ({details})"
    return details
