"""Throttle of the responses to watchers: they are delayed while RPCs are in flight."""

import asyncio
from collections import deque
from collections.abc import Callable

BUSY_TURNS, BUSY_SECONDS = 4, 0.01
"""Turns of all watchers together, and how often, while RPCs are in flight. A response costs about a tenth of a
millisecond, so they take about a twenty-fifth of one core."""
IDLE_TURNS = 16
"Turns between two checks for RPCs. A call that arrives waits for these responses at most."


class DeliveryThrottle:
    """Gives turns to watchers, first come, first served. A turn is one response, or one read of the log.

    Belongs to one event loop. A watcher holds nothing during its turn, so one that does not read delays no other.
    """

    def __init__(self, is_busy: Callable[[], bool]) -> None:
        self._is_busy = is_busy
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._pacer: asyncio.Task[None] | None = None
        self._stopped = False

    async def turn(self) -> None:
        """Wait for a turn. After `stop`, there is no wait."""
        if self._stopped:
            return
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        if self._pacer is None:
            self._pacer = asyncio.ensure_future(self._pace())
        await turn

    def stop(self) -> None:
        self._stopped = True
        self._give(len(self._waiting))

    async def _pace(self) -> None:
        while self._waiting:
            if self._is_busy():
                self._give(BUSY_TURNS)
                await asyncio.sleep(BUSY_SECONDS)
            else:
                self._give(IDLE_TURNS)
                await asyncio.sleep(0)
        self._pacer = None

    def _give(self, turns: int) -> None:
        while turns and self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():  # else its watcher has been cancelled
                turn.set_result(None)
                turns -= 1
