"""Timeouts of calls in seconds; infinity is no limit.

A client's own limit is more than 0. What is left of a caller's time may be 0 or less: then a call is over at once.
"""

import math
from numbers import Real
from typing import Any

import grpc

from memsidecar_client.errors import DeadlineExceeded

# gRPC counts nanoseconds in 64 bits from 1970 on: what is later than that is over at once.
MAX_SECONDS = 1e9


def checked(timeout: Any) -> float | None:
    """Check the timeout of one call. None passes. Raises TypeError or ValueError."""
    if timeout is None:
        return None
    if isinstance(timeout, bool) or not isinstance(timeout, Real):
        raise TypeError(f"timeout: a number of seconds is wanted, not {type(timeout).__name__}")
    seconds = float(timeout)
    if math.isnan(seconds):
        raise ValueError("timeout: nan is no number of seconds; math.inf is no limit")
    return seconds if seconds <= MAX_SECONDS else math.inf


def checked_of_client(timeout: Any) -> float | None:
    """Check the timeout of a client, which must be positive."""
    seconds = checked(timeout)
    if seconds is not None and seconds <= 0:
        raise ValueError(f"timeout: {timeout} is not more than 0 seconds; math.inf is no limit")
    return seconds


def check_left(seconds: float | None) -> None:
    """Raise before an attempt if the deadline has passed: gRPC might send the request."""
    if seconds is not None and seconds <= 0:
        raise DeadlineExceeded("no time is left for the call", grpc.StatusCode.DEADLINE_EXCEEDED)
