"""The rate limiter on a manual clock: exactly the promised number of calls is admitted."""

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


def admitted(limiter: RateLimiter) -> int:
    """Return how many calls are admitted now."""
    for count in range(10 * RATE):
        try:
            limiter.take("a")
        except RateLimited:
            return count
    raise AssertionError("nothing was refused")


@pytest.mark.parametrize("pause", [1.0, 60.0])
def test_after_a_pause_one_second_of_calls_is_admitted_and_then_the_rate(pause: float) -> None:
    clock = Clock()
    limiter = RateLimiter(LIMITS, clock)
    assert admitted(limiter) == RATE
    clock.seconds += pause
    first_second = admitted(limiter)
    clock.seconds += 1
    assert (first_second, first_second + admitted(limiter)) == (RATE, 2 * RATE)


def test_the_retry_delay_is_enough_and_less_is_not() -> None:
    clock = Clock()
    limiter = RateLimiter(LIMITS, clock)
    admitted(limiter)
    with pytest.raises(RateLimited) as refused:
        limiter.take("a")
    clock.seconds += refused.value.retry_after_seconds * 0.9
    with pytest.raises(RateLimited):
        limiter.take("a")
    clock.seconds += refused.value.retry_after_seconds * 0.11
    limiter.take("a")
