"""The committer thread, and the delay that lets a group of commands fill."""

import logging
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from queue import Empty, SimpleQueue

from memsidecar.domain.errors import FatalStoreError, ShuttingDown
from memsidecar.domain.statistics import Distribution
from memsidecar.stores.contract import PendingCommand

log = logging.getLogger(__name__)

MAX_GROUP_COMMANDS = 512
DELAY_PER_CALLER_SECONDS = 0.000_3
AWAITED_SHARE = 0.8
_NEVER = sys.maxsize


class GroupCommitDelay:
    """Decides how long to wait before the next commit, and for how many commands.

    Without a delay a group holds one or two commands, because handlers take turns, and the commits themselves become
    the cost. Waiting for all callers would be as wrong: while all wait for one fsync, none prepares the next group. So
    it waits for a share of the recent callers. A lone caller never waits. The delay counts from the last commit, so
    the first call after a pause does not wait either.
    """

    def __init__(self, max_seconds: float) -> None:
        self._max_seconds = max_seconds
        self._recent_callers: deque[int] = deque([1], maxlen=8)
        self._last_commit = 0.0

    @property
    def awaited_commands(self) -> int:
        return round(AWAITED_SHARE * max(self._recent_callers))

    def remaining_seconds(self) -> float:
        delay = min(DELAY_PER_CALLER_SECONDS * max(self._recent_callers), self._max_seconds)
        return delay - (time.monotonic() - self._last_commit)

    def committed(self, size: int, queued: int) -> None:
        self._recent_callers.append(size + queued)
        self._last_commit = time.monotonic()


class Committer:
    """Takes commands from any thread, and hands them to `write` in groups, in order, on its own thread.

    `write` completes every command of its group. `purge_step` runs between groups; it returns in how many seconds it is
    due again, or None. An error of it, and a FatalStoreError, end the thread: all commands are refused, and `on_fatal`
    decides about the process.
    """

    def __init__(
        self,
        write: Callable[[Sequence[PendingCommand]], None],
        purge_step: Callable[[], float | None],
        on_fatal: Callable[[FatalStoreError], None],
        max_delay_seconds: float,
        group_sizes: Distribution,
    ) -> None:
        self._group_sizes = group_sizes
        self._write = write
        self._purge_step = purge_step
        self._on_fatal = on_fatal
        self._delay = GroupCommitDelay(max_delay_seconds)
        self._queue: SimpleQueue[PendingCommand | None] = SimpleQueue()
        self._wake_at = _NEVER
        self._filled = threading.Semaphore(0)
        self._group: Sequence[PendingCommand] = ()
        self._lock = threading.Lock()
        self._closed = False
        self._thread = threading.Thread(target=self._run, name="committer", daemon=True)
        self._thread.start()

    def submit(self, pending: PendingCommand) -> None:
        with self._lock:
            if self._closed:
                raise ShuttingDown()
            self._queue.put(pending)
            if self._queue.qsize() >= self._wake_at:
                self._wake_at = _NEVER
                self._filled.release()

    def close(self) -> None:
        with self._lock:
            if not self._closed:
                self._closed = True
                self._queue.put(None)
        self._thread.join()

    def _run(self) -> None:
        try:
            while self._commit_next():
                pass
            # Purges that have to wait are left to the next start.
            while self._purge_step() == 0:
                pass
        except FatalStoreError as error:
            self._end(error)
        except Exception as bug:  # the edge of the thread: without it no write would ever be answered
            log.exception("the committer failed between two groups")
            self._end(FatalStoreError(f"the committer failed: {bug}"))

    def _end(self, error: FatalStoreError) -> None:
        self._refuse_all(error)
        self._on_fatal(error)

    def _commit_next(self) -> bool:
        """Commit one group; return False after the last."""
        self._group, is_last = self._collect(self._purge_step())
        if self._group:
            self._group_sizes.observe(len(self._group))
            self._commit(self._group)
            self._delay.committed(len(self._group), self._queue.qsize())
        return not is_last

    def _commit(self, group: Sequence[PendingCommand]) -> None:
        try:
            self._write(group)
        except FatalStoreError:
            raise
        except Exception as bug:  # the edge of the loop: one bad command must not end all writes
            log.exception("a group could not be committed")
            self._refuse(group, bug)

    def _refuse(self, commands: Sequence[PendingCommand], error: Exception) -> None:
        for pending in commands:
            if not pending.done:
                pending.complete(error=error)

    def _collect(self, timeout_seconds: float | None) -> tuple[list[PendingCommand], bool]:
        """Return the next group, empty on a timeout, and whether it is the last."""
        try:
            first = self._queue.get(block=timeout_seconds != 0, timeout=timeout_seconds)
        except Empty:
            return [], False
        if first is None:
            return [], True
        self._wait_for_group()
        return self._take_group(first)

    def _wait_for_group(self) -> None:
        """Wait for more commands, if there were several callers recently; `submit` ends the wait."""
        delay = self._delay.remaining_seconds()
        with self._lock:
            awaited = self._delay.awaited_commands - 1
            if delay <= 0 or self._queue.qsize() >= awaited or self._closed:
                return
            self._wake_at = awaited
        if not self._filled.acquire(timeout=delay):
            self._end_wait()

    def _end_wait(self) -> None:
        with self._lock:
            if self._wake_at == _NEVER:
                self._filled.acquire()
            self._wake_at = _NEVER

    def _take_group(self, first: PendingCommand) -> tuple[list[PendingCommand], bool]:
        group = [first]
        for _ in range(min(self._queue.qsize(), MAX_GROUP_COMMANDS - 1)):
            pending = self._queue.get()
            if pending is None:
                return group, True
            group.append(pending)
        return group, False

    def _refuse_all(self, error: FatalStoreError) -> None:
        with self._lock:
            self._closed = True
        self._refuse(self._group, error)
        while not self._queue.empty():
            if (pending := self._queue.get()) is not None:
                pending.complete(error=error)
