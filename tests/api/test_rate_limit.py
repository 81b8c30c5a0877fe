"""The bucket by itself, on a clock of the test's own: exactly as many calls as promised, neither more nor fewer."""

from dataclasses import dataclass

import pytest

from memsidecar.access.policy import LimitTable, NamespaceLimits
from memsidecar.api.admission.tenant_limits import RateLimiter
from memsidecar.domain.errors import RateLimited

RATE = 20
LIMITS = LimitTable(NamespaceLimits(calls_per_second=RATE))


@dataclass
class Clock:
    seconds: float = 0.0

    def __call__(self) -> float:
        return self.seconds


def taken(limiter: RateLimiter) -> int:
    """How many calls go through at this moment."""
    for count in range(10 * RATE):
        try:
            limiter.take("a")
        except RateLimited:
            return count
    raise AssertionError("nothing was refused")


@pytest.mark.parametrize("pause", [1.0, 60.0])
def test_after_a_pause_a_second_of_calls_is_there_and_then_the_rate(pause: float) -> None:
    clock = Clock()
    limiter = RateLimiter(LIMITS, clock)
    assert taken(limiter) == RATE
    clock.seconds += pause
    first_second = taken(limiter)
    clock.seconds += 1
    assert (first_second, first_second + taken(limiter)) == (RATE, 2 * RATE)


def test_waiting_as_long_as_is_said_is_enough_and_less_is_not() -> None:
    clock = Clock()
    limiter = RateLimiter(LIMITS, clock)
    taken(limiter)
    with pytest.raises(RateLimited) as refused:
        limiter.take("a")
    clock.seconds += refused.value.retry_after_seconds * 0.9
    with pytest.raises(RateLimited):
        limiter.take("a")
    clock.seconds += refused.value.retry_after_seconds * 0.11
    limiter.take("a")
