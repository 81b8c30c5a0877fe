"""How long a call may take, as callers say it: seconds, more than 0; infinity is no limit."""

import math
from numbers import Real
from typing import Any

# gRPC counts nanoseconds in 64 bits from 1970 on: what is later than that is over at once.
LONGEST_SECONDS = 1e9


def checked(timeout: Any) -> float | None:
    """None as it is: whoever asks has another word for it. Raises TypeError or ValueError."""
    if timeout is None:
        return None
    if isinstance(timeout, bool) or not isinstance(timeout, Real):
        raise TypeError(f"timeout: a number of seconds is wanted, not {type(timeout).__name__}")
    seconds = float(timeout)
    if not seconds > 0:
        raise ValueError(f"timeout: {timeout} is not more than 0 seconds; math.inf is no limit")
    return seconds if seconds <= LONGEST_SECONDS else math.inf
