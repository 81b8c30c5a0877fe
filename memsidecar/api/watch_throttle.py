"""Throttle of the responses to watchers: they are delayed while RPCs are in flight."""

import asyncio
import time
from collections import deque
from collections.abc import Callable

BUSY_SHARE = 0.05
"Share of the process's CPU time that all watchers together get while RPCs are in flight."
TURN_SECONDS = 0.000_15
"CPU time of a response, as measured."
BUSY_SECONDS, MIN_TURNS, MAX_TURNS = 0.01, 0.25, 8.0
"""While RPCs are in flight: how often turns are given, and how many at least and at most. The process may use little
CPU time because others use it, or because RPCs wait for the disk."""
IDLE_TURNS = 16
"Turns between two checks for RPCs. A call that arrives waits for these responses at most."


class DeliveryThrottle:
    """Gives turns to watchers, first come, first served. A turn is one response, or one read of the log.

    Belongs to one event loop. A watcher holds nothing during its turn, so one that does not read delays no other.
    `cpu_seconds` is the CPU time of the process.
    """

    def __init__(self, is_busy: Callable[[], bool], cpu_seconds: Callable[[], float] = time.process_time) -> None:
        self._is_busy = is_busy
        self._cpu_seconds = cpu_seconds
        self._used_seconds = cpu_seconds()
        self._credit = 1.0
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
                self._give(self._earned_turns())
                await asyncio.sleep(BUSY_SECONDS)
            else:
                self._give(IDLE_TURNS)
                await asyncio.sleep(0)
        self._pacer = None

    def _earned_turns(self) -> int:
        """Return the turns that the share of the CPU time since the last call pays for."""
        used, self._used_seconds = self._used_seconds, self._cpu_seconds()
        earned = BUSY_SHARE * (self._used_seconds - used) / TURN_SECONDS
        turns, self._credit = divmod(min(MAX_TURNS, self._credit + max(MIN_TURNS, earned)), 1.0)
        return int(turns)

    def _give(self, turns: int) -> None:
        while turns and self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():  # else its watcher has been cancelled
                turn.set_result(None)
                turns -= 1
