"""Work that follows the log, behind everybody's back and out of everybody's way."""

from memsidecar.layers.background.commit_signal import CommitSignal
from memsidecar.layers.background.runner import Lag, Runner
from memsidecar.layers.background.task import OffsetTracker, RetryLater, Task, submit_and_wait
from memsidecar.layers.background.throttle import BackgroundThrottle

__all__ = [
    "BackgroundThrottle",
    "Lag",
    "OffsetTracker",
    "RetryLater",
    "CommitSignal",
    "Runner",
    "Task",
    "submit_and_wait",
]
