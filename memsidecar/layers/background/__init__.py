"""Work that follows the log, behind everybody's back and out of everybody's way."""

from memsidecar.layers.background.courtesy import Courtesy
from memsidecar.layers.background.marks import Marks, tell
from memsidecar.layers.background.pulse import Pulse
from memsidecar.layers.background.runner import Lag, Runner
from memsidecar.layers.background.task import NotNow, Task

__all__ = ["Courtesy", "Lag", "Marks", "NotNow", "Pulse", "Runner", "Task", "tell"]
