"""The thread that runs the expiry again and again."""

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from memsidecar.domain.errors import ShuttingDown
from memsidecar.layers.retention.expiry import Expiry, ExpiryCounts

log = logging.getLogger(__name__)

MAX_PAUSE_SECONDS = 10.0
MIN_PAUSE_RATIO = 1.0
CALM_SECONDS = 0.5
"A pause ends early after so long without a call. Between the calls of a few hundred in a second are milliseconds."
HALVING_SECONDS = 300.0
"A run that lasts this long halves its pauses, again and again: a backlog is worked off within hours."
FIRST_RUN_SECONDS = 60.0
"The first run begins this long after the start at the latest: a process may never live for a whole interval."


@dataclass
class RetentionSchedule:
    """Runs an expiry soon after the start and then every `interval_seconds`, if `is_needed`.

    `clock` returns the time in microseconds.

    Between two groups it pauses for `pause_ratio` times as long as the last group took while RPCs are in flight
    (`is_busy`): an erasure occupies the committer, for which every write waits. The longer a run lasts, the shorter
    are its pauses. A run that lasts longer than `interval_seconds` logs a warning.
    """

    new_expiry: Callable[[Callable[[], None]], Expiry]
    is_needed: Callable[[], bool]
    is_busy: Callable[[], bool]
    clock: Callable[[], int]
    interval_seconds: float
    pause_ratio: float
    failures: int = 0
    "Runs that ended with an error."
    _stopping: threading.Event = field(default_factory=threading.Event)
    _run_began: float = 0.0
    _group_began: float = 0.0
    _is_overdue: bool = False

    def start(self) -> None:
        self._thread = threading.Thread(target=self._run, name="retention", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop after the current group. The next start continues: what was not erased is found again."""
        self._stopping.set()
        self._thread.join()

    def run_once(self) -> ExpiryCounts:
        """Erase all that is due now."""
        self._run_began = self._group_began = time.monotonic()
        self._is_overdue = False
        counts = self.new_expiry(self._pause).run(self.clock())
        if counts:
            log.info(
                "retention erased %d messages, %d facts, %d summaries, %d artifacts and %d documents in %.1f s",
                *vars(counts).values(),
                time.monotonic() - self._run_began,
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
            self.failures += 1
            log.exception("retention failed")

    def _pause(self) -> None:
        """End the thread when it is to stop; pause while RPCs are in flight."""
        now = time.monotonic()
        run_seconds = now - self._run_began
        self._warn_if_overdue(run_seconds)
        end = now + pause_seconds(self.pause_ratio, now - self._group_began, run_seconds)
        while self.is_busy() and (left := end - time.monotonic()) > 0:
            self._stopping.wait(min(left, CALM_SECONDS))
        if self._stopping.is_set():
            raise ShuttingDown()
        self._group_began = time.monotonic()

    def _warn_if_overdue(self, run_seconds: float) -> None:
        if run_seconds > self.interval_seconds and not self._is_overdue:
            self._is_overdue = True
            log.warning("retention is overdue: a run lasts longer than the interval of %g s", self.interval_seconds)


def pause_seconds(ratio: float, worked_seconds: float, run_seconds: float) -> float:
    """Return how long to pause after work, in a run that has lasted for some time."""
    halved: float = ratio * 0.5 ** (run_seconds // HALVING_SECONDS)
    return min(max(halved, MIN_PAUSE_RATIO) * worked_seconds, MAX_PAUSE_SECONDS)
