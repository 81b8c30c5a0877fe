"""Receive slots against slow senders; message-size guards."""

import asyncio
import time
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakValueDictionary

from google.protobuf.message import Message

from memsidecar.api.admission.tenant_limits import ByteBudget
from memsidecar.api.interceptors import ReadRequest
from memsidecar.domain.errors import RateLimited, TooLarge

MAX_RECEIVING = 16
GRACE_SECONDS = 0.5
"How long a place is safe. Most requests are there within a millisecond."

Caller = asyncio.Task[object]

MAX_REPEATED_ITEMS = 200_000


@dataclass(eq=False)
class SlotPool:
    """Whoever is slow gives way when somebody waits, and the last to come is the next to be let in.

    First come, first served would let a crowd of senders who never finish hold up everybody behind them.
    """

    most: int
    _since: dict[Caller, float] = field(default_factory=dict)
    _waiting: list[asyncio.Future[None]] = field(default_factory=list)
    _sent_away: set[Caller] = field(default_factory=set)

    @property
    def is_full(self) -> bool:
        return len(self._since) >= self.most

    def take(self, caller: Caller) -> None:
        self._since[caller] = time.monotonic()

    def give_back(self, caller: Caller) -> None:
        del self._since[caller]
        self._sent_away.discard(caller)
        if self._waiting:
            self._let_one_in()

    def has_sent_away(self, caller: Caller) -> bool:
        return caller in self._sent_away

    async def turn(self) -> None:
        """Wait until there may be room."""
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        slowest = min(self._since.values())
        try:
            async with asyncio.timeout(max(0.0, slowest + GRACE_SECONDS - time.monotonic())):
                await turn
        except TimeoutError:
            self._send_slowest_away()
            await asyncio.sleep(0)  # the one who was sent away leaves now
        finally:
            if turn in self._waiting:
                self._waiting.remove(turn)

    def _send_slowest_away(self) -> None:
        staying = (one for one in self._since if one not in self._sent_away)
        slowest = next(staying, None)
        if slowest is not None and self._since[slowest] + GRACE_SECONDS <= time.monotonic():
            self._sent_away.add(slowest)
            slowest.cancel()

    def _let_one_in(self) -> None:
        while self._waiting:
            turn = self._waiting.pop()
            if not turn.done():
                turn.set_result(None)
                return


@dataclass(frozen=True)
class ReceiveSlots:
    """One tenant has half of the places: whoever sends slowly must not hold up all the others."""

    load: ByteBudget
    most: int = MAX_RECEIVING
    _all: SlotPool = field(init=False)
    _of: WeakValueDictionary[Hashable, SlotPool] = field(default_factory=WeakValueDictionary)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_all", SlotPool(self.most))

    async def receive(self, tenant: Hashable, read: ReadRequest) -> bytes:
        # In one piece, because every call passes here, and nearly none has to wait.
        caller, places, all_places = asyncio.current_task(), self._places_of(tenant), self._all
        assert caller is not None
        while places.is_full or all_places.is_full:
            await (places if places.is_full else all_places).turn()
        places.take(caller)
        all_places.take(caller)
        try:
            return await read()
        except asyncio.CancelledError:
            if places.has_sent_away(caller) or all_places.has_sent_away(caller):
                raise RateLimited("the request came too slowly while others waited; try again") from None
            raise
        finally:
            places.give_back(caller)
            all_places.give_back(caller)

    @contextmanager
    def keeping(self, tenant: Hashable, size: int) -> Iterator[None]:
        """Reckon a request while it is worked on."""
        if self.load.is_small(size):
            yield
            return
        self.load.take(tenant, size)
        try:
            yield
        finally:
            self.load.let_go(tenant, size)

    def _places_of(self, tenant: Hashable) -> SlotPool:
        places = self._of.get(tenant)
        if places is None:
            places = self._of[tenant] = SlotPool(max(1, self.most // 2))
        return places


def check_repeated_fields(request: Message, most: int) -> None:
    """Before anybody keeps it: of all repeated fields together, also of what stands one level below."""
    count = _repeated(request)
    if count <= most:
        count += sum(_repeated(part) for part in _below(request))
    if count > most:
        raise TooLarge(f"the request has {count} parts; {most} are allowed")


def _repeated(message: Message) -> int:
    return sum(len(value) for field, value in message.ListFields() if field.is_repeated)


def _below(message: Message) -> list[Any]:
    parts: list[Any] = []
    for descriptor, value in message.ListFields():
        if descriptor.message_type is None or descriptor.message_type.GetOptions().map_entry:
            continue
        parts.extend(value if descriptor.is_repeated else (value,))
    return parts
