"""Wait for events of other threads and processes, independently of the speed of the machine."""

import threading
import time
from collections.abc import Callable
from typing import Any

from memsidecar.stores.contract import PendingCommand

HANG_SECONDS = 300.0
"""A process without progress for this long counts as hung.

It ends a test that would never end. It is no promise about speed: a wait returns as soon as its event happens.
"""


def until(
    holds: Callable[[], object],
    what: str = "the condition",
    *,
    progress: Callable[[], object] = lambda: None,
    pause_seconds: float = 0.05,
) -> None:
    """Wait until a condition holds, for as long as `progress` returns new values, and HANG_SECONDS after the last.

    The pauses between two checks grow from a millisecond to `pause_seconds`.
    """
    last, give_up, pause = progress(), time.monotonic() + HANG_SECONDS, 0.001
    while not holds():
        if (now := progress()) != last:
            last, give_up = now, time.monotonic() + HANG_SECONDS
        assert time.monotonic() < give_up, f"{what}: no progress for {HANG_SECONDS:.0f} seconds, the last was {last}"
        time.sleep(min(pause, pause_seconds))
        pause *= 1.5


def result_of(begin: Callable[[Callable[[PendingCommand], None]], PendingCommand]) -> Any:
    """Return the result of the command that `begin` submits with the given callback."""
    completed = threading.Event()
    pending = begin(lambda _: completed.set())
    assert completed.wait(HANG_SECONDS)
    return pending.result()
