"""Work that follows the log, behind everybody's back and out of everybody's way."""

from memsidecar.layers.background.commit_signal import Pulse
from memsidecar.layers.background.runner import Lag, Runner
from memsidecar.layers.background.task import Marks, NotNow, Task, tell
from memsidecar.layers.background.throttle import Courtesy

__all__ = ["Courtesy", "Lag", "Marks", "NotNow", "Pulse", "Runner", "Task", "tell"]
