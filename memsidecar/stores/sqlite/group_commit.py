"""Committer thread, group-commit delay."""

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from queue import Empty, SimpleQueue

from memsidecar.domain.errors import FatalStoreError, ShuttingDown
from memsidecar.stores.contract import PendingCommand

log = logging.getLogger(__name__)

GROUP_LIMIT = 512
GAP_PER_CALLER_SECONDS = 0.000_3
SHARE_WAITED_FOR = 0.8
_NEVER = 1 << 62


class GroupCommitDelay:
    """How long to wait before the next commit, and for how many callers, so that a group can fill.

    Without it a group holds one or two commands, because handlers take turns, and the commits themselves become the
    cost. Waiting for everybody would be as wrong: while all of them wait for one fsync, nobody prepares the next
    group. So it waits for a good half of those who called lately. A lone caller never waits; and the gap counts from
    the last commit, so a call after a pause does not either.
    """

    def __init__(self, longest_seconds: float) -> None:
        self._longest_seconds = longest_seconds
        self._callers: deque[int] = deque([1], maxlen=8)
        self._last = 0.0

    @property
    def wanted(self) -> int:
        return round(SHARE_WAITED_FOR * max(self._callers))

    def gap_seconds(self) -> float:
        gap = min(GAP_PER_CALLER_SECONDS * max(self._callers), self._longest_seconds)
        return gap - (time.monotonic() - self._last)

    def committed(self, size: int, waiting: int) -> None:
        self._callers.append(size + waiting)
        self._last = time.monotonic()


class Committer:
    """Takes tickets from any thread, hands them to `write` in groups, in order.

    `write` settles every ticket of its group. `chore` is done between groups and says in how many seconds there is
    more of it, None when there is nothing. A FatalStoreError ends the thread: what was submitted is refused, and
    `on_fatal` decides about the process.
    """

    def __init__(
        self,
        write: Callable[[Sequence[PendingCommand]], None],
        chore: Callable[[], float | None],
        on_fatal: Callable[[FatalStoreError], None],
        max_commit_delay_seconds: float,
    ) -> None:
        self._write = write
        self._chore = chore
        self._on_fatal = on_fatal
        self._pace = GroupCommitDelay(max_commit_delay_seconds)
        self._queue: SimpleQueue[PendingCommand | None] = SimpleQueue()
        self._wanted = _NEVER
        self._enough = threading.Semaphore(0)
        self._group: Sequence[PendingCommand] = ()
        self._door = threading.Lock()
        self._closed = False
        self._thread = threading.Thread(target=self._run, name="committer", daemon=True)
        self._thread.start()

    def submit(self, ticket: PendingCommand) -> None:
        with self._door:
            if self._closed:
                raise ShuttingDown()
            self._queue.put(ticket)
            if self._queue.qsize() >= self._wanted:
                self._wanted = _NEVER
                self._enough.release()

    def close(self) -> None:
        with self._door:
            if not self._closed:
                self._closed = True
                self._queue.put(None)
        self._thread.join()

    def _run(self) -> None:
        try:
            while self._turn():
                pass
            # What cannot go on now is left to the next start.
            while self._chore() == 0:
                pass
        except FatalStoreError as error:
            self._refuse_all(error)
            self._on_fatal(error)

    def _turn(self) -> bool:
        self._group, last = self._collect(self._chore())
        if self._group:
            self._commit(self._group)
            self._pace.committed(len(self._group), self._queue.qsize())
        return not last

    def _commit(self, group: Sequence[PendingCommand]) -> None:
        try:
            self._write(group)
        except FatalStoreError:
            raise
        except Exception as bug:  # the edge of the loop: one bad command must not end everybody's writes
            log.exception("a group could not be committed")
            self._refuse(group, bug)

    def _refuse(self, tickets: Sequence[PendingCommand], error: Exception) -> None:
        for ticket in tickets:
            if not ticket.done:
                ticket.complete(error=error)

    def _collect(self, patience_seconds: float | None) -> tuple[list[PendingCommand], bool]:
        try:
            first = self._queue.get(block=patience_seconds != 0, timeout=patience_seconds)
        except Empty:
            return [], False
        if first is None:
            return [], True
        self._let_fill()
        return self._fill(first)

    def _let_fill(self) -> None:
        """Wait for the others, if there were others lately; whoever completes the group ends the wait."""
        gap = self._pace.gap_seconds()
        with self._door:
            wanted = self._pace.wanted - 1
            if gap <= 0 or self._queue.qsize() >= wanted or self._closed:
                return
            self._wanted = wanted
        if not self._enough.acquire(timeout=gap):
            self._stop_waiting()

    def _stop_waiting(self) -> None:
        with self._door:
            if self._wanted == _NEVER:
                self._enough.acquire()
            self._wanted = _NEVER

    def _fill(self, first: PendingCommand) -> tuple[list[PendingCommand], bool]:
        group = [first]
        for _ in range(min(self._queue.qsize(), GROUP_LIMIT - 1)):
            ticket = self._queue.get()
            if ticket is None:
                return group, True
            group.append(ticket)
        return group, False

    def _refuse_all(self, error: FatalStoreError) -> None:
        with self._door:
            self._closed = True
        self._refuse(self._group, error)
        while not self._queue.empty():
            if (ticket := self._queue.get()) is not None:
                ticket.complete(error=error)
