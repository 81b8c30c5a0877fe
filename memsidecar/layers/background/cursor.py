"""The state of a task in a namespace."""

import time
from dataclasses import dataclass
from typing import NamedTuple

from memsidecar.layers.background.task import Task

MIN_BACKOFF_SECONDS, MAX_BACKOFF_SECONDS = 0.2, 15.0


class Lag(NamedTuple):
    """How far a task is behind in one namespace, and the error that keeps it from progress."""

    task: str
    namespace: str
    entries: int
    seconds: float
    last_error: str


@dataclass
class TaskCursor:
    """The state of one task in one namespace.

    `seen_commits` is the commit count at which the task had caught up. `failures` counts consecutive failures;
    `entry_failures` those of them that an entry may have caused. `position` is that of the task when the runner last
    read it, so that other threads need not ask the task; None before the first read.
    """

    task: Task
    namespace: str
    position: int | None = None
    seen_commits: int = -1
    behind_since: float | None = None
    failures: int = 0
    entry_failures: int = 0
    not_before: float = 0.0
    last_error: str = ""
    has_more: bool = False

    def caught_up(self, commits: int) -> None:
        self.seen_commits, self.behind_since = commits, None
        self.succeeded()

    def succeeded(self) -> None:
        self.failures, self.entry_failures, self.last_error = 0, 0, ""

    @property
    def is_behind(self) -> bool:
        """Whether the task is or may be behind: one that never ran may be."""
        return self.seen_commits < 0 or self.behind_since is not None or bool(self.last_error)

    def back_off(self, error: str) -> None:
        """Delay the next attempt; the delay doubles with each failure."""
        self.failures += 1
        delay = min(MIN_BACKOFF_SECONDS * 2 ** (self.failures - 1), MAX_BACKOFF_SECONDS)
        self.not_before, self.last_error = time.monotonic() + delay, error
