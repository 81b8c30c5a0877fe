"""Calls of commands to a running sidecar: stubs, pages, streams, and errors that name status, reason and field."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from itertools import islice
from typing import Any

import click
import grpc

from memsidecar.cli.check import connection_hint, credentials, error_details, open_channel, refusal_hint
from memsidecar.cli.client_options import ClientFlags, ClientOptions, Command, client_options, with_client_flags
from memsidecar.cli.output import JSON_OPTION, Output
from memsidecar.domain.errors import SidecarError
from memsidecar.settings.client import client_environment
from memsidecar.v1 import knowledge_pb2_grpc, memory_pb2_grpc, session_pb2_grpc

MAX_PAGE_SIZE = 1_000
_NO_CONNECTION = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED)


class CallFailed(SidecarError):
    """A call failed: `code`, and `reason` and `field` if the sidecar names them."""

    def __init__(self, rpc: str, error: grpc.RpcError, options: ClientOptions) -> None:
        self.code: grpc.StatusCode = error.code()
        self.reason, self.field = error_details(error)
        details = error.details() or ""
        is_unavailable = self.code in _NO_CONNECTION
        if is_unavailable and not self.reason:
            text = f"{options.target} does not answer: {connection_hint(details, secure=options.tls)}"
        else:
            named = [f"reason {self.reason}" if self.reason else "", f"field {self.field}" if self.field else ""]
            qualified = ", ".join([self.code.name, *filter(None, named)])
            place = f" by {options.target}" if is_unavailable else ""
            text = f"{rpc} is refused{place} ({qualified}): {details}{refusal_hint(self.code)}"
        super().__init__(text)


class SidecarCalls:
    """The RPCs of a sidecar, for one namespace. A failed call raises CallFailed."""

    def __init__(self, options: ClientOptions, channel: grpc.Channel) -> None:
        self.options = options
        self.namespace = options.namespace
        self.channel = channel
        self._stubs: tuple[Any, ...] = (
            memory_pb2_grpc.MemoryServiceStub(channel),  # type: ignore[no-untyped-call]
            session_pb2_grpc.SessionServiceStub(channel),  # type: ignore[no-untyped-call]
            knowledge_pb2_grpc.KnowledgeServiceStub(channel),  # type: ignore[no-untyped-call]
        )

    def call(self, rpc: str, request: Any) -> Any:
        with self.naming(rpc):
            return self._method(rpc)(request, timeout=self.options.ready_seconds, metadata=self.metadata)

    def stream(self, rpc: str, request: Any) -> Iterator[Any]:
        """Yield the responses of a stream that has no end of its own."""
        with self.naming(rpc):
            call = self._method(rpc)(request, metadata=self.metadata)
            try:
                yield from call
            finally:
                call.cancel()

    def items(self, rpc: str, request: Any, name: str, limit: int) -> Iterator[Any]:
        """Yield the first items of a listing, page by page; all of them if the limit is 0. `name` is their field."""
        found = self._all_items(rpc, request, name, limit or MAX_PAGE_SIZE)
        return islice(found, limit) if limit else found

    def _all_items(self, rpc: str, request: Any, name: str, page_size: int) -> Iterator[Any]:
        request.page_size = min(page_size, MAX_PAGE_SIZE)
        while True:
            page = self.call(rpc, request)
            yield from getattr(page, name)
            request.page_token = page.next_page_token
            if not page.next_page_token:
                return

    @property
    def metadata(self) -> tuple[tuple[str, str], ...]:
        return credentials(self.options.token)

    @contextmanager
    def naming(self, rpc: str) -> Iterator[None]:
        """Raise CallFailed for an error of gRPC."""
        try:
            yield
        except grpc.RpcError as error:
            raise CallFailed(rpc, error, self.options) from None

    def _method(self, rpc: str) -> Any:
        return next(getattr(stub, rpc) for stub in self._stubs if hasattr(stub, rpc))


def with_sidecar(command: Command) -> Command:
    """Give a command the flags of clients and --json, and SidecarCalls and Output as its first arguments."""

    @JSON_OPTION
    @with_client_flags()
    @wraps(command)
    def call(flags: ClientFlags, is_json: bool | None, **given: Any) -> int | None:
        options = client_options(flags, client_environment())
        with open_channel(options) as channel:
            return command(SidecarCalls(options, channel), Output(is_json), **given)

    return call


def limit_option(default: int, what: str) -> Callable[[Command], Command]:
    return click.option(
        "--limit",
        type=click.IntRange(min=0),
        default=default,
        metavar="N",
        help=f"The most {what} to print; 0 for all. Default: {default}.",
    )


def user_option(text: str) -> Callable[[Command], Command]:
    return click.option("--user", default="", metavar="USER", help=text)


def session_option(text: str) -> Callable[[Command], Command]:
    return click.option("--session", default="", metavar="SESSION", help=text)
