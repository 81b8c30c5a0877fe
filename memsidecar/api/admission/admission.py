"""The per-call admission chain."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, TypeVar, cast

from google.protobuf.descriptor import MethodDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from memsidecar.access.policy import AccessRole, Caller
from memsidecar.api.admission.audit import AuditLog, CallRecord
from memsidecar.api.admission.auth import ROLES, Authenticator, required_role
from memsidecar.api.admission.receive import MAX_REPEATED_ITEMS, ReceiveSlots, check_repeated_fields
from memsidecar.api.admission.tenant_limits import SMALL_BYTES, ConcurrencyLimiter, RateLimiter, Unsent
from memsidecar.api.fair_queue import current_tenant
from memsidecar.api.interceptors import Context, ReadRequest, Request, StreamHandler, UnaryHandler
from memsidecar.api.wire import decode, leading_namespace
from memsidecar.domain.errors import PermissionDenied, RateLimited, TooLarge

M = TypeVar("M", bound=Message)

RATE_LIMIT_PENALTY_SECONDS = 0.1
"How long a caller over its rate waits for the refusal."
_NOT_KEPT = nullcontext()


@dataclass(frozen=True)
class Admission:
    """Nothing is looked up for a caller who may not enter the namespace, so a refusal tells nothing about it."""

    authenticator: Authenticator
    pace: RateLimiter
    calls: ConcurrencyLimiter
    callers: ConcurrencyLimiter
    streams: ConcurrencyLimiter
    receive_slots: ReceiveSlots | None
    "None where nobody has to be guarded against: whoever reaches the address may do everything anyway."
    unsent: Unsent
    audit: AuditLog
    max_request_bytes: int
    max_repeated_items: int = MAX_REPEATED_ITEMS

    @property
    def is_unrestricted(self) -> bool:
        return self.receive_slots is None

    def unary(self, method: MethodDescriptor, answer: Callable[[Any], Any]) -> UnaryHandler:
        name, kind = method.name, GetMessageClass(method.input_type)
        is_read = ROLES[name] is AccessRole.READ

        async def serve(asked: Request, context: Context) -> bytes:
            visit = CallRecord(name, context.peer)
            with self.audit.recording(visit):
                tenant = self._admit(visit, context).name
                data = asked if isinstance(asked, bytes) else await self._received(tenant, asked, context)
                request = self._asked(visit, kind, data)
                await self._pace(visit.namespace)
                with self._keeping(visit.namespace, len(data)):
                    response = _encoded(await self._answered(visit, answer, request))
            if is_read:  # the answer of a write is never larger than its request, and says what has been done
                self.unsent.hold(visit.namespace, len(response), context)
            return response

        return serve

    def stream(self, method: MethodDescriptor, answer: Callable[[Any], AsyncIterator[Message]]) -> StreamHandler:
        name, kind = method.name, GetMessageClass(method.input_type)

        async def asked(visit: CallRecord, requests: AsyncIterator[bytes], context: Context) -> AsyncIterator[Message]:
            async for data in requests:
                before = visit.scope
                # Once more for each: a token may expire, or be taken back, in the middle of a stream.
                self._admit(visit, context)
                request = self._asked(visit, kind, data)
                await self._pace(visit.namespace)
                if visit.scope != before:
                    self.audit.note(visit, "STREAMING")
                yield request

        async def serve(requests: AsyncIterator[bytes], context: Context) -> AsyncIterator[bytes]:
            visit = CallRecord(name, context.peer)
            with self.audit.recording(visit):
                tenant = self._admit(visit, context).name
                self.streams.enter(tenant)
                try:
                    async for response in answer(asked(visit, requests, context)):
                        yield response.SerializeToString()
                finally:
                    self.streams.leave(tenant)

        return serve

    async def _received(self, tenant: str, read: ReadRequest, context: Context) -> bytes:
        """A call counts until gRPC is done with it: also while nothing comes, and while nobody reads the answer."""
        assert self.receive_slots is not None  # else gRPC has read it already
        self.callers.enter(tenant)
        # The stubs know a done-callback only as a class of their own.
        context.add_done_callback(cast(Any, lambda _context: self.callers.leave(tenant)))
        return await self.receive_slots.receive(tenant, read)

    def _keeping(self, tenant: str, size: int) -> AbstractContextManager[None]:
        return self.receive_slots.keeping(tenant, size) if self.receive_slots else _NOT_KEPT

    def _admit(self, visit: CallRecord, context: Context) -> Caller:
        visit.caller = self.authenticator.authenticate(context)
        return visit.caller

    def _asked(self, visit: CallRecord, kind: type[M], data: bytes) -> M:
        if len(data) > self.max_request_bytes:
            raise TooLarge(f"the request has {len(data)} bytes; {self.max_request_bytes} are allowed")
        is_large = len(data) > SMALL_BYTES
        if is_large:  # it may unfold to much more, so that is not done for somebody who has no business here
            _check_namespace(visit, leading_namespace(data))
        request = decode(kind, data)
        visit.set_request(request)
        _check_namespace(visit, visit.namespace)
        _check_role(visit, required_role(visit.method, request))
        if is_large:
            check_repeated_fields(request, self.max_repeated_items)
        current_tenant.set(visit.namespace)
        return request

    async def _pace(self, namespace: str) -> None:
        try:
            self.pace.take(namespace)
        except RateLimited:
            await self._hold_back(namespace)
            raise

    async def _hold_back(self, namespace: str) -> None:
        """Else whoever asks again at once is refused a thousand times a second, and all others wait for that."""
        self.calls.enter(namespace)
        try:
            await asyncio.sleep(RATE_LIMIT_PENALTY_SECONDS)
        finally:
            self.calls.leave(namespace)

    async def _answered(self, visit: CallRecord, answer: Callable[[Any], Any], request: Message) -> Any:
        self.calls.enter(visit.namespace)
        try:
            return await answer(request)
        finally:
            self.calls.leave(visit.namespace)


def _check_namespace(visit: CallRecord, namespace: str) -> None:
    if visit.caller is None or not visit.caller.may_access(namespace):
        raise PermissionDenied("these credentials are not for this namespace")


def _check_role(visit: CallRecord, needed: AccessRole) -> None:
    visit.needed = needed
    if visit.caller is None or visit.caller.role < needed:
        raise PermissionDenied(f"this needs the role {needed.name.lower()}")


def _encoded(response: Any) -> bytes:
    return response if type(response) is bytes else response.SerializeToString()
