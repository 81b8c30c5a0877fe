"""How far a stream is read ahead of its answers."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator

from memsidecar.api.bridge import Bridge
from memsidecar.domain.message import Draft
from memsidecar.stores.contract import Ticket

PLACES = 256
PLACE_BYTES = 16 * 1024


class Ahead:
    """The appends of one stream that are on their way, in order, bounded in number and in bytes.

    Each append comes after this (see `Append.after`): once one was refused, `error` is set, on the journal's thread
    and before the next one is looked at, and none behind it is stored.
    """

    def __init__(self, bridge: Bridge) -> None:
        self.error: BaseException | None = None
        self._bridge = bridge
        self._tickets: asyncio.Queue[Ticket | None] = asyncio.Queue()
        self._places = asyncio.Semaphore(PLACES)
        self._taken: deque[int] = deque()

    async def make_room(self, draft: Draft) -> None:
        places = min(PLACES, 1 + len(draft.body) // PLACE_BYTES)
        for _ in range(places):
            await self._places.acquire()
        self._taken.append(places)

    def put(self, ticket: Ticket) -> None:
        self._tickets.put_nowait(ticket)

    def end(self) -> None:
        self._tickets.put_nowait(None)

    async def tickets(self) -> AsyncIterator[Ticket]:
        """Each ticket once, in order; its room is free again when the next one is asked for."""
        while (ticket := await self._tickets.get()) is not None:
            yield ticket
            for _ in range(self._taken.popleft()):
                self._places.release()

    def settled(self, ticket: Ticket) -> None:
        """On the journal's thread."""
        if ticket.error is not None:
            self.error = self.error or ticket.error
        self._bridge.settled(ticket)
