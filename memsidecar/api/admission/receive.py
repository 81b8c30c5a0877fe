"""Receiving requests: slots that slow senders cannot occupy, and a limit on repeated fields."""

import asyncio
import time
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakValueDictionary

from google.protobuf.message import Message

from memsidecar.api.interceptors.call import ReadRequest
from memsidecar.domain.errors import RateLimited, TooLarge

MAX_RECEIVING = 16
GRACE_SECONDS = 0.5
"Time after which a receiving call may be evicted. Most requests arrive within a millisecond."
MAX_REPEATED_ITEMS = 200_000

ReceivingTask = asyncio.Task[object]


@dataclass(eq=False)
class SlotPool:
    """A number of slots. When all are taken, the slowest holder is evicted and the newest waiter is served first.

    First come, first served would let senders that never finish block every call behind them.
    """

    size: int
    _since: dict[ReceivingTask, float] = field(default_factory=dict)
    _waiting: list[asyncio.Future[None]] = field(default_factory=list)
    _evicted: set[ReceivingTask] = field(default_factory=set)

    @property
    def is_full(self) -> bool:
        return len(self._since) >= self.size

    def acquire(self, task: ReceivingTask) -> None:
        self._since[task] = time.monotonic()

    def release(self, task: ReceivingTask) -> None:
        del self._since[task]
        self._evicted.discard(task)
        if self._waiting:
            self._wake_newest()

    def was_evicted(self, task: ReceivingTask) -> bool:
        return task in self._evicted

    async def wait(self) -> None:
        """Wait until a slot may be free."""
        waiter = asyncio.get_running_loop().create_future()
        self._waiting.append(waiter)
        slowest = min(self._since.values())
        try:
            async with asyncio.timeout(max(0.0, slowest + GRACE_SECONDS - time.monotonic())):
                await waiter
        except TimeoutError:
            self._evict_slowest()
            await asyncio.sleep(0)  # lets the evicted task release its slot
        finally:
            if waiter in self._waiting:
                self._waiting.remove(waiter)

    def _evict_slowest(self) -> None:
        remaining = (task for task in self._since if task not in self._evicted)
        slowest = next(remaining, None)
        if slowest is not None and self._since[slowest] + GRACE_SECONDS <= time.monotonic():
            self._evicted.add(slowest)
            slowest.cancel()

    def _wake_newest(self) -> None:
        while self._waiting:
            waiter = self._waiting.pop()
            if not waiter.done():
                waiter.set_result(None)
                return


@dataclass(frozen=True)
class ReceiveSlots:
    """Slots for calls whose request is being received. One tenant gets at most half of them."""

    size: int = MAX_RECEIVING
    _all: SlotPool = field(init=False)
    _by_tenant: WeakValueDictionary[Hashable, SlotPool] = field(default_factory=WeakValueDictionary)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_all", SlotPool(self.size))

    async def receive(self, tenant: Hashable, read: ReadRequest) -> bytes:
        """Read a request. Raises RateLimited when the call was evicted for sending slowly."""
        # One function without helpers: every call passes here, and nearly none has to wait.
        task, own, shared = asyncio.current_task(), self._pool_of(tenant), self._all
        assert task is not None
        while own.is_full or shared.is_full:
            await (own if own.is_full else shared).wait()
        own.acquire(task)
        shared.acquire(task)
        try:
            return await read()
        except asyncio.CancelledError:
            if own.was_evicted(task) or shared.was_evicted(task):
                raise RateLimited("the request came too slowly while others waited; try again") from None
            raise
        finally:
            own.release(task)
            shared.release(task)

    def _pool_of(self, tenant: Hashable) -> SlotPool:
        pool = self._by_tenant.get(tenant)
        if pool is None:
            pool = self._by_tenant[tenant] = SlotPool(max(1, self.size // 2))
        return pool


def check_repeated_fields(request: Message, limit: int) -> None:
    """Raise TooLarge when the repeated fields of a request, and of its direct submessages, have too many items."""
    count = _item_count(request)
    if count <= limit:
        count += sum(_item_count(message) for message in _submessages(request))
    if count > limit:
        raise TooLarge(f"the request has {count} repeated items; {limit} are allowed")


def _item_count(message: Message) -> int:
    return sum(len(value) for field, value in message.ListFields() if field.is_repeated)


def _submessages(message: Message) -> list[Any]:
    submessages: list[Any] = []
    for descriptor, value in message.ListFields():
        if descriptor.message_type is None or descriptor.message_type.GetOptions().map_entry:
            continue
        submessages.extend(value if descriptor.is_repeated else (value,))
    return submessages
