"""The admission chain: the steps that every call passes before and after its handler."""

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import AbstractContextManager, aclosing, nullcontext
from dataclasses import dataclass
from typing import Any, TypeVar, cast

from google.protobuf.descriptor import MethodDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from memsidecar import spans
from memsidecar.access.policy import AccessRole, Caller
from memsidecar.api.admission.audit import AuditLog, CallRecord
from memsidecar.api.admission.auth import ROLES, Authenticator, required_role
from memsidecar.api.admission.receive import MAX_REPEATED_ITEMS, ReceiveSlots, check_repeated_fields
from memsidecar.api.admission.tenant_limits import SMALL_BYTES, ByteBudget, ConcurrencyLimiter, RateLimiter
from memsidecar.api.interceptors.call import (
    Context,
    Request,
    StreamHandler,
    UnaryHandler,
    caller_is_admin,
    current_tenant,
    decode,
    leading_namespace,
)
from memsidecar.domain.errors import PermissionDenied, RateLimited, SlowReader, TooLarge

M = TypeVar("M", bound=Message)

RATE_LIMIT_PENALTY_SECONDS = 0.1
"""Delay before a call over its rate is rejected. Without it, a client that retries at once costs all others CPU."""
RECHECK_SECONDS = 1.0
"The access file is read as often, so a stream sends nothing later than two seconds after its token was revoked."
_NO_RESERVATION = nullcontext()


