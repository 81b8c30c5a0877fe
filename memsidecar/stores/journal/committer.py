"""One thread that commits: many callers, one fsync."""

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from queue import Empty, SimpleQueue

from memsidecar.domain.errors import FatalStoreError, ShuttingDown
from memsidecar.stores.contract import Ticket

log = logging.getLogger(__name__)

GROUP_LIMIT = 512
GAP_PER_CALLER_SECONDS = 0.000_2
LOOK_EVERY_SECONDS = 0.000_5


class Pace:
    """How long to wait before the next commit so that a group can fill.

    Without it a group holds one or two commands, because handlers take turns, and the commits themselves become the
    cost. The gap grows with the largest of the last groups, so a lone caller never waits, and it counts from the
    last commit, so an idle sidecar does not either.
    """

    def __init__(self, longest_seconds: float) -> None:
        self._longest_seconds = longest_seconds
        self._sizes: deque[int] = deque([1], maxlen=8)
        self._last = 0.0

    def gap_seconds(self) -> float:
        if self.largest == 1:
            return 0.0
        gap = min(GAP_PER_CALLER_SECONDS * self.largest, self._longest_seconds)
        return gap - (time.monotonic() - self._last)

    @property
    def largest(self) -> int:
        return max(self._sizes)

    def committed(self, size: int) -> None:
        self._sizes.append(size)
        self._last = time.monotonic()


class Committer:
    """Takes tickets from any thread, hands them to `write` in groups, in order.

    `write` settles every ticket of its group. `chore` is done between groups and says in how many seconds there is
    more of it, None when there is nothing. A FatalStoreError ends the thread: what was submitted is refused, and
    `on_fatal` decides about the process.
    """

    def __init__(
        self,
        write: Callable[[Sequence[Ticket]], None],
        chore: Callable[[], float | None],
        on_fatal: Callable[[FatalStoreError], None],
        longest_gap_seconds: float,
    ) -> None:
        self._write = write
        self._chore = chore
        self._on_fatal = on_fatal
        self._pace = Pace(longest_gap_seconds)
        self._queue: SimpleQueue[Ticket | None] = SimpleQueue()
        self._group: Sequence[Ticket] = ()
        self._door = threading.Lock()
        self._closed = False
        self._thread = threading.Thread(target=self._run, name="committer", daemon=True)
        self._thread.start()

    def submit(self, ticket: Ticket) -> None:
        with self._door:
            if self._closed:
                raise ShuttingDown()
            self._queue.put(ticket)

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
            self._pace.committed(len(self._group))
        return not last

    def _commit(self, group: Sequence[Ticket]) -> None:
        try:
            self._write(group)
        except FatalStoreError:
            raise
        except Exception as bug:  # the edge of the loop: one bad command must not end everybody's writes
            log.exception("a group could not be committed")
            self._refuse(group, bug)

    def _refuse(self, tickets: Sequence[Ticket], error: Exception) -> None:
        for ticket in tickets:
            if not ticket.done:
                ticket.settle(error=error)

    def _collect(self, patience_seconds: float | None) -> tuple[list[Ticket], bool]:
        try:
            first = self._queue.get(block=patience_seconds != 0, timeout=patience_seconds)
        except Empty:
            return [], False
        if first is None:
            return [], True
        self._let_fill()
        return self._fill(first)

    def _let_fill(self) -> None:
        """Wait out the gap, but not for more callers than there have been lately."""
        while self._queue.qsize() + 1 < self._pace.largest and (gap := self._pace.gap_seconds()) > 0:
            time.sleep(min(gap, LOOK_EVERY_SECONDS))

    def _fill(self, first: Ticket) -> tuple[list[Ticket], bool]:
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
                ticket.settle(error=error)
