"""Client of the sidecar: channel, retries, deadline, credentials; starts the shared sidecar when it is down."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import grpc
import grpc.aio

from memsidecar.cli.client_options import ClientOptions
from memsidecar.cli.command import UsageError
from memsidecar.cli.mcp_options import McpOptions
from memsidecar.domain.errors import StartRefused
from memsidecar.mcp_server.errors import NOT_STARTED, STARTING, ToolError, error_for_call
from memsidecar.mcp_server.sidecar_process import SharedSidecar
from memsidecar.v1 import knowledge_pb2_grpc, memory_pb2_grpc, session_pb2_grpc

# gRPC retries UNAVAILABLE, which is safe: added messages have ids. Back-off and attempts are those of our clients.
_SERVICE_CONFIG = {
    "methodConfig": [
        {
            "name": [{}],
            "retryPolicy": {
                "maxAttempts": 4,
                "initialBackoff": "0.4s",
                "backoffMultiplier": 3,
                "maxBackoff": "3.6s",
                "retryableStatusCodes": ["UNAVAILABLE"],
            },
        }
    ]
}
_CHANNEL_OPTIONS = (
    ("grpc.service_config", json.dumps(_SERVICE_CONFIG)),
    # The largest request: a larger one would not be retried.
    ("grpc.per_rpc_retry_buffer_size", 4 << 20),
    # Reconnects soon after the sidecar is back.
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.min_reconnect_backoff_ms", 1_000),
    ("grpc.max_reconnect_backoff_ms", 1_000),
    # A sidecar is never behind the proxy of the environment.
    ("grpc.enable_http_proxy", 0),
)

_READY = grpc.ChannelConnectivity.READY


class SidecarClient:
    """Calls a sidecar for one user in one namespace. Every failed call raises ToolError."""

    def __init__(self, options: McpOptions, channel: grpc.aio.Channel) -> None:
        self.namespace = options.call.namespace
        self.user_id = options.user_id
        self.session_id = options.session_id
        self.messages: Any = memory_pb2_grpc.MemoryServiceStub(channel)  # type: ignore[no-untyped-call]
        self.sessions: Any = session_pb2_grpc.SessionServiceStub(channel)  # type: ignore[no-untyped-call]
        self.knowledge: Any = knowledge_pb2_grpc.KnowledgeServiceStub(channel)  # type: ignore[no-untyped-call]
        self._options = options
        self._channel = channel
        self._shared = SharedSidecar(options.data_dir) if options.data_dir else None

    async def call(self, method: Callable[..., Any], request: object) -> Any:
        call = await self._begin(method, request)
        try:
            # Without the shield, gRPC raises a cancellation that the SDK takes for the end of the whole server.
            return await asyncio.shield(asyncio.ensure_future(call))
        except asyncio.CancelledError:
            call.cancel()
            raise
        except grpc.aio.AioRpcError as error:
            raise self._error(error) from error

    async def stream(self, method: Callable[..., Any], request: object) -> AsyncIterator[Any]:
        """Yield the responses of a server stream. It is cancelled when the caller stops reading."""
        call = await self._begin(method, request)
        try:
            async for response in call:
                yield response
        except grpc.aio.AioRpcError as error:
            raise self._error(error) from error
        finally:
            call.cancel()

    async def _begin(self, method: Callable[..., Any], request: object) -> Any:
        loop = asyncio.get_running_loop()
        end = loop.time() + self._options.call.ready_seconds
        await self._ensure_running()
        return method(
            request,
            timeout=max(0.0, end - loop.time()),
            metadata=self._credentials(),
            # A shared sidecar is restarted (`keep_running`); another one may not come back.
            wait_for_ready=self._shared is not None,
        )

    def _error(self, error: grpc.aio.AioRpcError) -> ToolError:
        return error_for_call(error, self._options.call.target, secure=self._options.call.tls)

    async def keep_running(self) -> None:
        """Start the shared sidecar, and start it again when it ends, until this task is cancelled.

        Checks at every change of the connection, because a killed sidecar may still accept one for a moment. After a
        failed start, the next attempt is made by the next tool call, which gets the error.
        """
        while self._shared is not None:
            state = self._channel.get_state(try_to_connect=True)
            if state is not _READY and not await self._is_running():
                await self._until_ready()
            else:
                await self._channel.wait_for_state_change(state)

    async def _is_running(self) -> bool:
        try:
            await self._ensure_running()
        except ToolError:
            return False
        return True

    async def _until_ready(self) -> None:
        while (state := self._channel.get_state(try_to_connect=True)) is not _READY:
            await self._channel.wait_for_state_change(state)

    async def _ensure_running(self) -> None:
        if self._shared is None or self._channel.get_state() is _READY:
            return
        try:
            await asyncio.wait_for(self._shared.ensure_running(), self._options.call.ready_seconds)
        except TimeoutError:
            raise ToolError(STARTING, "the sidecar is still starting, or an earlier one still ending") from None
        except StartRefused as error:
            raise ToolError(NOT_STARTED, f"the sidecar cannot be started: {error}") from error

    def _credentials(self) -> tuple[tuple[str, str], ...]:
        try:
            token = self._options.token()
        except UsageError as error:
            raise ToolError("UNAUTHENTICATED", str(error)) from error
        return (("authorization", f"Bearer {token}"),) if token else ()


@asynccontextmanager
async def open_client(options: McpOptions) -> AsyncIterator[SidecarClient]:
    async with _channel(options.call) as channel:
        yield SidecarClient(options, channel)


def _channel(options: ClientOptions) -> grpc.aio.Channel:
    if not options.tls:
        return grpc.aio.insecure_channel(options.target, options=_CHANNEL_OPTIONS)
    credentials = grpc.ssl_channel_credentials(options.ca, options.key, options.certificate)
    return grpc.aio.secure_channel(options.target, credentials, options=_CHANNEL_OPTIONS)
