"""Channel, retries, deadline."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import grpc
import grpc.aio

from memsidecar.cli.client_options import ClientOptions, UsageError
from memsidecar.cli.mcp_options import McpOptions
from memsidecar.domain.errors import StartRefused
from memsidecar.mcp_server.errors import NOT_STARTED, STARTING, ToolError, error_for_call
from memsidecar.mcp_server.sidecar_process import SharedSidecar
from memsidecar.v1 import knowledge_pb2_grpc, memory_pb2_grpc, session_pb2_grpc

# gRPC itself sends again what found nobody or was refused for the moment. It is safe, because what is added has ids;
# waits and attempts are those of our clients.
_SENT_AGAIN = {
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
_OPTIONS = (
    ("grpc.service_config", json.dumps(_SENT_AGAIN)),
    # As large as a request may be: what does not fit is not sent again.
    ("grpc.per_rpc_retry_buffer_size", 4 << 20),
    # A sidecar that was away is found soon after it is back.
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.min_reconnect_backoff_ms", 1_000),
    ("grpc.max_reconnect_backoff_ms", 1_000),
    # A sidecar is never behind the proxy that the environment names.
    ("grpc.enable_http_proxy", 0),
)

_READY = grpc.ChannelConnectivity.READY


class SidecarClient:
    """The memory of one user in one namespace. Every call of it raises Refused, and nothing else on purpose."""

    def __init__(self, plan: McpOptions, channel: grpc.aio.Channel) -> None:
        self.namespace = plan.call.namespace
        self.user_id = plan.user_id
        self.session_id = plan.session_id
        self.messages: Any = memory_pb2_grpc.MemoryServiceStub(channel)  # type: ignore[no-untyped-call]
        self.sessions: Any = session_pb2_grpc.SessionServiceStub(channel)  # type: ignore[no-untyped-call]
        self.knowledge: Any = knowledge_pb2_grpc.KnowledgeServiceStub(channel)  # type: ignore[no-untyped-call]
        self._plan = plan
        self._channel = channel
        self._shared = SharedSidecar(plan.data_dir) if plan.data_dir else None

    async def call(self, method: Callable[..., Any], request: object) -> Any:
        loop = asyncio.get_running_loop()
        end = loop.time() + self._plan.call.ready_seconds
        await self._reach()
        call = method(
            request,
            timeout=max(0.0, end - loop.time()),
            metadata=self._credentials(),
            # One that is ours comes back (`keep`); whether somebody else's does, nobody knows.
            wait_for_ready=self._shared is not None,
        )
        try:
            # gRPC would raise a cancellation of its own, which the SDK takes for the end of the whole server.
            return await asyncio.shield(asyncio.ensure_future(call))
        except asyncio.CancelledError:
            call.cancel()
            raise
        except grpc.aio.AioRpcError as error:
            raise error_for_call(error, self._plan.call.target, secure=self._plan.call.tls) from error

    async def keep_running(self) -> None:
        """Have the sidecar run, where it is ours to start: from now on, and again as soon as it is gone.

        It is looked for at every change of the connection, because one that was killed may answer for a moment yet.
        One that cannot be started is not tried again before somebody asks, who is then told.
        """
        while self._shared is not None:
            state = self._channel.get_state(try_to_connect=True)
            if state is not _READY and not await self._is_reached():
                await self._until_ready()
            else:
                await self._channel.wait_for_state_change(state)

    async def _is_reached(self) -> bool:
        try:
            await self._reach()
        except ToolError:
            return False
        return True

    async def _until_ready(self) -> None:
        while (state := self._channel.get_state(try_to_connect=True)) is not _READY:
            await self._channel.wait_for_state_change(state)

    async def _reach(self) -> None:
        if self._shared is None or self._channel.get_state() is _READY:
            return
        try:
            await asyncio.wait_for(self._shared.ensure_running(), self._plan.call.ready_seconds)
        except TimeoutError:
            raise ToolError(STARTING, "the sidecar is still starting, or an earlier one still ending") from None
        except StartRefused as error:
            raise ToolError(NOT_STARTED, f"the sidecar cannot be started: {error}") from error

    def _credentials(self) -> tuple[tuple[str, str], ...]:
        try:
            token = self._plan.token()
        except UsageError as error:
            raise ToolError("BAD_CREDENTIALS", str(error)) from error
        return (("authorization", f"Bearer {token}"),) if token else ()


@asynccontextmanager
async def open_client(plan: McpOptions) -> AsyncIterator[SidecarClient]:
    async with _channel(plan.call) as channel:
        yield SidecarClient(plan, channel)


def _channel(call: ClientOptions) -> grpc.aio.Channel:
    if not call.tls:
        return grpc.aio.insecure_channel(call.target, options=_OPTIONS)
    credentials = grpc.ssl_channel_credentials(call.ca, call.key, call.certificate)
    return grpc.aio.secure_channel(call.target, credentials, options=_OPTIONS)
