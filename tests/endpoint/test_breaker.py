"""The circuit breaker: when it opens, and which call is the probe."""

from contextlib import suppress

import pytest

from memsidecar.endpoint.resilience import CircuitBreaker, EndpointMismatch, EndpointUnavailable
from tests.endpoint.clock import Clock


@pytest.fixture
def clock() -> Clock:
    return Clock(now=0)


@pytest.fixture
def breaker(clock: Clock) -> CircuitBreaker:
    return CircuitBreaker(failures=2, cool_down_seconds=30, clock=clock)


def fail(breaker: CircuitBreaker, problem: BaseException) -> None:
    with suppress(type(problem)), breaker.request():
        raise problem


def test_only_consecutive_failures_count(breaker: CircuitBreaker) -> None:
    for _ in range(5):
        fail(breaker, OSError())
        with breaker.request():
            pass


def test_it_rejects_calls_until_the_cool_down_is_over(breaker: CircuitBreaker, clock: Clock) -> None:
    fail(breaker, OSError())
    fail(breaker, OSError())
    clock.now = 29.9
    with pytest.raises(EndpointUnavailable), breaker.request():
        pytest.fail("entered")
    clock.now = 30
    with breaker.request():
        pass


def test_during_a_probe_other_calls_are_rejected(breaker: CircuitBreaker, clock: Clock) -> None:
    fail(breaker, OSError())
    fail(breaker, OSError())
    clock.now = 31
    with breaker.request(), pytest.raises(EndpointUnavailable), breaker.request():
        pytest.fail("entered")
    with breaker.request(), breaker.request():
        pass


@pytest.mark.parametrize("problem", [OSError(), KeyboardInterrupt()])
def test_after_a_failed_probe_the_next_one_is_possible(
    breaker: CircuitBreaker, clock: Clock, problem: BaseException
) -> None:
    fail(breaker, OSError())
    fail(breaker, OSError())
    for moment in (31, 62, 93):
        clock.now = moment
        fail(breaker, problem)
        with pytest.raises(EndpointUnavailable), breaker.request():
            pytest.fail("entered")


def test_a_server_that_answers_wrongly_is_not_down(breaker: CircuitBreaker) -> None:
    for _ in range(5):
        fail(breaker, EndpointMismatch())
