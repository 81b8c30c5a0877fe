"""The per-call admission chain."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, TypeVar, cast

from google.protobuf.descriptor import MethodDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from memsidecar.access.policy import Caller, Role
from memsidecar.api.admission.audit import Audit, Visit
from memsidecar.api.admission.auth import ROLES, Credentials, needed_role
from memsidecar.api.admission.receive import MOST_PARTS, Reception, check_parts
from memsidecar.api.admission.tenant_limits import SMALL_BYTES, Crowd, Pace, Unsent
from memsidecar.api.fair_queue import TENANT
from memsidecar.api.interceptors import Asked, Context, Read, Stream, Unary
from memsidecar.api.wire import decode, leading_namespace
from memsidecar.domain.errors import NotAllowed, RateLimited, TooLarge

M = TypeVar("M", bound=Message)

HOLD_BACK_SECONDS = 0.1
"How long a caller over its rate waits for the refusal."
_NOT_KEPT = nullcontext()


@dataclass(frozen=True)
class Gate:
    """Nothing is looked up for a caller who may not enter the namespace, so a refusal tells nothing about it."""

    credentials: Credentials
    pace: Pace
    calls: Crowd
    callers: Crowd
    streams: Crowd
    reception: Reception | None
    "None where nobody has to be guarded against: whoever reaches the address may do everything anyway."
    unsent: Unsent
    audit: Audit
    most_bytes: int
    most_parts: int = MOST_PARTS

    @property
    def is_open(self) -> bool:
        return self.reception is None

    def unary(self, method: MethodDescriptor, answer: Callable[[Any], Any]) -> Unary:
        name, kind = method.name, GetMessageClass(method.input_type)
        is_read = ROLES[name] is Role.READ

        async def serve(asked: Asked, context: Context) -> bytes:
            visit = Visit(name, context.peer)
            with self.audit.following(visit):
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

    def stream(self, method: MethodDescriptor, answer: Callable[[Any], AsyncIterator[Message]]) -> Stream:
        name, kind = method.name, GetMessageClass(method.input_type)

        async def asked(visit: Visit, requests: AsyncIterator[bytes], context: Context) -> AsyncIterator[Message]:
            async for data in requests:
                before = visit.place
                # Once more for each: a token may expire, or be taken back, in the middle of a stream.
                self._admit(visit, context)
                request = self._asked(visit, kind, data)
                await self._pace(visit.namespace)
                if visit.place != before:
                    self.audit.note(visit, "STREAMING")
                yield request

        async def serve(requests: AsyncIterator[bytes], context: Context) -> AsyncIterator[bytes]:
            visit = Visit(name, context.peer)
            with self.audit.following(visit):
                tenant = self._admit(visit, context).name
                self.streams.enter(tenant)
                try:
                    async for response in answer(asked(visit, requests, context)):
                        yield response.SerializeToString()
                finally:
                    self.streams.leave(tenant)

        return serve

    async def _received(self, tenant: str, read: Read, context: Context) -> bytes:
        """A call counts until gRPC is done with it: also while nothing comes, and while nobody reads the answer."""
        assert self.reception is not None  # else gRPC has read it already
        self.callers.enter(tenant)
        # The stubs know a done-callback only as a class of their own.
        context.add_done_callback(cast(Any, lambda _context: self.callers.leave(tenant)))
        return await self.reception.receive(tenant, read)

    def _keeping(self, tenant: str, size: int) -> AbstractContextManager[None]:
        return self.reception.keeping(tenant, size) if self.reception else _NOT_KEPT

    def _admit(self, visit: Visit, context: Context) -> Caller:
        visit.caller = self.credentials.caller(context)
        return visit.caller

    def _asked(self, visit: Visit, kind: type[M], data: bytes) -> M:
        if len(data) > self.most_bytes:
            raise TooLarge(f"the request has {len(data)} bytes; {self.most_bytes} are allowed")
        is_large = len(data) > SMALL_BYTES
        if is_large:  # it may unfold to much more, so that is not done for somebody who has no business here
            _check_namespace(visit, leading_namespace(data))
        request = decode(kind, data)
        visit.asks(request)
        _check_namespace(visit, visit.namespace)
        _check_role(visit, needed_role(visit.method, request))
        if is_large:
            check_parts(request, self.most_parts)
        TENANT.set(visit.namespace)
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
            await asyncio.sleep(HOLD_BACK_SECONDS)
        finally:
            self.calls.leave(namespace)

    async def _answered(self, visit: Visit, answer: Callable[[Any], Any], request: Message) -> Any:
        self.calls.enter(visit.namespace)
        try:
            return await answer(request)
        finally:
            self.calls.leave(visit.namespace)


def _check_namespace(visit: Visit, namespace: str) -> None:
    if visit.caller is None or not visit.caller.may_enter(namespace):
        raise NotAllowed("these credentials are not for this namespace")


def _check_role(visit: Visit, needed: Role) -> None:
    visit.needed = needed
    if visit.caller is None or visit.caller.role < needed:
        raise NotAllowed(f"this needs the role {needed.name.lower()}")


def _encoded(response: Any) -> bytes:
    return response if type(response) is bytes else response.SerializeToString()
