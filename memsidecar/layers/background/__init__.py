"""Background tasks that consume the journal's change feed. They run on one thread and yield CPU to RPCs."""

from memsidecar.layers.background.commit_signal import CommitSignal
from memsidecar.layers.background.cursor import Lag
from memsidecar.layers.background.runner import Runner
from memsidecar.layers.background.task import OffsetTracker, RetryLater, Task
from memsidecar.layers.background.throttle import BackgroundThrottle, ThrottleConfig

__all__ = [
    "BackgroundThrottle",
    "CommitSignal",
    "Lag",
    "OffsetTracker",
    "RetryLater",
    "Runner",
    "Task",
    "ThrottleConfig",
]
