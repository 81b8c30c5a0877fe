"""Throttle of the responses to watchers: they are delayed while RPCs are in flight."""

import asyncio
import time
from collections.abc import Callable

from memsidecar.api.fair_queue import FairQueue
from memsidecar.api.interceptors.call import current_tenant

BUSY_SHARE = 0.04
"Share of the process's CPU time that all watchers together get while RPCs are in flight."
LIGHT_LOAD = 0.5
"Cores below which the process has CPU time to spare: watchers get the rest, unless others compete for the CPU."
TURN_SECONDS = 0.000_5
"""CPU time of a response. Measured: 0.14 ms for one of many, up to 0.5 ms for a few at a time while other processes
compete for the CPU."""
BUSY_SECONDS, MIN_TURNS, MAX_TURNS = 0.05, 0.5, 16.0
"""While RPCs are in flight: how often turns are given, and how many at least and at most. The process may use little
CPU time because others use it, or because RPCs wait for the disk."""
LATE_FACTOR = 1.2
QUIET_SECONDS = 0.25
"Time without an RPC after which there is no load. Between two calls of busy clients there may be none in flight."
IDLE_TURNS = 16
"Turns between two checks for RPCs. A call that arrives waits for these responses at most."


class DeliveryThrottle:
    """Gives turns to watchers, round-robin by namespace. A turn is one response, or one read of the log.

    Belongs to one event loop. A watcher holds nothing during its turn, so one that does not read delays no other.
    `cpu_seconds` is the CPU time of the process.
    """

    def __init__(
        self,
        is_busy: Callable[[], bool],
        cpu_seconds: Callable[[], float] = time.process_time,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._is_busy = is_busy
        self._cpu_seconds = cpu_seconds
        self._now = now
        self._used_seconds = cpu_seconds()
        self._earned_at = now()
        self._credit = 1.0
        self._busy_until = now()
        self._waiting = FairQueue()
        self._pacer: asyncio.Task[None] | None = None
        self._stopped = False

    async def turn(self) -> None:
        """Wait for a turn. After `stop`, there is no wait."""
        if self._stopped:
            return
        turn = self._waiting.add(current_tenant.get())
        if self._pacer is None:
            self._pacer = asyncio.ensure_future(self._pace())
        await turn

    def stop(self) -> None:
        self._stopped = True
        while self._waiting:
            self._waiting.wake_next()

    async def _pace(self) -> None:
        while self._waiting:
            if self._is_loaded():
                self._give(self._earned_turns())
                await asyncio.sleep(BUSY_SECONDS)
            else:
                self._give(IDLE_TURNS)
                await asyncio.sleep(0)
        self._pacer = None

    def _is_loaded(self) -> bool:
        """Return whether there is a call in flight, or was one a moment ago."""
        if self._is_busy():
            self._busy_until = self._now() + QUIET_SECONDS
        return self._now() < self._busy_until

    def _earned_turns(self) -> int:
        """Return the turns that the watchers' share of the CPU time since the last call pays for."""
        before, self._used_seconds = self._used_seconds, self._cpu_seconds()
        earned_at, self._earned_at = self._earned_at, self._now()
        used, elapsed = self._used_seconds - before, self._earned_at - earned_at
        # Late: the event loop had much to do, or did not get the CPU.
        spare = 0.0 if elapsed > LATE_FACTOR * BUSY_SECONDS else max(0.0, LIGHT_LOAD * elapsed - used)
        earned = (BUSY_SHARE * used + spare) / TURN_SECONDS
        turns, self._credit = divmod(min(MAX_TURNS, self._credit + max(MIN_TURNS, earned)), 1.0)
        return int(turns)

    def _give(self, turns: int) -> None:
        for _ in range(turns):
            self._waiting.wake_next()