@dataclass(frozen=True, kw_only=True)
class Admission:
    """Wraps a handler with authentication, authorization and limits.

    Nothing is looked up for a caller without access to the namespace, so a rejection reveals nothing about it.
    """

    authenticator: Authenticator
    rate_limiter: RateLimiter
    calls: ConcurrencyLimiter
    "Calls in progress, by namespace."
    callers: ConcurrencyLimiter
    "Calls that gRPC has not finished, by caller: also those that send slowly or do not read their response."
    streams: ConcurrencyLimiter
    "Open streams, by caller."
    watchers: ConcurrencyLimiter
    "Open streams of events, by namespace, and by caller."
    slow_reader_seconds: float
    "Time in which a watcher must take a response."
    receive_slots: ReceiveSlots | None
    request_bytes: ByteBudget | None
    "Both None without an access file: every caller may do everything."
    response_bytes: ByteBudget
    audit: AuditLog
    max_request_bytes: int
    max_repeated_items: int = MAX_REPEATED_ITEMS

    @property
    def is_unrestricted(self) -> bool:
        return self.receive_slots is None

    def unary(self, method: MethodDescriptor, handler: Callable[[Any], Any]) -> UnaryHandler:
        name, request_class = method.name, GetMessageClass(method.input_type)
        is_read = ROLES[name] is AccessRole.READ

        async def admit(request: Request, context: Context) -> bytes:
            call = CallRecord(name, context.peer)
            with self.audit.recording(call):
                with spans.step("admission"):
                    caller = self._authenticate(call, context)
                    data = await self._receive(caller, request, context)
                    message = self._decode(call, request_class, data)
                    self._authorize(call, message)
                    self._check_items(message, data)
                    await self._rate_limit(call.namespace)
                with self._reserve_request_bytes(call.namespace, len(data)):
                    response = await self._handle(call.namespace, handler, message)
            # The response of a write is never larger than its request, and must not be lost: it says what was stored.
            if is_read:
                self.response_bytes.reserve_until_done(call.namespace, len(response), context)
            return response

        return admit

    def stream(self, method: MethodDescriptor, handler: Callable[[Any], AsyncIterator[Message]]) -> StreamHandler:
        name, request_class = method.name, GetMessageClass(method.input_type)

        async def admit_requests(
            call: CallRecord, requests: AsyncIterator[bytes], context: Context
        ) -> AsyncIterator[Message]:
            async for data in requests:
                scope_before = call.scope
                # For each request again: a token may expire, or be revoked, while a stream is open.
                self._authenticate(call, context)
                message = self._decode(call, request_class, data)
                self._authorize(call, message)
                self._check_items(message, data)
                await self._rate_limit(call.namespace)
                if call.scope != scope_before:
                    self.audit.record(call, "STREAMING")
                yield message

        async def admit(requests: AsyncIterator[bytes], context: Context) -> AsyncIterator[bytes]:
            call = CallRecord(name, context.peer)
            with self.audit.recording(call):
                tenant = self._authenticate(call, context).name
                recheck = self._rechecking(call, context)
                self.streams.acquire(tenant)
                try:
                    async for response in handler(admit_requests(call, requests, context)):
                        # With many requests each one is checked, and what was accepted must be acknowledged.
                        if not method.client_streaming:
                            recheck()
                        yield response.SerializeToString()
                finally:
                    self.streams.release(tenant)

        return admit

    def watch(self, method: MethodDescriptor, handler: Callable[[Any], AsyncGenerator[bytes, None]]) -> UnaryHandler:
        name, request_class = method.name, GetMessageClass(method.input_type)

        async def admit(request: Request, context: Context) -> bytes:
            call = CallRecord(name, context.peer)
            with self.audit.recording(call):
                caller = self._authenticate(call, context)
                with self.watchers.slot(("caller", caller.name)):
                    message = self._decode(call, request_class, await self._receive_watch(caller, request))
                    self._authorize(call, message)
                    await self._rate_limit(call.namespace)
                    self.audit.record(call, "STREAMING")
                    with self.watchers.slot(call.namespace):
                        async with aclosing(handler(message)) as responses:
                            await self._write_all(responses, context, self._rechecking(call, context))
            return b""

        return admit

    async def _receive_watch(self, caller: Caller, request: Request) -> bytes:
        assert not isinstance(request, bytes)
        return await (self.receive_slots.receive(caller.name, request) if self.receive_slots else request())

    def _rechecking(self, call: CallRecord, context: Context) -> Callable[[], None]:
        """Return a function to call before each response. It checks the caller's access again, about once a second."""
        checked = time.monotonic()

        def recheck() -> None:
            nonlocal checked
            if (now := time.monotonic()) - checked >= RECHECK_SECONDS:
                checked = now
                self._authenticate(call, context)
                _check_access(call)

        return recheck

    async def _write_all(
        self, responses: AsyncGenerator[bytes, None], context: Context, recheck: Callable[[], None]
    ) -> None:
        """Write the responses, each in time."""
        async for response in responses:
            recheck()
            try:
                async with asyncio.timeout(self.slow_reader_seconds):
                    await context.write(response)
            except TimeoutError:
                await responses.athrow(SlowReader())

    def _authenticate(self, call: CallRecord, context: Context) -> Caller:
        call.caller = self.authenticator.authenticate(context)
        return call.caller

    async def _receive(self, caller: Caller, request: Request, context: Context) -> bytes:
        if isinstance(request, bytes):
            return request
        if self.receive_slots is None:
            return await request()
        self.callers.acquire(caller.name)
        # The stubs know a done-callback only as a class of their own.
        context.add_done_callback(cast(Any, lambda _context: self.callers.release(caller.name)))
        return await self.receive_slots.receive(caller.name, request)

    def _decode(self, call: CallRecord, request_class: type[M], data: bytes) -> M:
        if len(data) > self.max_request_bytes:
            raise TooLarge(f"the request has {len(data)} bytes; {self.max_request_bytes} are allowed")
        if len(data) > SMALL_BYTES:  # a decoded message may be much larger, so access is checked first
            _check_namespace(call, leading_namespace(data))
        message = decode(request_class, data)
        call.set_request(message)
        return message

    def _authorize(self, call: CallRecord, message: Message) -> None:
        call.required_role = required_role(call.method, message)
        caller = _check_access(call)
        current_tenant.set(call.namespace)
        caller_is_admin.set(caller.role is AccessRole.ADMIN)

    def _check_items(self, message: Message, data: bytes) -> None:
        if len(data) > SMALL_BYTES:
            check_repeated_fields(message, self.max_repeated_items)

    async def _rate_limit(self, namespace: str) -> None:
        try:
            self.rate_limiter.take(namespace)
        except RateLimited:
            self.calls.acquire(namespace)
            try:
                await asyncio.sleep(RATE_LIMIT_PENALTY_SECONDS)
            finally:
                self.calls.release(namespace)
            raise

    def _reserve_request_bytes(self, namespace: str, size: int) -> AbstractContextManager[None]:
        return self.request_bytes.reserve(namespace, size) if self.request_bytes else _NO_RESERVATION

    async def _handle(self, namespace: str, handler: Callable[[Any], Any], message: Message) -> bytes:
        self.calls.acquire(namespace)
        try:
            response = await handler(message)
        finally:
            self.calls.release(namespace)
        encoded: bytes = response if type(response) is bytes else response.SerializeToString()
        return encoded


def _check_access(call: CallRecord) -> Caller:
    _check_namespace(call, call.namespace)
    assert call.caller is not None
    assert call.required_role is not None
    if call.caller.role < call.required_role:
        raise PermissionDenied(f"this needs the role {call.required_role.name.lower()}")
    return call.caller


def _check_namespace(call: CallRecord, namespace: str) -> None:
    if call.caller is None or not call.caller.may_access(namespace):
        raise PermissionDenied("these credentials are not for this namespace")
