"""The thread that runs the expiry again and again."""

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from memsidecar.domain.errors import ShuttingDown
from memsidecar.layers.retention.expiry import Expiry, ExpiryCounts

log = logging.getLogger(__name__)

MAX_PAUSE_SECONDS = 2.0
FIRST_RUN_SECONDS = 60.0
"The first run begins this long after the start at the latest: a process may never live for a whole interval."


@dataclass
class RetentionSchedule:
    """Runs an expiry soon after the start and then every `interval_seconds`, if `is_needed`.

    `clock` returns the time in microseconds.

    Between two groups it pauses for `pause_ratio` times as long as the last group took while RPCs are in flight
    (`is_busy`): an erasure occupies the committer, for which every write waits.
    """

    new_expiry: Callable[[Callable[[], None]], Expiry]
    is_needed: Callable[[], bool]
    is_busy: Callable[[], bool]
    clock: Callable[[], int]
    interval_seconds: float
    pause_ratio: float
    _stopping: threading.Event = field(default_factory=threading.Event)
    _group_began: float = 0.0

    def start(self) -> None:
        self._thread = threading.Thread(target=self._run, name="retention", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop after the current group. The next start continues: what was not erased is found again."""
        self._stopping.set()
        self._thread.join()

    def run_once(self) -> ExpiryCounts:
        """Erase all that is due now."""
        began = self._group_began = time.monotonic()
        counts = self.new_expiry(self._pause).run(self.clock())
        if counts:
            log.info(
                "retention erased %d messages, %d facts, %d summaries, %d artifacts and %d documents in %.1f s",
                *vars(counts).values(),
                time.monotonic() - began,
            )
        return counts

    def _run(self) -> None:
        delay_seconds = min(self.interval_seconds, FIRST_RUN_SECONDS)
        try:
            while not self._stopping.wait(delay_seconds):
                self._run_if_needed()
                delay_seconds = self.interval_seconds
        except ShuttingDown:
            pass

    def _run_if_needed(self) -> None:
        try:
            if self.is_needed():
                self.run_once()
        except ShuttingDown:
            raise
        except Exception:  # the edge of the loop: the next run tries again
            log.exception("retention failed")

    def _pause(self) -> None:
        """End the thread when it is to stop; pause while RPCs are in flight."""
        worked_seconds = time.monotonic() - self._group_began
        end = time.monotonic() + min(self.pause_ratio * worked_seconds, MAX_PAUSE_SECONDS)
        while self.is_busy() and (left := end - time.monotonic()) > 0:
            self._stopping.wait(min(left, 0.01))
        if self._stopping.is_set():
            raise ShuttingDown()
        self._group_began = time.monotonic()
