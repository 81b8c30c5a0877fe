"""How often to try again, and how long to wait before."""

import math
import random
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Patience:
    """Waits that double, shortened by chance so that many sidecars do not come back in one instant."""

    attempts: int = 3
    first_wait_seconds: float = 0.25
    longest_wait_seconds: float = 10.0
    """Also the bound of what a server may ask for by Retry-After: a caller waits meanwhile."""

    sleep: Callable[[float], None] = time.sleep
    chance: Callable[[], float] = random.random
    """From 0 to 1."""

    def wait(self, failures: int, asked_seconds: float | None) -> None:
        self.sleep(self.wait_seconds(failures, asked_seconds))

    def wait_seconds(self, failures: int, asked_seconds: float | None) -> float:
        """Before the next attempt, after this many failures; what the server asked for comes first."""
        if asked_seconds is not None:
            return min(asked_seconds, self.longest_wait_seconds)
        longest = min(self.first_wait_seconds * 2.0 ** (failures - 1), self.longest_wait_seconds)
        return longest * (1 + self.chance()) / 2


def asked_seconds(retry_after: str | None) -> float | None:
    """Retry-After in seconds; the form with a date is left aside, as the two clocks may differ."""
    try:
        seconds = float(retry_after or "")
    except ValueError:
        return None
    return seconds if seconds >= 0 and math.isfinite(seconds) else None
